"""One Chromium for all tests of this folder, and a stage for pages that a test writes down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from diffspot_hf.build.browser import Browser
from diffspot_hf.build.web.corpus import CorpusPage
from diffspot_hf.build.web.stage import Stage, on_stage

HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Test page</title>"
    "<style>body{margin:0;font:16px/20px 'DejaVu Sans',sans-serif;color:#222;background:#fff}</style>"
    "<h1 style='position:absolute;left:40px;top:640px;margin:0'>Harbour news of the week</h1>"
    "<p style='position:absolute;left:40px;top:700px;width:900px;margin:0'>Ferries leave the old harbour every hour. "
    "Tickets are sold on board, children travel for half the price.</p>"
)
"""Every test page has some ink outside of what a test looks at, so that it is no blank page."""

Open = Callable[..., AbstractContextManager[Stage]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.fixture(scope="session")
def open_page(browser: Browser) -> Open:
    """``with open_page(folder, body) as opened:`` writes a page into `folder` and shows it."""

    @contextmanager
    def opened(
        folder: Path, body: str, *, head: str = HEAD, gate: str = "strict", seconds: float = 30
    ) -> Iterator[Stage]:
        file = folder / "page.html"
        file.write_text(head + body, encoding="utf-8")
        with on_stage(browser, CorpusPage("page", file, folder, "tests"), seconds=seconds, gate_name=gate) as found:
            yield found

    return opened


@pytest.fixture
def stage(open_page: Open, tmp_path: Path) -> Open:
    """``with stage(body) as opened:`` shows a page with that body."""
    return partial(open_page, tmp_path)
