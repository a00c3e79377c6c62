"""A page on the stage: opened without its scripts, checked, and ready for one change after the other."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..browser import Browser, PageError
from . import gate
from .change import Change, rules
from .corpus import CorpusPage

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_BYTES = 40 * 2**20
MOST_ELEMENTS = 20_000
SETTLE_MS = 120
"""Limits of ours: larger pages cost minutes; what moves slower than this is caught when the page is undone."""


@functools.cache
def script() -> str:
    """The in-page library. It ends with a plain value, or Playwright would call what it evaluates to."""
    folder = resources.files(__package__) / "js"
    return "\n".join((folder / name).read_text("utf-8") for name in ("base.js", "scan.js", "mutate.js")) + "\n;0"


class Stage:
    """One open page. `first` is its capture as PNG bytes before any change, `picture` the same decoded."""

    def __init__(self, browser: Browser, tab: Page, page: CorpusPage, gate_name: str) -> None:
        self.gate = gate_name
        self.browser = browser
        self.tab = tab
        self.page = page
        self.first = b""
        self.picture: Any = None
        self.facts: dict[str, Any] = {}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of a capture in device pixels."""
        return self.picture.shape[1], self.picture.shape[0]

    def load(self) -> None:
        """Nothing: the page is shown, still, and its content passes the page filters. Raises `PageError` otherwise."""
        file, root = self.page.file, self.page.root
        try:
            if file.stat().st_size > MOST_BYTES:
                raise PageError("too large", f"{file.stat().st_size / 2**20:.0f} MiB")
        except OSError as error:
            raise PageError("unreadable", str(error)) from error
        self.browser.open(self.tab, file, root)
        self.tab.evaluate(script())
        self.facts = self._call("page")
        if self.facts["elements"] > MOST_ELEMENTS:
            raise PageError("too large", f"{self.facts['elements']} elements")
        for name in self.facts["moving"]:
            raise PageError(f"{name} in the viewport")
        self.first = self.browser.capture(self.tab)
        self.tab.wait_for_timeout(SETTLE_MS)
        if self.browser.capture(self.tab) != self.first:
            raise PageError("in motion")
        self.picture = gate.decode(self.first)
        if gate.is_near_blank(self.picture):
            raise PageError("near-blank")

    def scan(self) -> dict[str, Any]:
        """Facts of every possible target, and how many elements are unfit for what reason."""
        found: dict[str, Any] = self._call("scan")
        self._call("snapshot")
        return found

    def dry_run(self, operator: str, jobs: Sequence[tuple[int, Sequence[Change]]], enough: int) -> dict[str, Any]:
        """The first change of each element that the layout does not speak against, for up to `enough` elements."""
        scripts = [[element, [change.script() for change in changes]] for element, changes in jobs]
        return self._call("dryRun", scripts, self._rules(operator), enough)  # type: ignore[no-any-return]

    def apply(self, selector: str, operator: str, change: Mapping[str, Any]) -> dict[str, Any]:
        """Box, own border box (both CSS px) and whether the selector still names the element; the change stands."""
        done = self._call("apply", selector, dict(change), self._rules(operator))
        if done is None:
            raise PageError("selector", f"{selector} does not name exactly one element")
        return done  # type: ignore[no-any-return]

    def _rules(self, operator: str) -> dict[str, bool]:
        return rules(operator) | {"container": self.gate == "container"}

    def _call(self, name: str, *arguments: Any) -> Any:
        # As one string each way: Playwright's own packing of nested lists costs more than the layout work.
        answer = self.tab.evaluate(
            f"(text) => JSON.stringify(__diffspot.{name}(...JSON.parse(text))) ?? 'null'", json.dumps(arguments)
        )
        return json.loads(answer)

    def undo(self) -> None:
        self._call("undo")

    def capture(self) -> bytes:
        return self.browser.capture(self.tab)

    def is_clean(self) -> bool:
        """Whether the page looks exactly as at first."""
        return self.capture() == self.first

    def clean(self) -> None:
        """Nothing: the page looks as at first again, by painting it anew or else loading it anew."""
        self._call("repaint")
        if self.is_clean():
            return
        first = self.first
        self.load()
        if self.first != first:
            raise PageError("two loads differ")
        self.scan()


@contextlib.contextmanager
def on_stage(browser: Browser, page: CorpusPage, *, seconds: float, gate_name: str = "strict") -> Iterator[Stage]:
    """The loaded `Stage` of `page`; it may take up to `seconds` in all. Raises `PageError` when it cannot be used."""
    with browser.page(seconds=seconds) as tab:
        stage = Stage(browser, tab, page, gate_name)
        stage.load()
        yield stage


def capture_twice(browser: Browser, page: CorpusPage, *, seconds: float) -> tuple[bytes, bytes]:
    """Captures of two independent loads of `page`, each in a fresh page of its own storage. They may differ."""
    shots = []
    for _ in range(2):
        with on_stage(browser, page, seconds=seconds) as stage:
            shots.append(stage.first)
    return shots[0], shots[1]
