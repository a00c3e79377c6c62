"""One stretch of the canvas that changed, with what surrounds it, and the questions that all causes ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ...errors import need
from .canvas import Canvas, level
from .finding import BoxPx, Finding, Kind, Subject
from .ink import Page
from .outline import rim
from .regions import grown
from .words import Pieces, is_print, pieces

cv2 = need("cv2", "pixel")

_PICTURE, _FILLED = 24, 0.7  # ours: layout pixels, and share that changed: text leaves most of its box alone
_MARGIN = 40  # ours: pixels of unchanged page around a region, to know what lies behind and beside it


class Region:
    """One stretch of the canvas that changed, with its surroundings."""

    def __init__(self, canvas: Canvas, box: BoxPx, parts: Sequence[BoxPx] = ()) -> None:
        """`parts` are the boxes inside `box` between which nothing changed, where there are several."""
        height, width = canvas.mask.shape
        self.box, self.parts, self.density = box, parts, canvas.density
        self.x, self.y, w, h = grown(box, _MARGIN, width, height)
        view = slice(self.y, self.y + h), slice(self.x, self.x + w)
        self.a, self.b = canvas.before[view], canvas.after[view]
        inside = np.zeros((h, w), bool)
        bx, by = box[0] - self.x, box[1] - self.y
        inside[by : by + box[3], bx : bx + box[2]] = True
        self.mask = canvas.mask[view] & inside
        self.change = np.where(self.mask, level(np.ascontiguousarray(self.a), np.ascontiguousarray(self.b)), 0)
        self.before, self.after = Page(np.ascontiguousarray(self.a)), Page(np.ascontiguousarray(self.b))

    @cached_property
    def pieces(self) -> Pieces:
        """The touched text of both sides, matched."""
        return pieces(self.before, self.after, self.mask)

    @cached_property
    def smooth(self) -> np.ndarray:
        """bool: the changed pixels that are surface on both sides; what text alone never changes."""
        return self.mask & self.before.surface_mask & self.after.surface_mask

    @cached_property
    def is_print(self) -> bool:
        """Whether what was touched is text: letters in rows, not an icon or a picture."""
        x, y, w, h = self.local
        if min(w, h) >= _PICTURE * self.density and float(self.mask[y : y + h, x : x + w].mean()) > _FILLED:
            return False
        return any(is_print(side, self.density) for side in (self.pieces.lines_before, self.pieces.lines_after))

    @property
    def painted(self) -> float:
        """Share of the changed pixels that is `smooth`."""
        return np.count_nonzero(self.smooth) / np.count_nonzero(self.mask)

    @property
    def local(self) -> BoxPx:
        """`box` in the crop."""
        return self.box[0] - self.x, self.box[1] - self.y, self.box[2], self.box[3]

    def part_masks(self, least: float) -> Iterator[np.ndarray]:
        """The changed pixels of each part that holds at least the share `least` of all."""
        total = np.count_nonzero(self.mask)
        for x, y, w, h in self.parts:
            mask = np.zeros_like(self.mask)
            view = slice(y - self.y, y - self.y + h), slice(x - self.x, x - self.x + w)
            mask[view] = self.mask[view]
            if np.count_nonzero(mask) >= least * total:
                yield mask

    def place(self, box: BoxPx | None) -> BoxPx | None:
        """A box of the crop as a box of the canvas."""
        return None if box is None else (box[0] + self.x, box[1] + self.y, box[2], box[3])

    @property
    def subject(self) -> Subject:
        """What kind of thing changed: text if no surface did, else a box; a line if it is thin, a picture if it is
        neither flat nor made of letters."""
        if min(self.box[2:]) <= 4 and max(self.box[2:]) >= 24:
            return "line"
        if self.painted < 0.1 and len(rim(self.mask, self.local)) < 3:
            return "text" if self.is_print else "picture"
        return "box"

    def finding(self, kind: Kind, direction: str, subject: Subject | None = None, **evidence: object) -> Finding:
        """A finding of the whole region on both sides."""
        return Finding(kind, direction, self.box, self.box, subject or self.subject, evidence=evidence)

    def surrounded_by(self, color: np.ndarray, tolerance: float) -> bool:
        """Whether `color` is among the colours around the region, within `tolerance` levels; True if none are."""
        ring = cv2.dilate(self.mask.view(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
        x, y, w, h = self.local
        ring[y : y + h, x : x + w] = False
        if not ring.any():
            return True
        low, high = np.percentile(self.before.ground[ring].astype(float), [10, 90], axis=0)
        return bool(((color >= low - tolerance) & (color <= high + tolerance)).all())

    def colors(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The colours that stand for the change, before and after: the middle of the pixels that changed most."""
        strong = self.change >= 0.8 * self.change.max()
        one, two = (np.median(side[strong], axis=0) for side in (self.a, self.b))
        return tuple(int(v) for v in one), tuple(int(v) for v in two)


def tone(before: tuple[float, ...], after: tuple[float, ...]) -> str:
    """Either "lighter" or "darker": which way the luminance went."""
    red, green, blue = (b - a for a, b in zip(before, after, strict=True))
    return "lighter" if 0.299 * red + 0.587 * green + 0.114 * blue > 0 else "darker"
