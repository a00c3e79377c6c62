"""Boxes of which only the corners changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .canvas import Pixels
from .finding import BoxPx
from .regions import bounds

_STRONG = (0.3, 0.1)  # ours: shares of the strongest change; a shadow that follows stays below the first, a picture's
# own contrast may ask for the second
_REACH = 40  # ours: pixels; how far a shadow may lie from the box


@dataclass(frozen=True)
class Corners:
    """`box` is the rectangle (`xywh_px`) whose corners changed, `count` how many did, `rounder` which way."""

    box: BoxPx
    count: int
    rounder: bool


def corners(before: Pixels, after: Pixels, change: np.ndarray) -> Corners | None:
    """The box of which only the corners changed, or None. `change` is the level map (0 where nothing changed).

    The change must sit in the corners of its own bounding box, each corner the mirror image of its neighbours.
    """
    whole = bounds(change > 0)
    if whole is None:
        return None
    for share in _STRONG:
        strong = _strong(change, whole, share)
        box = bounds(strong)
        if box is None or min(box[2], box[3]) < 12 or box[0] - whole[0] > _REACH or box[1] - whole[1] > _REACH:
            continue
        x, y, w, h = box
        view = slice(y, y + h), slice(x, x + w)
        for quarters in _splits(np.where(strong, change, 0)[view]):
            if len(quarters) >= 2 and all(_hugs(q) for q in quarters.values()) and _mirrored(quarters):
                lost = sum(_laid_bare(before, after, strong, box, name) for name in quarters)
                if lost:
                    return Corners(box, len(quarters), lost > 0)
    return None


def _strong(change: np.ndarray, box: BoxPx, share: float) -> np.ndarray:
    """Where the change is strong for its quarter of `box`: the far end of a gradient may have little contrast."""
    x, y, w, h = box
    found = np.zeros(change.shape, bool)
    for rows in (slice(y, y + h // 2), slice(y + h // 2, y + h)):
        for columns in (slice(x, x + w // 2), slice(x + w // 2, x + w)):
            part = change[rows, columns]
            if part.size:
                found[rows, columns] = part >= max(1.0, share * float(part.max()))
    return found


def _splits(change: np.ndarray) -> Iterator[dict[str, np.ndarray]]:
    """`change` cut into corners, each turned so that its outer corner is at index (0, 0): four, or two of one side."""
    h, w = change.shape
    top, bottom = change[: h // 2], change[h - h // 2 :][::-1]

    def halves(part: np.ndarray, name: str) -> dict[str, np.ndarray]:
        found = {f"{name} left": part[:, : w // 2], f"{name} right": part[:, w - w // 2 :][:, ::-1]}
        return {key: value for key, value in found.items() if value.any()}

    four = {**halves(top, "top"), **halves(bottom, "bottom")}
    if len(four) >= 2:
        yield four
    yield halves(change, "top")
    yield halves(change[::-1], "bottom")
    yield {"top left": top, "bottom left": bottom}
    yield {"top right": top[:, ::-1], "bottom right": bottom[:, ::-1]}


def _hugs(quarter: np.ndarray) -> bool:
    """Whether the change thins out along both sides, away from the corner at (0, 0), and spares the inside."""
    rows, columns = np.nonzero(quarter)
    if not len(rows):
        return False
    reach_y, reach_x = int(rows.max()) + 1, int(columns.max()) + 1
    if max(reach_x, reach_y) > 2.2 * min(reach_x, reach_y) + 2:
        return False
    if _runs_through(quarter) or _runs_through(quarter.T):
        return False
    yy, xx = np.mgrid[0.5:reach_y, 0.5:reach_x]
    deep = (yy / reach_y + xx / reach_x) > 1.35
    inner = quarter[:reach_y, :reach_x]
    # In a corner of a few pixels the soft rim of the arc is a good part of it.
    spared = 0.1 if max(reach_y, reach_x) > 5 else 0.5
    return float(inner[deep].sum()) <= spared * float(inner.sum())


def _runs_through(quarter: np.ndarray) -> bool:
    """Whether a whole side changed (its row 0), not only its end: as much in the middle as at the corner, and thin."""
    last = max(1, quarter.shape[1] // 10)
    if quarter[:, -last:].max() <= 0.3 * float(quarter.max()):
        return False
    # A large arc also reaches the middle of its side, but it is deep at the corner.
    filled = np.count_nonzero(quarter, axis=1)
    return bool(filled[max(1, len(filled) // 10)] < 0.15 * filled[0]) or bool(np.count_nonzero(quarter[:, -1]) > 3)


def _mirrored(quarters: dict[str, np.ndarray]) -> bool:
    """Whether each corner looks like one of its neighbours. (A picture at the top of a card is cut by the card.)"""
    items = list(quarters.items())
    return all(
        any(other != name and set(other.split()) & set(name.split()) and _alike(quarter, two) for other, two in items)
        for name, quarter in items
    )


def _alike(one: np.ndarray, two: np.ndarray) -> bool:
    rows, columns = min(len(one), len(two)), min(one.shape[1], two.shape[1])
    first, second = one[:rows, :columns] > 0, two[:rows, :columns] > 0
    either = np.count_nonzero(first | second)
    # Tiny corners are a handful of soft pixels; one more or less there means nothing.
    return bool(np.count_nonzero(first & second) >= (0.5 if either > 12 else 0.3) * either)


def _laid_bare(before: Pixels, after: Pixels, strong: np.ndarray, box: BoxPx, name: str) -> float:
    """How much less the changed pixels of one corner differ, after, from what lies outside that corner.

    A rounder corner lays bare what is outside, be the box filled, outlined, or a picture.
    """
    x, y, w, h = box
    height, width = strong.shape
    top, left = name.startswith("top"), name.endswith("left")
    rows = slice(y, y + (h + 1) // 2) if top else slice(y + h // 2, y + h)
    columns = slice(x, x + (w + 1) // 2) if left else slice(x + w // 2, x + w)
    changed = strong[rows, columns]
    row, column = (y - 2 if top else y + h + 1), (x - 2 if left else x + w + 1)
    beyond = not (0 <= row < height and 0 <= column < width)
    if beyond:  # The corner is that of the picture: it is told against what is inside the box.
        deep = int(changed.any(axis=1).sum()) + 2
        row, column = (y + deep if top else y + h - 1 - deep), (x + deep if left else x + w - 1 - deep)
        row, column = min(max(row, 0), height - 1), min(max(column, 0), width - 1)
    known = before[row, column].astype(np.int16)
    a, b = (np.abs(side[rows, columns][changed].astype(np.int16) - known).max(axis=1) for side in (before, after))
    lost = float(a.sum()) - float(b.sum())
    return -lost if beyond else lost
