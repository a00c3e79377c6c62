"""The browser alone: what it shows, what it refuses and counts, and that it says which it is."""

from __future__ import annotations

import http.server
import threading

import pytest

from diffspot_hf.build import chromium, install
from diffspot_hf.build.browser import Browser, PageError, find_chromium
from diffspot_hf.errors import MissingExtra

pytestmark = pytest.mark.browser

TEXT = "<!doctype html><meta charset=utf-8><body style='font:18px sans-serif'><h1>Ferry office</h1>"


@pytest.fixture(scope="module")
def browser():
    with Browser(page_seconds=20) as one:
        yield one


@pytest.fixture
def show(browser, tmp_path):
    """``with show(html, scripts=True) as page`` opens a page of that text."""
    from contextlib import contextmanager

    @contextmanager
    def opened(html: str, *, scripts: bool = True, **options):
        (tmp_path / "page.html").write_text(TEXT + html, encoding="utf-8")
        with browser.page(**options) as page:
            browser.open(page, tmp_path / "page.html", tmp_path, scripts=scripts)
            yield page

    return opened


def test_capture_is_the_viewport_and_the_same_twice(browser, show):
    with show("") as page:
        first, second = browser.capture(page), browser.capture(page)
    assert first == second
    assert first[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(first[16:20], "big"), int.from_bytes(first[20:24], "big")) == (1280, 800)


def test_viewport_and_scale_are_parameters(browser, show):
    with show("", viewport=(390, 844), scale=2) as page:
        png = browser.capture(page)
        assert page.evaluate("[innerWidth, innerHeight, devicePixelRatio]") == [390, 844, 2]
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (780, 1688)


@pytest.mark.parametrize(("scripts", "title"), [(True, "ran"), (False, "")])
def test_scripts_run_only_when_asked(show, scripts, title):
    with show("<script>document.title='ran'</script>", scripts=scripts) as page:
        assert page.title() == title


def test_storage_does_not_outlive_the_page(show):
    for _ in range(2):
        with show("<script>localStorage.n=1+(+localStorage.n||0);document.title=localStorage.n</script>") as page:
            assert page.title() == "1"


REFUSED = [
    ("network", "<img src='http://pictures.example.invalid/a.png'>"),
    ("network", "<script>new WebSocket('ws://127.0.0.1:9/')</script>"),
    ("file", "<img src='file:///etc/hostname'>"),
    ("navigation", "<script>setTimeout(()=>{location='http://elsewhere.example.invalid/'},50)</script>"),
    ("navigation", "<meta http-equiv=refresh content='0;url=http://elsewhere.example.invalid/'>"),
    ("popup", "<script>window.open('about:blank')</script>"),
    ("dialog", "<script>alert(1)</script>"),
]


@pytest.mark.parametrize(("kind", "html"), REFUSED, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(REFUSED)])
def test_refused_and_counted(browser, show, kind, html):
    before = browser.blocked[kind]
    with show(html) as page:
        page.wait_for_timeout(300)
        # A file address is refused by Chromium itself, before it becomes a request.
        assert browser.blocked[kind] > before or kind == "file"
        assert page.evaluate("document.querySelector('h1').innerText") == "Ferry office"
        assert page.url.endswith("/page.html")


def test_only_allowed_loopback_origins_are_reached(tmp_path):
    asked: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>served</title><h1>Ferry office</h1>")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        origin = f"http://127.0.0.1:{server.server_port}"
        with Browser(origins=[origin]) as own, own.page() as page:
            own.goto(page, f"{origin}/dev/")
            assert page.title() == "served"
        assert "/dev/" in asked
        asked.clear()
        with Browser() as own, pytest.raises(PageError), own.page() as page:
            own.goto(page, f"{origin}/dev/")
        assert asked == []
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["missing.html", "../outside.html"])
def test_file_that_cannot_be_shown(browser, tmp_path, name):
    (tmp_path / "outside.html").write_text(TEXT)
    folder = tmp_path / "pages"
    folder.mkdir()
    with browser.page() as page, pytest.raises(PageError) as caught:
        browser.open(page, folder / name, folder)
    assert caught.value.reason == "unreadable"


def test_two_browsers_share_a_thread(browser, show):
    with Browser(viewport=(400, 300)) as other, other.page() as page:
        assert page.evaluate("innerWidth") == 400
    with show("") as page:
        assert page.evaluate("innerWidth") == 1280


def test_record_names_build_flags_fonts_and_viewport(browser):
    told = browser.describe()
    assert told["version"].split(".")[0].isdigit()
    assert "--disable-partial-raster" in told["flags"]
    assert any(flag.startswith("--host-resolver-rules=MAP * ~NOTFOUND") for flag in told["flags"])
    assert told["viewport"] == [1280, 800]
    assert not told["fonts"] or len(told["fonts"]["sha256"]) == 64


def test_no_sandbox_is_for_the_superuser_only(monkeypatch):
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    assert "--no-sandbox" not in chromium.flags_for([])
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0)
    assert "--no-sandbox" in chromium.flags_for([])


def test_programs_on_the_path_are_tried_in_order(monkeypatch, tmp_path):
    for name in ("google-chrome", "chromium"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 7\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium() == str(tmp_path / "chromium")
    with pytest.raises(MissingExtra, match="does not start"), Browser():
        pass


def test_browser_that_is_nowhere_is_one_clear_line(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium() is None
    with pytest.raises(MissingExtra, match="playwright install"):
        chromium.launch(_NoChromium(), [])


class _NoChromium:
    """A driver whose own browser was never installed."""

    def __init__(self) -> None:
        self.chromium = self

    def launch(self, **_: object) -> None:
        from playwright.sync_api import Error

        raise Error("BrowserType.launch: Executable doesn't exist at /root/.cache/nowhere\nrun playwright install")


def test_looking_for_playwrights_browser_while_another_is_open_is_no_trouble():
    users = chromium.driver.users
    with Browser():
        install._playwright_chromium()
    assert chromium.driver.users == users
