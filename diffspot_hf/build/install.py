"""Finds a Chromium and the fonts of the builders, and installs them where it can.

Run it as ``python -m diffspot_hf.build.install``. A browser on PATH is used as it is. Else, as root on Debian, apt
installs it; else Playwright's own install is tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from ..errors import DiffspotError, MissingExtra
from .chromium import driver, find_chromium

CHROMIUM = ("chromium", "chromium-headless-shell")
FONTS = {
    "fonts-liberation": "Liberation Sans",
    "fonts-noto-core": "Noto Sans",
    "fonts-inter": "Inter",
    "fonts-open-sans": "Open Sans",
    "fonts-roboto-unhinted": "Roboto",
    "fonts-ipafont-gothic": "IPAGothic",
    "fonts-wqy-microhei": "WenQuanYi Micro Hei",
}
"""Debian package → a family it brings. Pixels depend on fonts: the sample was rendered with exactly these."""


def ensure() -> list[str]:
    """Lines that say what was found or installed; raises `MissingExtra` if no browser can be had."""
    said = []
    missing_fonts = [package for package, family in FONTS.items() if not _has_font(family)]
    browser = find_chromium() or _playwright_chromium()
    if (missing_fonts or not browser) and _can_apt():
        packages = [*(CHROMIUM if not browser else ()), *missing_fonts]
        print(f"installing {', '.join(packages)} with apt", flush=True)
        _run(["apt-get", "update", "-qq"])
        _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages])
        browser = find_chromium()
        missing_fonts = [package for package, family in FONTS.items() if not _has_font(family)]
    if not browser:
        print("installing Playwright's Chromium", flush=True)
        _run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
        browser = _playwright_chromium()
    if not browser:
        raise MissingExtra(
            "no Chromium: none on PATH (chromium-headless-shell, chromium, google-chrome), and neither apt nor "
            "Playwright could install one; install Chromium by hand and try again"
        )
    said.append(f"Chromium: {browser}")
    missing = f"missing {', '.join(missing_fonts)}, pages will look different"
    said.append(f"fonts: {missing if missing_fonts else 'all there'}")
    return said


def _playwright_chromium() -> str | None:
    """The browser that Playwright installed for itself, if it is there."""
    playwright = driver.acquire()
    try:
        path = str(playwright.chromium.executable_path)
    finally:
        driver.release()
    return path if os.path.exists(path) else None


def _can_apt() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _has_font(family: str) -> bool:
    tool = shutil.which("fc-list")
    if tool is None:
        return False
    listed = subprocess.run([tool, ":", "family"], capture_output=True, text=True, check=False).stdout
    return any(family in line.split(",") for line in listed.splitlines())


def _run(command: Sequence[str], *, check: bool = True) -> bool:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if check and done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise MissingExtra(f"{' '.join(command[:2])} failed: {last}")
    return done.returncode == 0


def main() -> int:
    try:
        for line in ensure():
            print(line)
    except DiffspotError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
