"""Pages of ill will in a build: dropped with the reason or harmless, and nothing leaves the folder or the machine."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from diffspot_hf.build.browser import Browser, PageError
from diffspot_hf.build.web import build
from diffspot_hf.build.web.corpus import CorpusPage
from diffspot_hf.build.web.stage import on_stage

pytestmark = pytest.mark.browser

TOP = "<!doctype html><html lang=en><meta charset=utf-8><title>Ferry office</title><body style='font:18px sans-serif'>"
TEXT = "<h1>Ferry office</h1><p>The office opens at nine. Ask for the ticket of ten rides.</p>" * 3


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server that pages try to reach, and what reached it."""
    asked: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def network(url: str) -> str:
    return (
        f"<base href='{url}/base/'><link rel=stylesheet href='{url}/a.css'><style>@import url({url}/b.css);"
        f"h1{{background:url({url}/c.png)}}</style>{TEXT}<img src='{url}/d.png'><img src=e.png>"
        f"<a ping='{url}/f' href='{url}/g'>go</a><script>fetch('{url}/h');new Image().src='{url}/i';"
        f"navigator.sendBeacon('{url}/j');new WebSocket('{url.replace('http', 'ws')}/k')</script>"
        f"<link rel=prefetch href='{url}/l'><link rel=dns-prefetch href='{url}'><link rel=preconnect href='{url}'>"
    )


def refresh(url: str) -> str:
    return f"<meta http-equiv=refresh content='0;url={url}/away'>{TEXT}<script>location='{url}/x';close()</script>"


HARMLESS = [
    pytest.param(network, id="asks for the network"),
    pytest.param(refresh, id="sends the reader away"),
    pytest.param(
        lambda url: f"{TEXT}<script>for(;;){{alert(1);confirm(2);prompt(3)}}</script>", id="dialogs without end"
    ),
    pytest.param(
        lambda url: f"{TEXT}<script>onbeforeunload=()=>1;for(;;)window.open('{url}/pop')</script>", id="pop-ups"
    ),
    pytest.param(
        lambda url: f"{TEXT}<b id=b style='position:absolute'>x</b><script>let n=0;"
        "(function f(){b.style.left=++n%300+'px';requestAnimationFrame(f)})()</script>",
        id="a box moved by a script",
    ),
    pytest.param(
        lambda url: f"{TEXT}<script>setInterval(()=>document.body.append('word '.repeat(1e6)),1)</script>",
        id="grows without end",
    ),
    pytest.param(
        lambda url: f"{TEXT}<script>navigator.serviceWorker.register('sw.js');document.body.append(1)</script>",
        id="a service worker",
    ),
    pytest.param(lambda url: f"{TEXT}<img onerror='document.body.remove()' src=none><p onclick=x()>", id="handlers"),
    pytest.param(lambda url: f"<h1>Ferry<p><div></h1></span><table><td>{TEXT}</b><!-- <![CDATA[", id="broken HTML"),
]  # fmt: skip


@pytest.mark.parametrize("body", HARMLESS)
def test_page_is_shown_as_it_was_written_and_reaches_nothing(body, listener, browser, tmp_path):
    url, asked = listener
    file = tmp_path / "page.html"
    file.write_text(TOP + body(url), encoding="utf-8")
    with on_stage(browser, CorpusPage("page", file, tmp_path, "hostile"), seconds=20) as opened:
        assert opened.tab.evaluate("document.querySelector('h1').innerText").startswith("Ferry")
        assert opened.tab.evaluate("document.scripts.length >= 0 && typeof n") == "undefined"
        assert opened.is_clean()
    assert asked == []


OUTSIDE = "the secret of the neighbour"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<iframe src='../secret.html' width=600 height=200></iframe>", id="iframe"),
        pytest.param("<object data='../secret.html' width=600 height=200></object>", id="object"),
        pytest.param("<embed src='file:///etc/hostname' width=600 height=200>", id="embed"),
    ],
)
def test_page_that_frames_other_files_is_dropped(body, browser, tmp_path):
    (tmp_path / "secret.html").write_text(TOP + OUTSIDE)
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "page.html").write_text(TOP + TEXT + body)
    with (
        pytest.raises(PageError, match="in the viewport"),
        on_stage(browser, CorpusPage("page", folder / "page.html", folder, "hostile"), seconds=20),
    ):
        pass


@pytest.mark.parametrize("reference", ["../secret.svg", "..%2fsecret.svg", "link.svg", "file:///etc/hostname"])
def test_nothing_outside_the_folder_is_read(reference, browser, tmp_path):
    drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='40'><rect width='40' height='40'/></svg>"
    (tmp_path / "secret.svg").write_text(drawing)
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "inside.svg").write_text(drawing)
    (folder / "link.svg").symlink_to(tmp_path / "secret.svg")
    (folder / "page.html").write_text(f"{TOP}{TEXT}<img id=a src='inside.svg'><img id=b src='{reference}'>")
    with on_stage(browser, CorpusPage("page", folder / "page.html", folder, "hostile"), seconds=20) as opened:
        widths = opened.tab.evaluate("['a', 'b'].map(id => document.getElementById(id).naturalWidth)")
    assert widths == [40, 0]


def test_build_drops_what_it_cannot_use_and_goes_on(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "good.html").write_text(TOP + TEXT)
    (folder / "dialogs.html").write_text(TOP + TEXT + "<script>for(;;)alert(1)</script>")
    (folder / "frame.html").write_text(TOP + TEXT + "<iframe src=good.html></iframe>")
    (folder / "empty.html").write_text("")
    (folder / "big.html").write_bytes(b"<!-- " + b"x" * (41 * 2**20))
    (folder / "dangling.html").symlink_to(tmp_path / "nowhere")
    (folder / "link.html").symlink_to(tmp_path / "outside.html")
    (tmp_path / "outside.html").write_text(TOP + OUTSIDE)
    report = build(folder, tmp_path / "out", operators=["color"], per_cell=1, no_diff=1, progress=False)
    assert report["rows"] == 4
    assert {page["page_id"]: page["dropped"] for page in report["dropped_pages"]} == {
        "frame": "iframe in the viewport", "empty": "near-blank", "big": "too large", "link": "unreadable",
    }  # fmt: skip
    assert "iframe in the viewport" in (tmp_path / "out" / "report.md").read_text()


ENDINGS = {
    "the renderer crashes": lambda own, opened: opened.tab.context.new_cdp_session(opened.tab).send("Page.crash"),
    "the browser is killed": lambda own, opened: (own.kill(), opened.capture()),
}


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
def test_crash_is_a_page_error_and_the_next_page_works(end, tmp_path):
    (tmp_path / "good.html").write_text(TOP + TEXT)
    page = CorpusPage("good", tmp_path / "good.html", tmp_path, "hostile")
    with Browser() as own:
        with pytest.raises(PageError) as caught, on_stage(own, page, seconds=20) as opened:
            end(own, opened)
        assert caught.value.reason == "crashed"
        with on_stage(own, page, seconds=20) as opened:
            assert opened.is_clean()


def test_page_that_hangs_is_given_up_after_its_time(tmp_path):
    (tmp_path / "good.html").write_text(TOP + TEXT)
    page = CorpusPage("good", tmp_path / "good.html", Path(tmp_path), "hostile")
    with Browser() as own:
        with pytest.raises(PageError) as caught, on_stage(own, page, seconds=3) as opened:
            opened.tab.evaluate("() => { for (;;); }")
        assert caught.value.reason == "time limit"
        with on_stage(own, page, seconds=20) as opened:
            assert opened.is_clean()
