"""Things that sit elsewhere: one offset for all that changed, or several."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .canvas import Pixels, level

_FAR = 80  # ours: pixels; a move beyond is looked for among equal glyphs only


@dataclass(frozen=True)
class Shift:
    """`offset` (dx, dy) in pixels explains the share `explained` of the changed pixels, on both sides."""

    offset: tuple[int, int]
    explained: float


def shifted(before: Pixels, after: Pixels, mask: np.ndarray, offsets: list[tuple[int, int]]) -> Shift | None:
    """The one of `offsets` that explains the change best.

    A changed pixel is explained if the first image shows it at the other place *and* the second shows there what it
    showed here; either alone would also hold for something that was painted over.
    """
    rows, columns = np.nonzero(mask)
    step = max(1, len(rows) // 20_000)
    rows, columns = rows[::step], columns[::step]
    best: Shift | None = None
    for dx, dy in offsets:
        forth = _equal(before, after, rows, columns, dx, dy)
        back = _equal(after, before, rows, columns, -dx, -dy)
        explained = min(forth, back)
        if best is None or explained > best.explained + 0.005:
            best = Shift((dx, dy), explained)
    return best


def _equal(source: Pixels, target: Pixels, rows: np.ndarray, columns: np.ndarray, dx: int, dy: int) -> float:
    """Share of the pixels (rows, columns) of `target` that equal `source` at (-dx, -dy) from there."""
    height, width = source.shape[:2]
    y, x = rows - dy, columns - dx
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    if not inside.any():
        return 0.0
    here = target[rows[inside], columns[inside]][None]
    difference = level(here, source[y[inside], x[inside]][None])
    # A pale change asks for a sharper look: a card that lost a fifth of its colour also looks like itself moved.
    pale = np.percentile(level(here, source[rows[inside], columns[inside]][None]), 75) < 24
    return float((difference <= (0 if pale else 4)).sum()) / len(rows)


def candidates(
    before: Pixels, after: Pixels, mask: np.ndarray, known: list[tuple[float, float]]
) -> list[tuple[int, int]]:
    """Offsets worth trying: the most frequent of `known`, and those at which the edge profiles agree best."""
    offsets = [offset for offset, _ in Counter((round(dx), round(dy)) for dx, dy in known).most_common(4)]
    along_x = _agreeing(before, after, mask, axis=0)
    along_y = _agreeing(before, after, mask, axis=1)
    offsets += [(dx, 0) for dx in along_x] + [(0, dy) for dy in along_y]
    offsets += [(dx, dy) for dx in along_x[:2] for dy in along_y[:2]]
    return [offset for offset in dict.fromkeys(offsets) if offset != (0, 0)]


def _agreeing(before: Pixels, after: Pixels, mask: np.ndarray, axis: int) -> list[int]:
    """Up to three offsets along one axis (0: x, 1: y) at which the edges of what changed line up."""
    profiles = []
    for side in (before, after):
        edge = np.zeros(mask.shape, np.uint8)
        if axis == 0:
            edge[:, 1:] = level(side[:, 1:], side[:, :-1])
        else:
            edge[1:] = level(side[1:], side[:-1])
        profile = np.where(mask, edge, 0).sum(axis=axis, dtype=np.float64)
        profiles.append(profile - profile.mean())
    one, two = profiles
    reach = min(_FAR, len(one) - 1)
    scores = np.correlate(two, one, mode="full")[len(one) - 1 - reach : len(one) + reach]
    scores[reach] = -np.inf
    best = np.argsort(scores)[::-1][:3]
    return [int(index) - reach for index in best if scores[index] > 0]
