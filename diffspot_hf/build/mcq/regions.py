"""Boxes in pictures, xywh_px: the target, the region grown around it, and what an edit may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from ...errors import UsageError
from .colours import lab
from .patches import RGB, changed_box

MOST_AREA = 0.05
"""An edit stays below this share of the picture (the paper's limit), counted by its region and by its pixels."""
CONTEXT = 2.0
"""A target's region is this much wider and higher than its box (the paper's margin; per side is our reading)."""
LEAST_PIXELS = 16
"""Fewer changed pixels than this are no edit that anybody could see (our choice)."""
CLEAR, BLUR, NEAR = 10.0, 1.5, 2
"""Of two pictures blurred by `BLUR` pixels, a pixel differs clearly when none of the other one within `NEAR` pixels
lies within `CLEAR` in Lab: grain, compression, resampling and a shift that nobody sees do not count (our choice)."""
LEAST_SEEN = 0.04
"""Clearly different pixels that an edit needs, as a share of the target's box (our choice). Mirroring a disc or a block
makes up to 0.01 of them, the faintest edit of the shipped sample 0.13."""


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


def read_box(value: Any, size: tuple[int, int] | None, what: str = "box") -> Box:
    """A box given as four numbers or ``{x, y, w, h}`` in pixels. Raises `UsageError` unless it lies in the picture (of
    `size`, None where that is not known yet).

    >>> read_box([10, 20, 30.4, 40], (100, 100))
    Box(x=10, y=20, w=30, h=40)
    """
    numbers = [value.get(key) for key in "xywh"] if isinstance(value, Mapping) else value
    if not isinstance(numbers, Sequence) or isinstance(numbers, str) or len(numbers) != 4:
        raise UsageError(f"{what}: four numbers x, y, w, h in pixels are expected, found {value!r}")
    if not all(isinstance(n, int | float) and not isinstance(n, bool) and n == n and abs(n) < 1e9 for n in numbers):
        raise UsageError(f"{what}: four numbers x, y, w, h in pixels are expected, found {value!r}")
    box = Box(*(round(n) for n in numbers))
    outside = size is not None and (box.x + box.w > size[0] or box.y + box.h > size[1])
    if outside or min(box.w, box.h) < 1 or min(box.x, box.y) < 0:
        picture = f"the picture of {size[0]} x {size[1]}" if size else "a picture"
        raise UsageError(f"{what}: {list(box)} is no box inside {picture}")
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
    check_visible(base[region.slices], edited[region.slices], region)
    return Change(Box(*box), changed / whole)


def check_visible(before: RGB, after: RGB, region: Box) -> None:
    """Raises `UsageError` unless a person can see what differs; `region` is that around the target."""
    seen = int(clear_change(before, after).sum())
    target = region.area / CONTEXT**2
    if seen < max(LEAST_PIXELS, LEAST_SEEN * target):
        raise UsageError(
            f"the edit is too faint to be seen: {seen} pixels differ clearly, {seen / target:.1%} of the target's "
            f"size; at least {LEAST_PIXELS} and {LEAST_SEEN:.0%} are needed"
        )


def clear_change(before: RGB, after: RGB) -> NDArray[np.bool_]:
    """Which pixels differ so that a person sees it (see `CLEAR`), shape (height, width)."""
    first, second = (
        lab(np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(BLUR)))) for picture in (before, after)
    )
    apart: NDArray[np.bool_] = np.maximum(_away(first, second), _away(second, first)) > CLEAR
    return apart


def _away(from_: NDArray[Any], to: NDArray[Any]) -> NDArray[Any]:
    """How far each pixel of the one picture is from the most alike one within `NEAR` pixels in the other."""
    height, width = from_.shape[:2]
    wide = np.pad(to, ((NEAR, NEAR), (NEAR, NEAR), (0, 0)), mode="edge")
    shifts = [(y, x) for y in range(2 * NEAR + 1) for x in range(2 * NEAR + 1)]
    return reduce(np.minimum, (np.linalg.norm(from_ - wide[y : y + height, x : x + width], axis=2) for y, x in shifts))
