"""What a stretch of page is made of: surfaces (flat or smooth), and ink on them (text, lines, icons).

Pages are drawn, not photographed: a surface is exactly flat or changes by a level or two a pixel. What is left over is
ink; its colour is told against the nearest surface, so that a label in a badge is ink on the badge, not on the page.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import need
from .canvas import Pixels, level
from .finding import BoxPx

cv2 = need("cv2", "pixel")

# All four are ours, found on rendered pages.
_SMOOTH = 4  # levels between neighbours inside a surface; gradients step by one or two
_SURFACE = 200  # pixels of smooth core that make a surface; the strokes of an ordinary heading have less
_INK = 10  # levels against the surface that count as ink
_COVERED = 0.35  # of the ink level around it: below this, a pixel is the soft edge of a stroke


@dataclass(frozen=True)
class Glyph:
    """One connected piece of ink: a letter, an icon, a line. `cover` is uint8 (h, w), 255 where fully inked."""

    box: BoxPx
    cover: np.ndarray

    @property
    def right(self) -> int:
        return self.box[0] + self.box[2]

    @property
    def bottom(self) -> int:
        return self.box[1] + self.box[3]


@dataclass(frozen=True)
class Surface:
    """One smooth area: its box (`xywh_px`), its pixel count, and its middle colour."""

    box: BoxPx
    area: int
    color: tuple[int, int, int]


class Page:
    """A crop of one side, taken apart on demand."""

    def __init__(self, crop: Pixels, thick: int = 3) -> None:
        """`thick`: lines up to this many pixels (and one more) are ink however long they are."""
        self.crop = crop
        self.thick = thick
        self.height, self.width = crop.shape[:2]

    @cached_property
    def _core(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels (int32, 0 = none) and statistics of the smooth areas large enough to be surfaces."""
        crop = self.crop
        smooth = np.ones((self.height, self.width), bool)
        across = level(crop[:, 1:], crop[:, :-1]) > _SMOOTH
        down = level(crop[1:], crop[:-1]) > _SMOOTH
        smooth[:, 1:] &= ~across
        smooth[:, :-1] &= ~across
        smooth[1:] &= ~down
        smooth[:-1] &= ~down
        core = cv2.erode(
            smooth.view(np.uint8), np.ones((self.thick, self.thick), np.uint8), borderType=cv2.BORDER_REPLICATE
        )
        _, labels, stats, _ = cv2.connectedComponentsWithStats(core, connectivity=4)
        small = np.flatnonzero(stats[:, cv2.CC_STAT_AREA] < _SURFACE)
        small = np.append(small, 0)
        labels[np.isin(labels, small)] = 0
        return labels, stats

    @cached_property
    def surface_mask(self) -> np.ndarray:
        """bool (height, width): the pixels of surfaces."""
        return np.asarray(self._core[0] > 0)

    @cached_property
    def ground(self) -> Pixels:
        """The surface under each pixel: its own colour where it is one, else that of the nearest surface pixel."""
        is_surface = self.surface_mask
        if is_surface.all():
            return self.crop
        if not is_surface.any():
            return np.broadcast_to(np.median(self.crop.reshape(-1, 3), axis=0).astype(np.uint8), self.crop.shape)
        _, nearest = cv2.distanceTransformWithLabels(
            (~is_surface).view(np.uint8), cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL
        )
        colors = np.zeros((int(nearest.max()) + 1, 3), np.uint8)
        colors[nearest[is_surface]] = self.crop[is_surface]
        return np.asarray(colors[nearest])

    @cached_property
    def ink(self) -> np.ndarray:
        """uint8 (height, width): how far each pixel is from the surface under it, largest channel."""
        return level(self.crop, np.ascontiguousarray(self.ground))

    @cached_property
    def cover(self) -> np.ndarray:
        """float32 (height, width), 0 to 1: the share of each pixel that ink covers, whatever the ink's contrast."""
        ink = self.ink
        around = cv2.dilate(ink, np.ones((9, 9), np.uint8))
        return np.where(ink >= _INK, ink / np.maximum(around, 1).astype(np.float32), 0).astype(np.float32)

    @cached_property
    def surfaces(self) -> list[Surface]:
        labels, stats = self._core
        found = []
        for label in np.unique(labels):
            if label == 0:
                continue
            x, y, w, h, area = (int(v) for v in stats[label])
            inside = self.crop[y : y + h, x : x + w][labels[y : y + h, x : x + w] == label]
            middle = np.median(inside, axis=0)
            # The core is the smooth area less its own rim (one pixel by the neighbour rule, the rest eroded).
            rim = 1 + self.thick // 2
            box = (max(0, x - rim), max(0, y - rim), min(self.width, x + w + rim), min(self.height, y + h + rim))
            box = (box[0], box[1], box[2] - box[0], box[3] - box[1])
            found.append(Surface(box, area, (int(middle[0]), int(middle[1]), int(middle[2]))))
        return found

    @cached_property
    def glyphs(self) -> list[Glyph]:
        """The pieces of ink, dots joined to their letters, in no particular order."""
        cover = self.cover
        _, labels, stats, _ = cv2.connectedComponentsWithStats((cover >= _COVERED).view(np.uint8), connectivity=8)
        keep = np.flatnonzero(stats[1:, cv2.CC_STAT_AREA] >= 2) + 1
        boxes = stats[keep, :4].astype(int)
        found = []
        for group in _with_dots(boxes):
            (x, y), (right, bottom) = boxes[group, :2].min(axis=0), (boxes[group, :2] + boxes[group, 2:]).max(axis=0)
            view = slice(y, bottom), slice(x, right)
            mine = labels[view] == keep[group[0]]
            for index in group[1:]:
                mine |= labels[view] == keep[index]
            piece = np.where(mine, cover[view] * 255, 0).astype(np.uint8)
            found.append(Glyph((int(x), int(y), int(right - x), int(bottom - y)), piece))
        return found


def _with_dots(boxes: np.ndarray) -> list[list[int]]:
    """Indices of `boxes` (n, 4; `xywh_px`) in lists, each a letter with the dots and accents over or under it."""
    heads: dict[int, list[int]] = {index: [index] for index in range(len(boxes))}
    if not len(boxes):
        return []
    x, y, w, h = boxes.T
    # Ours: a dot or accent is lower than most letters, and small outright.
    for dot in np.flatnonzero((h <= np.minimum(12, 0.6 * np.median(h[h > 4]) if (h > 4).any() else 12)) & (w <= 14)):
        dx, dy, dw, dh = boxes[dot]
        inside = np.minimum(x + w, dx + dw) - np.maximum(x, dx)
        gap = np.maximum(dy - (y + h), y - (dy + dh))
        near = (gap >= 0) & (gap <= np.maximum(2, 0.25 * h)) & (inside >= 0.6 * dw)
        near &= (dh <= h / 2) & (dw <= 1.2 * w) & (h <= 90) & (w <= 2 * h)
        near[dot] = False
        if near.any():
            head = int(np.flatnonzero(near)[np.argmin(gap[near])])
            if head in heads and dot in heads:
                heads[head] += heads.pop(int(dot))
    return list(heads.values())
