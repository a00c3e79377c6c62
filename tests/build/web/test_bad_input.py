"""Wrong calls and folders: one line that says what is wrong and what to do."""

from __future__ import annotations

import json
import os

import pytest

from diffspot_hf.build.web import build, corpus, recheck
from diffspot_hf.build.web.ledger import Ledger
from diffspot_hf.errors import UsageError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operators": ["colour"]}, "unknown operator colour; there are font_weight, "),
        ({"gate": "loose"}, "unknown gate 'loose'; there are strict and container"),
        ({"per_cell": -1}, "at least 0"),
        ({"workers": 0}, "workers at least 1"),
    ],
)
def test_wrong_option(options, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        build(tmp_path, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such folder of pages"):
        build(tmp_path / "nowhere", tmp_path / "out")


def test_folder_without_pages(tmp_path):
    with pytest.raises(UsageError, match="holds no pages"):
        build(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param(["{"], "line 1: not a page record", id="no JSON"),
        pytest.param(['{"page_id": "a"}'], "line 1: not a page record", id="no file"),
        pytest.param(['{"page_id": "a", "file": "../x.html"}'], "lies outside the folder", id="outside"),
        pytest.param(['{"page_id": "a", "file": "a.html"}', "", '{"page_id": "a", "file": "b.html"}'],
                     "line 3: page_id 'a' is there twice", id="twice"),
    ],
)  # fmt: skip
def test_wrong_listing(lines, message, tmp_path):
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    with pytest.raises(UsageError, match=message):
        corpus.read_corpus(tmp_path)


def test_any_folder_of_html_is_a_corpus(tmp_path):
    (tmp_path / "site" / "docs").mkdir(parents=True)
    for path in ("index.html", "docs/index.html", "docs/a b.HTM", "docs-index.html", "readme.txt"):
        (tmp_path / "site" / path).write_text("x")
    pages = corpus.read_corpus(tmp_path / "site")
    assert [(page.path, page.source, page.domain) for page in pages] == [
        ("docs/a b.HTM", "site", "other"), ("docs-index.html", "site", "other"), ("docs/index.html", "site", "other"),
        ("index.html", "site", "other"),
    ]  # fmt: skip
    assert len({page.page_id for page in pages}) == 4


def test_listed_pages_keep_what_is_known_of_them(tmp_path):
    record = {"page_id": "p", "file": "p.html", "source": "kit", "version": "1.2", "path": "demo/p.html",
              "title": "Fähre", "licence": "MIT", "language": "de", "domain": "travel", "more": 1}  # fmt: skip
    (tmp_path / "pages.jsonl").write_text("\ufeff" + json.dumps(record) + "\r\n\r\n", encoding="utf-8")
    (page,) = corpus.read_corpus(tmp_path)
    assert {name: getattr(page, name) for name in record if name not in ("file", "more")} == {
        name: value for name, value in record.items() if name not in ("file", "more")
    }


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be written"), Ledger(tmp_path / "out", {}):
        pass


def test_output_that_is_a_file(tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(UsageError, match="cannot be written"), Ledger(tmp_path / "out", {}):
        pass


def test_output_of_another_build_is_left_alone(tmp_path):
    with Ledger(tmp_path, {"seed": 1, "per_cell": 3}):
        pass
    with pytest.raises(UsageError, match="was built with another seed; choose another folder"):
        Ledger(tmp_path, {"seed": 2, "per_cell": 3}).__enter__()


def test_output_with_strange_rows_is_left_alone(tmp_path):
    (tmp_path / "test.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match=r"holds a test\.jsonl that no build wrote"), Ledger(tmp_path, {}):
        pass
    assert (tmp_path / "test.jsonl").read_text() == "{}\n"


def test_two_builds_do_not_share_a_folder(tmp_path):
    with (
        Ledger(tmp_path, {"seed": 1}),
        pytest.raises(UsageError, match="another build is writing here"),
        Ledger(tmp_path, {"seed": 1}),
    ):
        pass


def test_full_disk_stops_clearly_and_keeps_what_is_whole(tmp_path):
    import resource
    import signal

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Ledger(tmp_path, {"seed": 1}) as ledger:
        ledger.add_task(["a"], {"page_id": "p", "rows": [{"id": "1"}]})
        size = (tmp_path / "test.jsonl").stat().st_size
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, old[1]))
            with pytest.raises(UsageError, match="make room and run the same again"):
                ledger.add_task(["b"], {"page_id": "q", "rows": [{"id": "2" * 100}]})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)
            signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "test.jsonl").read_text() == '{"id":"1"}\n'
    with Ledger(tmp_path, {"seed": 1}) as again:
        assert [task["key"] for task in again.finished] == [["a"]]


def test_recheck_needs_rows(tmp_path):
    with pytest.raises(UsageError, match="holds no rows"):
        recheck(tmp_path)
