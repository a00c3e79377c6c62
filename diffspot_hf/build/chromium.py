"""A Chromium process and the driver that it hangs on: found, started with fixed flags, and described for records."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ..errors import MissingExtra, UsageError, need

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = (
    # In-place mutation and its undo are only pixel-exact when every frame is rastered as a whole.
    "--disable-partial-raster",
    "--disable-gpu",
    # Text must not depend on the monitor, the desktop's settings or sub-pixel position.
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--disable-font-subpixel-positioning",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    # Nothing looks for the network on its own account, and pages cannot.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-first-run",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Animated GIF and WebP stand at their first frame (value 2 of blink's ImageAnimationPolicy: no animation).
    "--blink-settings=imageAnimationPolicy=2",
)


def find_chromium() -> str | None:
    """Path of the Chromium on PATH that will be used, or None when Playwright's own is the last resort."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def flags_for(origins: Sequence[str]) -> list[str]:
    """The command-line flags that matter for pixels and privacy; of all hosts only those of `origins` are reachable."""
    rules = ["MAP * ~NOTFOUND", *(f"EXCLUDE {urlsplit(origin).hostname}" for origin in origins)]
    flags = [*FLAGS, f"--host-resolver-rules={', '.join(rules)}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium refuses to run as root with it
    return flags


class Driver(threading.local):
    """Playwright, started once a thread and shared by all browsers of the thread; it allows no second one."""

    playwright: Any = None
    users = 0

    def acquire(self) -> Any:
        """The Playwright of this thread; give it back with `release`."""
        if self.playwright is None:
            sync_api = need("playwright.sync_api", "build")
            with contextlib.suppress(RuntimeError):
                asyncio.get_running_loop()
                raise UsageError("a browser cannot be driven from a running event loop (a notebook?); use a thread")
            self.playwright = sync_api.sync_playwright().start()
        self.users += 1
        return self.playwright

    def release(self) -> None:
        self.users -= 1
        if not self.users:
            with contextlib.suppress(Exception):
                self.playwright.stop()
            self.playwright = None


driver = Driver()


def launch(playwright: Any, flags: Sequence[str]) -> tuple[Any, list[int]]:
    """A started browser and the ids of its main processes. Raises `MissingExtra` when there is none or it fails."""
    sync_api = need("playwright.sync_api", "build")
    program = find_chromium()
    try:
        browser = playwright.chromium.launch(executable_path=program, args=list(flags), timeout=60_000)
    except sync_api.Error as error:
        if program is None and "Executable doesn't exist" in str(error):
            raise MissingExtra(
                "no Chromium found: install chromium-headless-shell or chromium "
                "(Debian: apt-get install chromium), or run: playwright install chromium-headless-shell"
            ) from error
        raise MissingExtra(f"{program or 'Chromium'} does not start: {first_line(error)}") from error
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return browser, [process["id"] for process in found if process["type"] == "browser"]


@functools.cache
def installed_fonts() -> dict[str, Any]:
    """Families that fontconfig knows and a digest of file names and versions; empty where fc-list is not installed."""
    if not shutil.which("fc-list"):
        return {}
    command = ["fc-list", "--format", "%{family[0]}\t%{style[0]}\t%{fontversion}\n"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    lines = sorted(set(listing.splitlines()))
    return {
        "families": sorted({line.split("\t")[0] for line in lines if line}),
        "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    }


def first_line(error: BaseException) -> str:
    """The first line of what an error says."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
