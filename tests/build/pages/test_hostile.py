"""Pages that do harm are frozen as they stand or dropped with a reason; nothing leaves, nothing leaks, all goes on."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from diffspot_hf.build.browser import Browser
from diffspot_hf.build.pages.freeze import freeze
from diffspot_hf.build.pages.freeze_page import Limits

pytestmark = pytest.mark.browser
SECRET = "the-recipe-is-secret"
KEPT = "kept"
OUTCOMES = {
    "calls_out": KEPT,
    "asks_again": "opens dialogs",
    "opens_windows": "opens windows",
    "never_rests": "never settles",
    "goes_elsewhere": "redirects",
    "frames_a_file": "embedded document in view",
    "grows": "too large",
    "remembers": KEPT,
    "unclosed": KEPT,
    "bare": "unstyled",
    "empty": "near-blank",
}
"""What must come of each page in tests/cases/hostile_pages."""


@pytest.fixture(scope="module")
def frozen(repo: Path, browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """All hostile pages frozen in one go, by one browser, with a secret beside their folder."""
    place = tmp_path_factory.mktemp("hostile")
    (place / "secret.txt").write_text(SECRET)
    site = place / "site"
    shutil.copytree(repo / "tests" / "cases" / "hostile_pages", site)
    (site / "link.txt").symlink_to(place / "secret.txt")
    (site / "hangs.html").unlink()
    (site / "linked.html").symlink_to(place / "secret.txt")
    return place / "out", freeze(site, place / "out", limits=Limits(seconds=20), browser=browser)


def outcome(report: dict[str, Any], name: str) -> str:
    dropped = {page["path"].removesuffix(".html"): page["reason"] for page in report["dropped_pages"]}
    return dropped.get(name, KEPT)


def test_every_case_has_its_outcome_said(repo):
    pages = {file.stem for file in (repo / "tests" / "cases" / "hostile_pages").glob("*.html")}
    assert pages == {*OUTCOMES, "hangs"}


def test_a_page_that_hangs_is_given_up_and_the_next_one_is_frozen(repo, browser, tmp_path):
    shutil.copy(repo / "tests" / "cases" / "hostile_pages" / "hangs.html", tmp_path)
    shutil.copy(repo / "tests" / "cases" / "hostile_pages" / "unclosed.html", tmp_path)
    report = freeze(tmp_path / "hangs.html", tmp_path / "out", limits=Limits(seconds=2), browser=browser)
    assert report["dropped"] == {"time limit": 1}
    assert freeze(tmp_path / "unclosed.html", tmp_path / "out", limits=Limits(seconds=20), browser=browser)["kept"] == 1


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_page_comes_out_as_it_must(frozen, name):
    out, report = frozen
    assert outcome(report, name) == OUTCOMES[name]
    assert (out / f"site--{name}.html").is_file() == (OUTCOMES[name] == KEPT)


def test_drops_are_counted_by_reason(frozen):
    _, report = frozen
    assert report["pages"] == len(OUTCOMES)
    assert report["kept"] + sum(report["dropped"].values()) == report["pages"]
    assert sum(report["dropped"].values()) == len(report["dropped_pages"])


def test_no_byte_from_outside_the_folder_reaches_what_was_written(frozen):
    out, _ = frozen
    written = [file.read_text(encoding="utf-8") for file in out.rglob("*") if file.is_file()]
    assert written
    assert not any(SECRET in text or "root:" in text for text in written)


def test_remote_parts_are_dropped_and_listed(frozen):
    out, report = frozen
    remote = report["inside"]["site--calls_out"]["remote"]
    assert remote["count"] >= 5
    assert any("shop.css" in url for url in remote["first"])
    text = (out / "site--calls_out.html").read_text(encoding="utf-8")
    assert "example.invalid" not in text
    assert "Bakery hours" in text


def test_frozen_pages_can_neither_run_nor_ask(frozen):
    out, _ = frozen
    for file in out.glob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"<script|<iframe|<base|\son\w+\s*=|javascript:|http-equiv=.?refresh", text, re.I)
        assert "Content-Security-Policy" in text


def test_a_page_that_counts_visits_draws_lots_and_tells_the_date_is_the_same_every_time(
    browser, frozen, tmp_path, repo
):
    out, _ = frozen
    shutil.copy(repo / "tests" / "cases" / "hostile_pages" / "remembers.html", tmp_path)
    freeze(tmp_path / "remembers.html", tmp_path / "again", limits=Limits(seconds=20), browser=browser)
    first = (out / "site--remembers.html").read_text(encoding="utf-8")
    assert [file.read_text(encoding="utf-8") for file in (tmp_path / "again").glob("*.html")] == [first]
    assert "You came 1 times" in first


def test_broken_markup_is_kept_as_the_browser_reads_it(frozen):
    out, _ = frozen
    text = (out / "site--unclosed.html").read_text(encoding="utf-8")
    assert not text.startswith("<!DOCTYPE")  # it had none, and its layout follows from that
    assert "<li>oat" in text


def test_shared_hostile_pages(cases, browser, tmp_path):
    manifest = [json.loads(line) for line in (cases / "hostile" / "manifest.jsonl").read_text().splitlines()]
    pages = [row["file"] for row in manifest if row["file"].endswith(".html")]
    if not pages:
        pytest.skip("no hostile pages among the shared cases")
    for name in pages:
        shutil.copy(cases / "hostile" / name, tmp_path)
    report = freeze(tmp_path, tmp_path / "out", limits=Limits(seconds=20), browser=browser)
    reasons = {page["path"]: page["reason"] for page in report["dropped_pages"]}
    assert reasons == {
        "popups_alerts.html": "opens dialogs",
        "raf_forever.html": "never settles",
        "refresh_close.html": "redirects",
        "iframe_file.html": "embedded document in view",
        "lazy_50mb.html": "too large",
    }
    assert report["kept"] == len(pages) - len(reasons)


def test_the_browser_is_usable_after_each_of_them(browser: Browser, frozen):
    out, _ = frozen
    with browser.page() as page:
        browser.open(page, out / "site--unclosed.html", out)
        assert page.title() == "Bakery hours"
