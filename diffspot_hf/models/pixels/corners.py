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
    """Whether a line along the whole side (its row 0) changed: as much in the middle as at the corner, and thin.

    A large arc also reaches the middle of its side, but it is deep at the corner.
    """
    width = quarter.shape[1]
    filled = np.count_nonzero(quarter, axis=1)
    if filled[0] >= 0.8 * width and 1 <= filled[len(filled) // 2] <= max(2, 0.08 * width):
        return True
    last = max(1, width // 10)
    strong = bool(quarter[:, -last:].max() > 0.3 * float(quarter.max()))
    return strong and bool(filled[len(filled) // 10] < 0.15 * filled[0] or np.count_nonzero(quarter[:, -1]) > 3)


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
    """How much less of the box, after, the changed pixels of one corner show: positive where the corner is rounder.

    Told against what lies outside the corner; or, where the box differs from that and one side of the change is the
    box's own colour, against the box, since a neighbour may stand at the corner.
    """
    x, y, w, h = box
    height, width = strong.shape
    top, left = name.startswith("top"), name.endswith("left")
    rows = slice(y, y + (h + 1) // 2) if top else slice(y + h // 2, y + h)
    columns = slice(x, x + (w + 1) // 2) if left else slice(x + w // 2, x + w)
    changed = strong[rows, columns]
    sides = [side[rows, columns][changed].astype(np.int16) for side in (before, after)]
    deep = int(changed.any(axis=1).sum()) + 2
    row, column = (y + deep if top else y + h - 1 - deep), (x + deep if left else x + w - 1 - deep)
    inside = before[min(max(row, 0), height - 1), min(max(column, 0), width - 1)].astype(np.int16)
    a, b = (float(np.abs(side - inside).max(axis=1).mean()) for side in sides)
    lost = b - a
    row, column = (y - 2 if top else y + h + 1), (x - 2 if left else x + w + 1)
    if 0 <= row < height and 0 <= column < width:
        outside = before[row, column].astype(np.int16)
        if np.abs(outside - inside).max() < 8 or min(a, b) > 8:
            a, b = (float(np.abs(side - outside).max(axis=1).mean()) for side in sides)
            lost = a - b
    return lost * len(sides[0])
