"""A frozen page looks like the living one and brings everything with it; a freeze can be interrupted and repeated."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diffspot_hf.build.browser import Browser, PageError
from diffspot_hf.build.pages.curate import curate
from diffspot_hf.build.pages.fetch import fetch_sources
from diffspot_hf.build.pages.freeze import freeze as freeze_anew
from diffspot_hf.build.pages.freeze_page import Limits
from diffspot_hf.build.pages.inputs import list_jobs
from diffspot_hf.errors import RunFailure, UsageError

from .conftest import drawing, photo
from .test_site import served

pytestmark = pytest.mark.browser
Show = Callable[[Path, str], Any]

STYLE = (
    "body{font:18px/1.5 sans-serif;margin:30px;color:#223;background:#f4f1ea}h1{color:#a33}"
    ".card{padding:20px;border:2px solid #a33;border-radius:9px;background:#fff;width:300px;margin:10px}"
)


@pytest.fixture
def freeze(browser: Browser) -> Callable[..., dict[str, Any]]:
    """`freeze` with the browser that is there."""
    return partial(freeze_anew, browser=browser)


def html(body: str, head: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tea rooms</title>'
        f"<style>{STYLE}</style>{head}</head><body><h1>Tea rooms</h1>"
        f"<div class=card>Scones are baked at ten.</div>{body}</body></html>"
    )


def frozen_text(freeze: Callable[..., dict[str, Any]], folder: Path, out: Path, name: str = "page") -> str:
    report = freeze(folder, out, limits=Limits(seconds=20))
    assert report["dropped_pages"] == []
    return (out / f"{folder.name}--{name}.html").read_text(encoding="utf-8")


@pytest.fixture
def ask(browser: Browser) -> Show:
    """``ask(file, expression)``: what the frozen page in `file` answers, opened alone in a folder of its own."""

    def asked(file: Path, expression: str) -> Any:
        requests: list[str] = []
        with browser.page() as page:
            page.on("request", lambda request: requests.append(request.url))
            browser.open(page, file, file.parent)
            answer = page.evaluate(expression)
        assert len([url for url in requests if not url.startswith("data:")]) == 1, requests
        return answer

    return asked


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


def test_local_parts_are_inlined_wherever_they_are_named(site, tmp_path, ask, freeze):
    (site / "css").mkdir()
    (site / "pic").mkdir()
    for name in ("a", "b", "c", "d", "e", "f"):
        (site / "pic" / f"{name}.png").write_bytes(drawing(30, 20))
    (site / "css" / "main.css").write_text(
        "@import 'more.css'; .one{background:url(../pic/a.png)}.unused{background:url(../pic/f.png)}"
    )
    (site / "css" / "more.css").write_text(".two{background:url(/pic/b.png);height:20px}")
    (site / "sprite.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><symbol id="cup" viewBox="0 0 9 9" onload="x()">'
        '<rect width="9" height="9"/></symbol></svg>'
    )
    body = (
        "<p class=one>one</p><p class=two>two</p><p style=\"background:url('pic/c.png')\" id=three>three</p>"
        '<picture><source srcset="pic/none.webp 2x" media="(min-width:9000px)">'
        '<img id=four srcset="pic/d.png 1x, pic/e.png 2x" src="pic/e.png"></picture>'
        '<svg width=20 height=20><use href="sprite.svg#cup"/></svg>'
        '<svg width=20 height=20><image href="pic/a.png" width=9 height=9 /></svg>'
    )
    (site / "page.html").write_text(
        html(body, '<link rel=stylesheet href="css/main.css"><link rel=icon href="pic/a.png">')
    )
    text = frozen_text(freeze, site, tmp_path / "out")
    file = tmp_path / "out" / "site--page.html"
    for element in ("document.querySelector('.one')", "document.querySelector('.two')", "three"):
        assert ask(file, f"getComputedStyle({element}).backgroundImage").startswith('url("data:image/png;base64,')
    assert ask(file, "[four.src.slice(0, 15), four.naturalWidth, four.srcset]") == ["data:image/png;", 30, ""]
    assert ask(file, "document.querySelector('use').getBBox().width") > 0
    assert "onload" not in text
    assert '.unused{background:url("data:,")}' in text  # nothing shows it
    assert 'rel="icon"' not in text


def test_base_href_is_honoured_and_goes(site, tmp_path, ask, freeze):
    (site / "deep" / "er").mkdir(parents=True)
    (site / "assets").mkdir()
    (site / "assets" / "a.css").write_text(".mark{background:url(dot.png)}")
    (site / "assets" / "dot.png").write_bytes(drawing(8, 8))
    head = '<base href="../../"><link rel=stylesheet href="assets/a.css">'
    (site / "deep" / "er" / "page.html").write_text(
        html('<p class=mark>x</p><img src="assets/dot.png">', head).replace("<meta", f"{head}<meta", 1)
    )
    text = frozen_text(freeze, site, tmp_path / "out", "deep-er-page")
    assert "<base" not in text
    file = tmp_path / "out" / "site--deep-er-page.html"
    assert "data:image/png" in ask(file, "getComputedStyle(document.querySelector('.mark')).backgroundImage")
    assert ask(file, "document.images[0].naturalWidth") == 8


def test_what_scripts_made_stays_without_them(site, tmp_path, ask, freeze):
    script = """<script type=module>
      document.body.insertAdjacentHTML('beforeend', '<ul id=made></ul>');
      for (const tea of await (await fetch('teas.json')).json()) made.insertAdjacentHTML('beforeend', `<li>${tea}`);
      setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<b id=late>late</b>'), 1500);
      const sheet = document.createElement('style');
      document.head.append(sheet);
      sheet.sheet.insertRule('#made{color:rgb(1, 2, 3)}');
      const adopted = new CSSStyleSheet();
      adopted.replaceSync('#late{color:rgb(4, 5, 6)}');
      document.adoptedStyleSheets = [adopted];
      const tree = shade.attachShadow({mode: 'closed'});
      tree.innerHTML = '<style>i{color:rgb(7, 8, 9)}</style><i>shadow</i>';
      const pen = board.getContext('2d'); pen.fillStyle = 'rgb(200, 0, 0)'; pen.fillRect(0, 0, 50, 40);
      name_.value = 'typed'; agree.checked = true; note.value = 'noted'; size.value = 'large';
    </script>"""
    body = (
        "<div id=shade></div><canvas id=board width=50 height=40></canvas>"
        "<input id=name_><input type=checkbox id=agree>"
        "<textarea id=note></textarea><select id=size><option>small<option>large</select>"
    )
    (site / "page.html").write_text(html(body + script))
    (site / "teas.json").write_text('["oolong", "sencha"]')
    text = frozen_text(freeze, site, tmp_path / "out")
    assert "<script" not in text
    file = tmp_path / "out" / "site--page.html"
    assert ask(file, "made.innerText.split('\\n')") == ["oolong", "sencha"]
    assert ask(file, "[getComputedStyle(made).color, getComputedStyle(late).color]") == ["rgb(1, 2, 3)", "rgb(4, 5, 6)"]
    assert ask(file, "getComputedStyle(shade.shadowRoot.querySelector('i')).color") == "rgb(7, 8, 9)"
    assert ask(file, "[board.tagName, board.naturalWidth]") == ["IMG", 50]
    assert ask(file, "[name_.value, agree.checked, note.value, size.value]") == ["typed", True, "noted", "large"]


def test_motion_is_taken_to_its_end_and_stopped(site, tmp_path, ask, freeze):
    head = (
        "<style>@keyframes in{from{opacity:0}to{opacity:1}}@keyframes turn{to{transform:rotate(360deg)}}"
        "#a{opacity:0;animation:in 40s forwards}#b{animation:turn 1s infinite!important}"
        "#c{transition:margin 5s!important}#c.on{margin-left:50px}</style>"
    )
    body = (
        "<p id=a>in</p><p id=b>turn</p><p id=c>slide</p><marquee id=d>news</marquee>"
        "<script>onload = () => c.classList.add('on')</script>"
    )
    (site / "page.html").write_text(html(body, head))
    frozen_text(freeze, site, tmp_path / "out")
    file = tmp_path / "out" / "site--page.html"
    assert ask(file, "[getComputedStyle(a).opacity, getComputedStyle(c).marginLeft]") == ["1", "50px"]
    assert ask(file, "[document.getAnimations().length, getComputedStyle(c).transitionDuration, d.tagName]") == [
        0,
        "0s",
        "DIV",
    ]


def test_pages_in_pages_toml_keep_their_notes(site, tmp_path, freeze):
    (site / "page.html").write_text(html(""))
    (site / "pages.toml").write_text(
        'licence = "MIT"\n[[page]]\nfile = "page.html"\npage_id = "own-tea"\n'
        'language = "cy"\ndomain = "food/restaurant"\ntitle = "Te"\n'
    )
    freeze(site, tmp_path / "out")
    [row] = [json.loads(line) for line in (tmp_path / "out" / "pages.jsonl").read_text().splitlines()]
    assert row.pop("sha256")
    assert row == {"page_id": "own-tea", "file": "own-tea.html", "source": "site", "version": "", "path": "page.html",
                   "licence": "MIT", "language": "cy", "domain": "food/restaurant", "title": "Te", "tailwind": False,
                   "tailwind_version": ""}  # fmt: skip


def test_a_fetched_package_is_frozen_with_what_it_needs_and_without_its_photos(make_source, tmp_path, ask, freeze):
    page = html(
        '<img src="/img/sea.jpg" width=60><img src="https://far.example.invalid/50x40.png" alt=far><p class=kit>kit</p>'
    )
    bare = (
        "<html><head><title>bare</title></head><body><h1 class=t>Bare</h1><p class=x>page</p>"
        + "<p class=x>Without its styles it is plain text.</p>" * 9
    )
    source, pack = make_source(
        {"dist/page.html": page.encode(), "dist/bare.html": bare.encode(), "dist/skip.html": b"x",
         "dist/img/sea.jpg": photo(60, 40), "dist/kit.css": b".kit{color:rgb(9, 9, 9)}"},
        root="dist", pages=["*.html"], skip=["skip.html"], head='<link rel="stylesheet" href="/kit.css">',
    )  # fmt: skip
    fetch_sources([source], tmp_path / "fetched", pack=pack)
    report = freeze(tmp_path / "fetched", tmp_path / "out")
    assert report["dropped"] == {"unstyled": 1}
    file = tmp_path / "out" / "demo--page.html"
    assert ask(file, "[...document.images].map((i) => [i.naturalWidth, i.naturalHeight])") == [[60, 40], [50, 40]]
    assert ask(file, "getComputedStyle(document.querySelector('.kit')).color") == "rgb(9, 9, 9)"
    assert photo(60, 40) not in file.read_bytes()
    assert report["inside"]["demo--page"]["replaced"]["first"] == [
        "https://far.example.invalid/50x40.png",
        "img/sea.jpg",
    ]
    [row] = [json.loads(line) for line in (tmp_path / "out" / "pages.jsonl").read_text().splitlines()]
    assert (row["source"], row["version"], row["licence"], row["language"]) == ("demo", "1.0.0", "MIT", "en")
    assert freeze(tmp_path / "fetched", tmp_path / "raw", names=["demo"], photos=False)["kept"] == 1
    with pytest.raises(UsageError, match="holds no package named 'other'"):
        freeze(tmp_path / "fetched", tmp_path / "raw", names=["demo", "other"])


def test_a_loopback_server_is_frozen_and_stays_on_its_origin(tmp_path, ask, freeze):
    css = (200, {"Content-Type": "text/css"}, b".card{color:rgb(3, 3, 3)}")
    home = (200, {"Content-Type": "text/html"}, html("", '<link rel=stylesheet href="a.css">').encode())
    answers = {
        "/new/": home,
        "/new/a.css": css,
        "/old": (302, {"Location": "/new/"}, b""),
        "/away": (302, {"Location": "http://example.invalid/"}, b""),
    }
    with served(answers) as origin:
        report = freeze([f"{origin}/{path}" for path in ("old", "away", "none")], tmp_path / "out")
    assert {page["path"]: page["reason"] for page in report["dropped_pages"]} == {
        "away": "redirects",
        "none": "unreadable",
    }
    [file] = (tmp_path / "out").glob("*.html")
    assert ask(file, "getComputedStyle(document.querySelector('.card')).color") == "rgb(3, 3, 3)"


def test_pages_that_look_the_same_are_kept_once(site, tmp_path, freeze):
    for name in ("first", "second"):
        (site / f"{name}.html").write_text(html(f"<p hidden>{name}</p>"))
    (site / "third.html").write_text(html("<div class=card style='background:#159'>other</div>" * 3))
    report = freeze(site, tmp_path / "out")
    assert [(page["path"], page["reason"], page["detail"]) for page in report["dropped_pages"]] == [
        ("second.html", "twin", "looks like site--first")
    ]
    assert sorted(file.name for file in (tmp_path / "out").glob("*.html")) == ["site--first.html", "site--third.html"]


def test_an_interrupted_freeze_goes_on_and_ends_alike(site, tmp_path, freeze):
    for number in range(3):
        (site / f"{number}.html").write_text(
            html(f"<div class=card style='height:300px;background:hsl({90 * number} 70% 40%)'>{number}</div>")
        )
    whole = freeze(site, tmp_path / "whole")
    seen: list[str] = []

    def stop(done: int, total: int, line: str) -> None:
        seen.append(line)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        freeze(site, tmp_path / "out", progress=stop)
    assert not (tmp_path / "out" / "pages.jsonl").exists()
    with (tmp_path / "out" / "freeze_log.jsonl").open("a") as log:
        log.write('{"page_id": "site--cut')  # the line it was writing
    again: list[str] = []
    report = freeze(site, tmp_path / "out", progress=lambda done, total, line: again.append(line))
    assert again == ["site--2: kept"]
    assert report == whole
    assert (tmp_path / "out" / "pages.jsonl").read_bytes() == (tmp_path / "whole" / "pages.jsonl").read_bytes()


def test_a_changed_page_is_frozen_anew_a_removed_one_goes_and_other_sources_stay(site, tmp_path, freeze):
    other = tmp_path / "other"
    other.mkdir()
    (other / "guest.html").write_text(html("<p>guest</p>"))
    (site / "a.html").write_text(html("<p>old words</p>"))
    (site / "b.html").write_text(html("<div class=card>b</div>" * 3))
    out = tmp_path / "out"
    freeze([site, other], out)
    (site / "a.html").write_text(html("<p>new and longer words</p>"))
    (site / "b.html").unlink()
    freeze(site, out)
    rows = [json.loads(line)["page_id"] for line in (out / "pages.jsonl").read_text().splitlines()]
    assert rows == ["other--guest", "site--a"]
    assert "new and longer" in (out / "site--a.html").read_text()
    assert not (out / "site--b.html").exists()


def test_two_workers_give_the_same_as_one(site, tmp_path, freeze):
    for number in range(3):
        (site / f"{number}.html").write_text(
            html(f"<div class=card style='height:300px;background:hsl({90 * number} 70% 40%)'>{number}</div>")
        )
    assert freeze(site, tmp_path / "two", workers=2) == freeze(site, tmp_path / "one")
    for name in ("pages.jsonl", "freeze_report.json", "site--1.html"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_a_full_disk_stops_clearly_and_leaves_what_is_whole(site, tmp_path, monkeypatch, freeze):
    for number in range(2):
        (site / f"{number}.html").write_text(html(f"<div class=card>{number}</div>" * (number + 1)))
    replace, calls = os.replace, []

    def full(source: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(
        RunFailure, match="No space left on device; what is there is whole, and the same call continues"
    ):
        freeze(site, tmp_path / "out")
    monkeypatch.undo()
    assert freeze(site, tmp_path / "out")["kept"] == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda p: p / "none", "no such folder or page", id="missing-folder"),
        pytest.param(lambda p: p, "holds no pages", id="empty-folder"),
        pytest.param(lambda p: "http://example.invalid/", "only pages of this machine", id="remote-url"),
        pytest.param(lambda p: "https://127.0.0.1/", "only pages of this machine", id="not-plain-http"),
        pytest.param(lambda p: "file:///etc/passwd", "only pages of this machine", id="file-url"),
    ],
)
def test_a_source_that_cannot_be_used_is_one_clear_line(tmp_path, make, message, freeze):
    with pytest.raises(UsageError, match=message):
        freeze(make(tmp_path), tmp_path.with_name("out"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[[page]]\n", "not a page listing", id="no-file"),
        pytest.param("page = 3", "not a page listing", id="no-table"),
        pytest.param("[[page]]\nfile='gone.html'", "names 'gone.html'", id="missing-page"),
        pytest.param("[[page]]\nfile='page.html'\npage_id='../up'", "page_id of 'page.html'", id="id-that-is-a-path"),
    ],
)
def test_a_wrong_pages_toml_is_one_clear_line(site, text, message):
    (site / "page.html").write_text(html(""))
    (site / "pages.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        list_jobs([site])


def test_paths_that_shorten_to_one_id_get_different_ids(site):
    (site / "a").mkdir()
    (site / "a" / "b.html").write_text("x")
    (site / "a-b.html").write_text("x")
    ids = [job.page_id for job in list_jobs([site])]
    assert len(set(ids)) == 2
    assert all(re.fullmatch(r"site--a-b-[0-9a-f]{6}", page_id) for page_id in ids)
    with pytest.raises(UsageError, match="given twice"):
        list_jobs([site, site])


def test_a_page_beyond_the_limit_is_dropped(site, tmp_path, freeze):
    (site / "page.html").write_text(html("<p>long text</p>" * 500))
    report = freeze(site, tmp_path / "out", limits=Limits(bytes=2000))
    assert report["dropped"] == {"too large": 1}


def test_curating_counts_domains_and_makes_sheets(site, tmp_path, freeze):
    (site / "page.html").write_text(html(""))
    freeze(site, tmp_path / "out")
    report = curate(tmp_path / "out", sheets=tmp_path / "sheets")
    assert report["domains"]["other"] == report["pages"] == 1
    assert "travel" in report["domains_without_pages"]
    assert Image.open(io.BytesIO(Path(report["sheets"][0]).read_bytes())).size[0] > 1000
    with pytest.raises(UsageError, match=r"has no pages\.jsonl"):
        curate(tmp_path)


def test_a_page_error_says_its_reason():
    assert str(PageError("moving", "two pictures differ")) == "moving: two pictures differ"
