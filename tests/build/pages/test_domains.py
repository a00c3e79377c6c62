"""Every label is one of the 15, has its reason, and is reached; recipes name blocks that are there."""

from __future__ import annotations

import tomllib

from diffspot_hf.build.pages.domains import DOMAINS, OTHER, domain_of, label_of, labels, without_pages
from diffspot_hf.build.pages.sources import known_sources
from diffspot_hf.build.pages.stacks import recipes, word_mark


def test_labels_are_among_the_papers_domains_and_have_reasons():
    assert len(DOMAINS) == len(set(DOMAINS)) == 15
    assert {row.label for row in labels()} <= set(DOMAINS)
    assert all(len(row.reason) > 10 for row in labels())


def test_no_page_is_labelled_twice_and_no_glob_hides_one():
    paths = [row.path for row in labels()]
    assert len(paths) == len(set(paths))
    hidden = [row.path for row in labels() if "*" not in row.path and label_of(*row.path.split("/", 1)) is not row]
    assert not hidden


def test_labels_are_of_packages_in_the_table():
    short = {source.short for source in known_sources().values() if source.role == "pages"}
    assert {row.path.split("/")[0] for row in labels()} <= short


def test_every_stacked_page_is_labelled_and_made_of_known_blocks():
    table = recipes()
    for path, page in table["pages"].items():
        assert label_of("tailgrids", path), path
        assert set(page["blocks"]) <= set(table["blocks"])
    assert {name for page in table["pages"].values() for name in page["blocks"]} == set(table["blocks"])


def test_unknown_pages_are_other():
    assert domain_of("somebody", "index.html") == OTHER
    assert label_of("somebody", "index.html") is None


def test_missing_domains_are_named_in_the_papers_order():
    assert without_pages(DOMAINS) == []
    assert without_pages(["other", "e-commerce"]) == list(DOMAINS[1:-1])


def test_own_pages_cover_every_domain_twice(repo):
    listing = tomllib.loads((repo / "pages" / "own" / "pages.toml").read_text(encoding="utf-8"))
    domains = [page["domain"] for page in listing["page"]]
    assert all(domains.count(domain) >= 2 for domain in DOMAINS)


def test_word_marks_differ_by_name():
    assert word_mark("Alderway") != word_mark("Bramhall")
    assert word_mark("Alderway") != word_mark("Alderway", white=True)
