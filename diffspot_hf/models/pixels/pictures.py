"""Icons and pictures: blank, mirrored, larger or smaller, or showing something else. And what came or went."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .canvas import Pixels, level
from .finding import Finding
from .region import Region
from .regions import bounds
from .typography import correlated


def come_or_gone(region: Region) -> Finding | None:
    """Something is there on one side only: the other shows, in its place, what is around it."""
    before, after = (_bare(region, side) for side in (region.a, region.b))
    if after and not before:
        return replace(region.finding("removed", ""), box_after=None)
    if before and not after:
        return replace(region.finding("added", ""), box_before=None)
    return None


_NEAR = 6  # ours: pixels beside a region that tell what it stands on


def _bare(region: Region, side: Pixels) -> bool:
    """Whether the changed pixels of `side` have the colour of the unchanged ones around them."""
    x, y, w, h = region.local
    view = slice(max(0, y - _NEAR), y + h + _NEAR), slice(max(0, x - _NEAR), x + w + _NEAR)
    around = side[view][~region.mask[view]]
    if not len(around):
        return False
    ground = np.median(around, axis=0)
    return float((np.abs(side[region.mask] - ground).max(axis=1) <= 8).mean()) >= 0.95


def pictured(region: Region) -> Finding:
    """What happened to an icon or picture."""
    x, y, w, h = region.local
    view = slice(y, y + h), slice(x, x + w)
    before, after = (np.ascontiguousarray(side[view]) for side in (region.a, region.b))
    changed = region.mask[view]
    turned = level(np.ascontiguousarray(before[:, ::-1]), after) <= 12
    if min(w, h) >= 8 and float(turned[changed].mean()) >= 0.9 and float(turned.mean()) >= 0.9:
        return region.finding("picture", "mirrored", "picture")
    one, two = (float(side[region.mask].std(axis=0).max()) for side in (region.a, region.b))
    if two < 6 <= one:
        return region.finding("picture", "blank", "picture")
    grown = _grown(region)
    return grown if grown is not None else region.finding("picture", "", "picture")


def _grown(region: Region) -> Finding | None:
    """The same drawing, larger or smaller."""
    x, y, w, h = region.local
    near = np.zeros_like(region.mask)
    near[y : y + h, x : x + w] = True
    one, two = (np.where(near, page.cover, 0).astype(np.float32) for page in (region.before, region.after))
    before, after = (bounds(np.ascontiguousarray(cover > 0.35)) for cover in (one, two))
    if before is None or after is None:
        return None
    across, down = (float(np.log(after[k] / before[k])) for k in (2, 3))
    if abs(across - down) > 0.15 or abs(across + down) < 0.12:
        return None
    drawings = [cover[by : by + bh, bx : bx + bw] for cover, (bx, by, bw, bh) in ((one, before), (two, after))]
    if correlated(*drawings) < 0.6:
        return None
    way = "larger" if across > 0 else "smaller"
    return Finding("box_size", way, region.place(before), region.place(after), "picture")
