"""Boxes: surfaces that end somewhere, and which of one side is which of the other."""

from __future__ import annotations

from .finding import BoxPx
from .ink import Page


def resized(before: Page, after: Page, shape: tuple[int, ...]) -> tuple[BoxPx, BoxPx] | None:
    """The largest surface that changed its size, as its box on either side (`xywh_px`); None if none did.

    `shape` is that of the crop. A surface that reaches the rim of the crop on opposite sides is ground, not a box.
    """
    best: tuple[BoxPx, BoxPx] | None = None
    for one in before.surfaces:
        if _is_ground(one.box, shape):
            continue
        twin = max(after.surfaces, key=lambda two: _common(one.box, two.box), default=None)
        if twin is None or _is_ground(twin.box, shape) or _common(one.box, twin.box) < 0.4:
            continue
        if max(abs(a - b) for a, b in zip(one.color, twin.color, strict=True)) > 32:
            continue
        if one.box[2:] == twin.box[2:]:
            continue
        if best is None or one.box[2] * one.box[3] > best[0][2] * best[0][3]:
            best = (one.box, twin.box)
    return best


def _is_ground(box: BoxPx, shape: tuple[int, ...]) -> bool:
    x, y, w, h = box
    return (x <= 0 and x + w >= shape[1]) or (y <= 0 and y + h >= shape[0])


def _common(one: BoxPx, two: BoxPx) -> float:
    """Intersection over union of two `xywh_px` boxes."""
    width = min(one[0] + one[2], two[0] + two[2]) - max(one[0], two[0])
    height = min(one[1] + one[3], two[1] + two[3]) - max(one[1], two[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (one[2] * one[3] + two[2] * two[3] - shared)
