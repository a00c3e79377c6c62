"""Boxes in pictures, xywh_px: the target, the region grown around it, and what an edit may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import UsageError
from .patches import RGB, changed_box

MOST_AREA = 0.05
"""An edit stays below this share of the picture (the paper's limit), counted by its region and by its pixels."""
CONTEXT = 2.0
"""A target's region is this much wider and higher than its box (the paper's margin; per side is our reading)."""
LEAST_PIXELS = 16
"""Fewer changed pixels than this are no edit that anybody could see (our choice)."""
LEAST_LEVELS = 24
"""So many of the 256 levels at least `LEAST_PIXELS` pixels differ by, in some channel (our choice; the faintest edit of
the shipped sample has over 800 such pixels)."""


class Box(NamedTuple):
    """A box in whole pixels, `x`, `y` the top-left corner."""

    x: int
    y: int
    w: int
    h: int

    @property
    def area(self) -> int:
        return self.w * self.h

    @property
    def center(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    @property
    def slices(self) -> tuple[slice, slice]:
        """Index of the box in an array of shape (height, width, …)."""
        return slice(self.y, self.y + self.h), slice(self.x, self.x + self.w)

    def as_dict(self) -> dict[str, float]:
        return {"x": float(self.x), "y": float(self.y), "w": float(self.w), "h": float(self.h)}

    def meets(self, other: Box) -> bool:
        apart = self.x >= other.x + other.w or other.x >= self.x + self.w
        return not (apart or self.y >= other.y + other.h or other.y >= self.y + self.h)


def read_box(value: Any, size: tuple[int, int], what: str = "box") -> Box:
    """A box given as four numbers or ``{x, y, w, h}`` in pixels. Raises `UsageError` unless it lies in the picture.

    >>> read_box([10, 20, 30.4, 40], (100, 100))
    Box(x=10, y=20, w=30, h=40)
    """
    numbers = [value.get(key) for key in "xywh"] if isinstance(value, Mapping) else value
    if not isinstance(numbers, Sequence) or isinstance(numbers, str) or len(numbers) != 4:
        raise UsageError(f"{what}: four numbers x, y, w, h in pixels are expected, found {value!r}")
    if not all(isinstance(n, int | float) and not isinstance(n, bool) and n == n and abs(n) < 1e9 for n in numbers):
        raise UsageError(f"{what}: four numbers x, y, w, h in pixels are expected, found {value!r}")
    box = Box(*(round(n) for n in numbers))
    if box.w < 1 or box.h < 1 or box.x < 0 or box.y < 0 or box.x + box.w > size[0] or box.y + box.h > size[1]:
        raise UsageError(f"{what}: {list(box)} is no box inside the picture of {size[0]} x {size[1]}")
    return box


def grow(box: Box, size: tuple[int, int], factor: float = CONTEXT) -> Box:
    """`box` made `factor` times as wide and as high about its centre, clipped to a picture of `size` (width, height).

    >>> grow(Box(100, 100, 40, 20), (1000, 1000))
    Box(x=80, y=90, w=80, h=40)
    >>> grow(Box(0, 0, 40, 20), (1000, 1000))
    Box(x=0, y=0, w=60, h=30)
    """
    (cx, cy), width, height = box.center, box.w * factor, box.h * factor
    left, top = max(0, round(cx - width / 2)), max(0, round(cy - height / 2))
    right, bottom = min(size[0], round(cx + width / 2)), min(size[1], round(cy + height / 2))
    return Box(left, top, right - left, bottom - top)


class Change(NamedTuple):
    """What an edit changed: the smallest box around it, and its share of the picture's pixels."""

    box: Box
    fraction: float


def check_edit(base: RGB, edited: RGB, region: Box, *, most_area: float = MOST_AREA) -> Change:
    """What `edited` changed of `base`. Raises `UsageError` when the edit must not be used: it left its region, changed
    nothing that can be seen, or takes `most_area` of the picture or more (by its region or by its changed pixels)."""
    whole = base.shape[0] * base.shape[1]
    if region.area / whole >= most_area:
        raise UsageError(
            f"the region {list(region)} takes {region.area / whole:.1%} of the picture, {most_area:.0%} or more"
        )
    box = changed_box(base, edited)
    if box is None:
        raise UsageError("the editor changed nothing")
    differs = (base != edited).any(axis=2)
    outside = int(differs.sum()) - int(differs[region.slices].sum())
    if outside:
        raise UsageError(f"the editor changed {outside} pixels outside its region {list(region)}")
    changed = int(np.count_nonzero(differs))
    if changed < LEAST_PIXELS:
        raise UsageError(f"the editor changed {changed} pixels, fewer than can be seen")
    check_visible(base[region.slices], edited[region.slices])
    return Change(Box(*box), changed / whole)


def check_visible(before: RGB, after: RGB) -> None:
    """Raises `UsageError` unless `LEAST_PIXELS` pixels differ by `LEAST_LEVELS` or more between two pictures."""
    apart = np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=2)
    clear = int(np.count_nonzero(apart >= LEAST_LEVELS))
    if clear < LEAST_PIXELS:
        raise UsageError(
            f"the edit is too faint to be seen: {clear} pixels differ by {LEAST_LEVELS} levels or more, "
            f"{LEAST_PIXELS} are needed"
        )
