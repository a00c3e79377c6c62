"""A living page loaded and brought to rest: everything it does by itself has happened, and nothing goes on."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..browser import PageError

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLOCK = datetime(2025, 3, 12, 9, 30, tzinfo=UTC)
"""The time that pages see when they load, so that calendars and greetings are the same in every freeze."""
PATIENCE_MS = 1500
JUMPS_MS = (50, 450, 1000)
STRETCHES_MS = (100, 150, 750)
LOOKS_MS = (0, 250, 1500, 250, 3000, 250)
"""How far the pages' clock is moved while they settle: in jumps, frame by frame, and then from look to look until two
are the same."""


def hold_clock(page: Page) -> None:
    """Nothing: the clock of what `page` will show stands until `settle` moves it.

    What the page shows then does not depend on how fast it loaded.
    """
    page.clock.install(time=CLOCK)
    page.clock.pause_at(CLOCK + timedelta(seconds=1))


def load(page: Page, url: str, most_text: int, leaves: Callable[[], bool]) -> None:
    """Nothing: the page has loaded. Raises `PageError` when it cannot, grows too large, or `leaves` for another page.

    A navigation that is refused never ends, so it is not waited for.
    """
    response = page.goto(url, wait_until="commit")
    if response is None or response.status >= 400:
        raise PageError("unreadable", f"{url}: {'no answer' if response is None else response.status}")
    for turn in itertools.count():
        loaded = page.evaluate("() => document.readyState") == "complete"
        _check_size(page, most_text)
        if loaded or leaves():
            break
        page.wait_for_timeout(20)
        if turn * 20 > PATIENCE_MS:  # some pages wait for timers of their own before they have loaded
            _advance(page.clock.run_for, 100)
    page.wait_for_timeout(30)  # a redirect that was asked for at load shows itself now
    if leaves():
        raise PageError("redirects", "the page asks for another page by itself")
    page.evaluate("() => document.fonts.ready.then(() => null)")


def settle(page: Page, most_text: int) -> None:
    """Nothing: the page has shown all it shows by itself. Raises `PageError` when it goes on changing or growing.

    `most_text` characters are the most it may hold. The page's clock is moved, so that its own delays and animations
    take no time of ours: first in jumps (a timer fires at most once a jump), then frame by frame until two looks are
    the same.
    """
    for step in JUMPS_MS:
        _advance(page.clock.fast_forward, step)
        _let_happen(page, most_text, 20)
    page.evaluate(_SCROLL_THROUGH)
    for stretch in STRETCHES_MS:  # short at first, to stop in time where a page grows
        _advance(page.clock.run_for, stretch)
        _let_happen(page, most_text, 20)
    seen = ""
    for stretch in LOOKS_MS:
        _advance(page.clock.run_for, stretch)
        _let_happen(page, most_text)
        page.evaluate(_WAIT_FOR_PICTURES)
        looks = page.evaluate(_LOOKS)
        if looks == seen:
            return
        seen = looks
    raise PageError("never settles", "the document goes on changing")


def _advance(move: Callable[[int], None], by: int) -> None:
    # What a page's own timers raise comes out here; it is that page's affair. That it is gone, the next call says.
    with contextlib.suppress(Exception):
        move(by)


def _let_happen(page: Page, most_text: int, real_ms: int = 60) -> None:
    _check_size(page, most_text)  # before the browser lays out what was added
    # Real time, for what does not follow the page's clock: pictures, fonts, fetches, style transitions.
    page.wait_for_timeout(real_ms)
    _check_size(page, most_text)
    page.evaluate(_FINISH_MOTION)


def _check_size(page: Page, most_text: int) -> None:
    # Node by node and no further than needed: joining the text of a page that grows is what makes it slow.
    if page.evaluate(_HAS_MORE_TEXT, most_text):
        raise PageError("too large", f"more than {most_text} characters of text")


# Motion that ends is taken to its end and written down, motion without end is taken back to its start.
_FINISH_MOTION = """() => {
  for (const motion of document.getAnimations()) {
    try {
      const timing = motion.effect.getComputedTiming();
      if (timing.endTime === Infinity) { motion.cancel(); continue; }
      motion.finish();
      if (timing.fill === 'forwards' || timing.fill === 'both') motion.commitStyles();
    } catch { /* of a pseudo-element, or of nothing */ }
  }
}"""
_HAS_MORE_TEXT = """(most) => {
  const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  let sum = 0;
  while (sum <= most && texts.nextNode()) sum += texts.currentNode.length;
  return sum > most;
}"""
_SCROLL_THROUGH = """() => {
  const steps = Math.min(20, Math.ceil(document.documentElement.scrollHeight / innerHeight));
  for (let i = 1; i <= steps; i++) { scrollTo(0, i * innerHeight); dispatchEvent(new Event('scroll')); }
  scrollTo(0, 0); dispatchEvent(new Event('scroll'));
}"""
_WAIT_FOR_PICTURES = """() => Promise.all([...document.images].filter((i) => !i.complete && i.loading !== 'lazy')
  .map((i) => i.decode().catch(() => null))).then(() => document.fonts.ready).then(() => null)"""
_LOOKS = """async () => {
  const drawn = (canvas) => { try { return canvas.toDataURL(); } catch { return ''; } };
  const drawings = [...document.querySelectorAll('canvas')].map(drawn);
  const text = document.documentElement.outerHTML + drawings.join();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].join();
}"""
