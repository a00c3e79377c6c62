"""One screen in the browser: changes are applied singly, measured, photographed, taken back, then shown together.

Boxes come from the DOM alone, before any pixel is compared; pixels only decide whether a change is kept.
"""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import need
from ..browser import Browser, PageError
from .changes import Change
from .screens import FOLDER, SCALE, SIZE, Screen

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTH, HEIGHT = SIZE[0] * SCALE, SIZE[1] * SCALE
PAD = 1.0
"""CSS pixels added on each side of a measured box, for antialiasing and ink beyond the font's own box (our choice)."""
MIN_LEVELS, MIN_PIXELS = 24, 40
"""A change counts as visible when at least so many device pixels differ by at least so many levels (our choice)."""
MIN_FIT = 0.2
"""IoU that a box must have with the smallest one around the pixels that differ, else who marks just those would miss it
(our choice: twice the overlap that a match needs)."""
GAP = 6
"""Device pixels that stay free between the boxes of two issues of one screen, so that they are separate issues."""

Edges = tuple[int, int, int, int]
"""Left, top, right, bottom in device pixels of the screen; right and bottom are exclusive."""
Pixels = Any
"""Array of shape (HEIGHT, WIDTH, 3), uint8, RGB."""


@dataclass(frozen=True)
class Shown:
    """A change that was verified on its screen: where it is on both sides, and the changed pixels themselves."""

    change: Change
    edges_a: Edges
    edges_b: Edges
    changed_pixels: int
    patches: tuple[tuple[Edges, Pixels], ...] = field(repr=False, compare=False)

    def meets(self, other: Shown) -> bool:
        """Whether any box of this change comes closer than `GAP` to a box of the other."""
        mine, theirs = (self.edges_a, self.edges_b), (other.edges_a, other.edges_b)
        return any(_near(a, b) for a in mine for b in theirs)


class Stage:
    """A screen opened in `page`. `rejected` counts by reason the changes that were tried and not kept."""

    def __init__(self, browser: Browser, page: Page, screen: Screen) -> None:
        self.page, self.screen = page, screen
        browser.open(page, screen.file, FOLDER)
        page.evaluate(files(__package__).joinpath("stage.js").read_text(encoding="utf-8"))
        self.parts: list[dict[str, Any]] = page.evaluate("() => stage.describe()")
        self.rejected: Counter[str] = Counter()
        self.tried = 0
        self._session = page.context.new_cdp_session(page)
        self._first = self._capture()
        if self._capture() != self._first:
            raise PageError("moving", f"two captures of {screen.name} differ")
        self.reference = decode(self._first)

    def try_change(self, change: Change) -> Shown | None:
        """`change` as it shows, or None when it is invisible, hidden in part, small in its box, or reaches outside."""
        self.tried += 1
        was, now = self.parts[change.part], self._apply(change)
        before, after = was["extent"], now["extent"]
        edges_a = to_edges(before)
        edges_b = to_edges(after) if after else edges_a  # what is missing has its place as its box
        if change.family == "state":  # a state may paint less than the element: both sides get the larger box
            edges_a = edges_b = _hull(edges_a, edges_b)
        picture = decode(self._capture())
        self._undo([change])
        difference = np.abs(picture.astype(np.int16) - self.reference).max(axis=2)
        inside = np.zeros((HEIGHT, WIDTH), dtype=bool)
        for left, top, right, bottom in (edges_a, edges_b):
            inside[top:bottom, left:right] = True
        # What a move or growth pushes under an edge or a neighbour is another defect than the one that is told.
        if now["cut"] > was["cut"] + 0.5 or now["covered"] > was["covered"]:
            self.rejected["hidden in part"] += 1
            return None
        if (difference[~inside] > 0).any():
            self.rejected["outside"] += 1
            return None
        if np.count_nonzero(difference >= MIN_LEVELS) < MIN_PIXELS:
            self.rejected["invisible"] += 1
            return None
        tight = _around(difference > 0)
        if max(_iou(tight, edges) for edges in (edges_a, edges_b)) < MIN_FIT:
            self.rejected["small in its box"] += 1
            return None
        patches = tuple((edges, _crop(picture, edges).copy()) for edges in dict.fromkeys((edges_a, edges_b)))
        return Shown(change, edges_a, edges_b, int(np.count_nonzero(difference)), patches)

    def show(self, chosen: Sequence[Shown]) -> Pixels | None:
        """The implementation screen with all of `chosen`, or None when they do more than each does alone."""
        for shown in chosen:
            self._apply(shown.change)
        picture = decode(self._capture())
        self._undo([shown.change for shown in reversed(chosen)])
        expected = self.reference.copy()
        for shown in chosen:
            for edges, patch in shown.patches:
                _crop(expected, edges)[:] = patch
        if not np.array_equal(picture, expected):
            self.rejected["together"] += 1
            return None
        return picture

    def _capture(self) -> bytes:
        return photograph(self._session)

    def _apply(self, change: Change) -> dict[str, Any]:
        """Applies `change`; where its part is painted now, and how much of it is cut off and covered."""
        found: dict[str, Any] = self.page.evaluate(
            "([part, change]) => stage.apply(part, change)", [change.part, change.change]
        )
        return found

    def _undo(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self.page.evaluate("part => stage.undo(part)", change.part)
        if self._capture() != self._first:
            operators = ", ".join(change.operator for change in changes)
            raise PageError("undo", f"{self.screen.name} looks different after {operators} was taken back")


def to_edges(extent: Sequence[float]) -> Edges:
    """Device-pixel edges of an extent in CSS pixels (left, top, right, bottom), padded, rounded outwards, clipped."""
    left, top, right, bottom = extent
    return (
        max(0, math.floor((left - PAD) * SCALE)),
        max(0, math.floor((top - PAD) * SCALE)),
        min(WIDTH, math.ceil((right + PAD) * SCALE)),
        min(HEIGHT, math.ceil((bottom + PAD) * SCALE)),
    )


def _around(changed: Pixels) -> Edges:
    """The smallest box around the true pixels, of which there are some."""
    rows, columns = np.nonzero(changed)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def _iou(a: Edges, b: Edges) -> float:
    shared = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return shared / (_area(a) + _area(b) - shared)


def _area(edges: Edges) -> int:
    return (edges[2] - edges[0]) * (edges[3] - edges[1])


def photograph(session: Any, scale: int = SCALE) -> bytes:
    """The screen as PNG bytes, `scale` device pixels per CSS pixel; `session` is a CDP session of its page.

    Without a clip that names the scale, the protocol answers with CSS pixels whatever the page's own device scale is.
    """
    clip = {"x": 0, "y": 0, "width": SIZE[0], "height": SIZE[1], "scale": scale}
    shot = session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True, "clip": clip})
    return base64.b64decode(shot["data"])


def decode(png: bytes) -> Pixels:
    """The RGB pixels of a capture."""
    cv2 = need("cv2", "build")
    return cv2.cvtColor(cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


def _crop(pixels: Pixels, edges: Edges) -> Pixels:
    left, top, right, bottom = edges
    return pixels[top:bottom, left:right]


def _hull(a: Edges, b: Edges) -> Edges:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def _near(a: Edges, b: Edges) -> bool:
    return a[0] < b[2] + GAP and b[0] < a[2] + GAP and a[1] < b[3] + GAP and b[1] < a[3] + GAP
