"""A Chromium that shows pages of a folder and nothing else, cut off from the network.

Pages are served from memory under one made-up loopback name (`PAGE_ORIGIN`), so the browser itself opens no file and no
socket: every request is answered, continued to an allowed loopback origin, or aborted and counted.
"""

from __future__ import annotations

import base64
import contextlib
import mimetypes
import os
import platform
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from ..errors import DiffspotError, need
from .chromium import driver, find_chromium, first_line, flags_for, installed_fonts, launch

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request, Route

PAGE_ORIGIN = "http://pages.localhost"
VIEWPORT = (1280, 800)
LOAD_SECONDS = 30.0
"""Time limit for whatever is done with one page (our choice; the hostile cases ask for 30 s)."""

SCRIPTLESS = (
    "default-src 'self' data: blob:; script-src 'none'; style-src 'self' 'unsafe-inline' data:; "
    "connect-src 'none'; object-src 'none'; frame-src 'none'; worker-src 'none'; form-action 'none'"
)
"""Policy of a page shown without scripts. Scripting itself stays on: with it off, awaited calls hang."""


class PageError(DiffspotError):
    """You meet it when one page cannot be used; `reason` is the word under which it is counted."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@dataclass
class _Tab:
    """What one page may see, and its channel for pictures."""

    viewport: tuple[int, int] = VIEWPORT
    scale: float = 1.0
    root: Path | None = None
    scripts: bool = False
    session: Any = None


class Browser:
    """One Chromium process with isolated pages; a context manager. Starts at the first page, restarts when it died.

    `origins` are loopback origins (``http://127.0.0.1:8000``) that pages may talk to. `blocked` counts refused requests
    by kind (``network``, ``file``, ``navigation``, ``popup``, ``dialog``), over the life of the object.
    """

    def __init__(
        self,
        *,
        viewport: tuple[int, int] = VIEWPORT,
        scale: float = 1.0,
        origins: Sequence[str] = (),
        page_seconds: float = LOAD_SECONDS,
    ) -> None:
        self.viewport = viewport
        self.scale = scale
        self.origins = tuple(origin.rstrip("/") for origin in origins)
        self.page_seconds = page_seconds
        self.blocked: Counter[str] = Counter()
        self.starts = 0
        self._playwright: Any = None
        self._browser: Any = None
        self._pids: list[int] = []
        self._tabs: dict[Page, _Tab] = {}

    def __enter__(self) -> Browser:
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Nothing: the browser is ended, and its driver if no other browser of this thread needs it."""
        if self._browser is not None:
            with contextlib.suppress(Exception):
                self._browser.close()
            self._browser = None
        if self._playwright is not None:
            self._playwright = None
            driver.release()

    @property
    def flags(self) -> list[str]:
        """The command-line flags, as they are recorded with the data."""
        return flags_for(self.origins)

    def _start(self) -> None:
        self._playwright = driver.acquire()
        try:
            self._browser, self._pids = launch(self._playwright, self.flags)
        except BaseException:
            self.close()
            raise
        self.starts += 1

    def kill(self) -> None:
        """Nothing: this browser's own main process is ended at once; the next page starts a new one."""
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    @contextlib.contextmanager
    def page(
        self, *, viewport: tuple[int, int] | None = None, scale: float | None = None, seconds: float | None = None
    ) -> Iterator[Page]:
        """A blank page of its own storage, for at most `seconds`; afterwards the browser is killed, and restarted.

        Whatever goes wrong with the page inside the block is raised as `PageError` (``time limit``, ``crashed``,
        ``load``); the browser is usable for the next page.
        """
        sync_api = need("playwright.sync_api", "build")
        if self._browser is None or not self._browser.is_connected():
            if self._browser is not None:
                self.close()
            self._start()
        limit = seconds or self.page_seconds
        late, crashed = threading.Event(), threading.Event()

        def stop() -> None:
            late.set()
            self.kill()

        # Evaluating a script and taking a picture have no time limit of their own; ending the process ends both.
        watchdog = threading.Timer(limit, stop)
        watchdog.daemon = True
        watchdog.start()
        context = None
        width, height = viewport or self.viewport
        try:
            context = self._browser.new_context(
                viewport={"width": width, "height": height},
                device_scale_factor=scale or self.scale,
                service_workers="block",
                accept_downloads=False,
                reduced_motion="reduce",
                locale="en-US",
                timezone_id="UTC",
            )
            context.set_default_timeout(limit * 1000)
            page = context.new_page()
            self._tabs[page] = _Tab((width, height), scale or self.scale)
            context.route("**/*", lambda route, request: self._answer(page, route, request))
            context.route_web_socket("**/*", lambda socket: self._refuse_socket(socket))
            context.on("page", lambda other: self._close_popup(page, other))
            page.on("dialog", lambda dialog: self._dismiss(dialog))
            # What waits for a picture of a crashed page would wait for ever; without the browser it fails at once.
            page.on("crash", lambda _: (crashed.set(), self.kill()))
            yield page
        except sync_api.Error as error:
            if late.is_set():
                raise PageError("time limit", f"not done after {limit:g} s") from error
            if crashed.is_set() or not self._browser.is_connected() or "crashed" in str(error).lower():
                raise PageError("crashed", first_line(error)) from error
            raise PageError("load", first_line(error)) from error
        finally:
            watchdog.cancel()
            self._tabs.clear()
            if late.is_set():
                self.close()
            elif context is not None:
                self._close_context(context)

    def _close_context(self, context: Any) -> None:
        # A page that answers every leave-question anew can hold up the closing too.
        watchdog = threading.Timer(10, self.kill)
        watchdog.daemon = True
        watchdog.start()
        with contextlib.suppress(Exception):
            context.close()
        watchdog.cancel()

    def open(self, page: Page, file: Path, root: Path, *, scripts: bool = False) -> None:
        """Nothing: `page` shows `file`; it can read what lies under `root` and nothing else. Scripts run only if asked.

        Raises `PageError` when the file cannot be shown.
        """
        root = root.resolve()
        self._tabs[page].root, self._tabs[page].scripts = root, scripts
        try:
            relative = file.resolve(strict=True).relative_to(root)
        except (OSError, ValueError) as error:
            raise PageError("unreadable", str(error)) from error
        self.goto(page, f"{PAGE_ORIGIN}/{quote(relative.as_posix())}")

    def goto(self, page: Page, url: str) -> None:
        """Nothing: `page` has loaded `url` and its fonts."""
        response = page.goto(url, wait_until="load")
        if response is None or response.status >= 400:
            raise PageError("load", f"{url}: {'no answer' if response is None else response.status}")
        page.evaluate("() => document.fonts.ready.then(() => null)")

    def capture(self, page: Page) -> bytes:
        """The viewport in device pixels as PNG bytes (lossless, fast). Equal pictures give equal bytes."""
        tab = self._tabs[page]
        if tab.session is None:
            tab.session = page.context.new_cdp_session(page)
            # A session takes pictures in the size that it set itself, and puts that size back afterwards.
            width, height = tab.viewport
            metrics = {"width": width, "height": height, "deviceScaleFactor": tab.scale, "mobile": False}
            tab.session.send("Emulation.setDeviceMetricsOverride", metrics)
        shot = tab.session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return base64.b64decode(shot["data"])

    def describe(self) -> dict[str, Any]:
        """What pixels depend on, for the records: browser build, flags, viewport, scale, fonts, platform."""
        if self._browser is None:
            self._start()
        return {
            "program": Path(find_chromium() or self._playwright.chromium.executable_path).name,
            "version": self._browser.version,
            "flags": self.flags,
            "viewport": list(self.viewport),
            "scale": self.scale,
            "fonts": installed_fonts(),
            "platform": f"{platform.system()} {platform.machine()}",
        }

    # What pages ask for

    def _answer(self, page: Page, route: Route, request: Request) -> None:
        url = request.url
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        tab = self._tabs.get(page, _Tab())
        if origin == PAGE_ORIGIN and tab.root is not None:
            self._serve(route, request, tab.root, tab.scripts)
        elif origin in self.origins:
            route.continue_()
        elif request.is_navigation_request() and _frame_of(request) == page.main_frame:
            self.blocked["navigation"] += 1
            route.fulfill(status=204)  # "no content" leaves the page where it is; an abort would show an error page
        else:
            self.blocked["file" if url.startswith("file:") else "network"] += 1
            route.abort("blockedbyclient")

    def _serve(self, route: Route, request: Request, root: Path, scripts: bool) -> None:
        relative = unquote(urlsplit(request.url).path).lstrip("/")
        try:
            file = (root / relative).resolve()
            if file.is_dir():
                file = file / "index.html"
            if not file.is_relative_to(root):  # after resolving, so links that leave the folder are refused too
                self.blocked["file"] += 1
                route.abort("blockedbyclient")
                return
            body = file.read_bytes()
        except (OSError, ValueError):
            route.fulfill(status=404, body="")
            return
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        headers = {"Content-Type": kind}
        if not scripts:
            headers["Content-Security-Policy"] = SCRIPTLESS
        route.fulfill(status=200, body=body, headers=headers)

    def _refuse_socket(self, socket: Any) -> None:
        self.blocked["network"] += 1
        socket.close()

    def _close_popup(self, page: Page, other: Page) -> None:
        if other is not page:
            self.blocked["popup"] += 1
            with contextlib.suppress(Exception):
                other.close()

    def _dismiss(self, dialog: Any) -> None:
        self.blocked["dialog"] += 1
        with contextlib.suppress(Exception):
            dialog.dismiss()


def _frame_of(request: Request) -> Any:
    """The frame that asks, None while a pop-up has none yet (Playwright raises then)."""
    with contextlib.suppress(Exception):
        return request.frame
    return None
