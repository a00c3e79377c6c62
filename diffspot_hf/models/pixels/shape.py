"""Changes at the rim of a box: its corners and its outline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import need
from .canvas import Pixels, level
from .finding import BoxPx
from .ink import Page
from .regions import bounds

cv2 = need("cv2", "pixel")

_RIM = 10  # ours: pixels; wider outlines are rare and would be called a box in a box
_SHADOW = 0.3  # ours: of the strongest change; what a shadow does to follow a corner stays below
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
    strong = _strong(change, whole)
    box = bounds(strong)
    if box is None or min(box[2], box[3]) < 12:
        return None
    if box[0] - whole[0] > _REACH or box[1] - whole[1] > _REACH:
        return None
    x, y, w, h = box
    view = slice(y, y + h), slice(x, x + w)
    for quarters in _splits(np.where(strong, change, 0)[view]):
        if len(quarters) >= 2 and all(_hugs(q) for q in quarters.values()) and _mirrored(quarters):
            lost = sum(_laid_bare(before, after, strong, box, name) for name in quarters)
            if lost:
                return Corners(box, len(quarters), lost > 0)
    return None


def _strong(change: np.ndarray, box: BoxPx) -> np.ndarray:
    """Where the change is strong for its quarter of `box`: the far end of a gradient may have little contrast."""
    x, y, w, h = box
    found = np.zeros(change.shape, bool)
    for rows in (slice(y, y + h // 2), slice(y + h // 2, y + h)):
        for columns in (slice(x, x + w // 2), slice(x + w // 2, x + w)):
            part = change[rows, columns]
            if part.size:
                found[rows, columns] = part >= max(1.0, _SHADOW * float(part.max()))
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
    return bool(filled[len(filled) // 10] < 0.15 * filled[0]) or bool(np.count_nonzero(quarter[:, -1]) > 3)


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
    row = max(0, y - 2) if top else min(height - 1, y + h + 1)
    column = max(0, x - 2) if left else min(width - 1, x + w + 1)
    rows = slice(y, y + (h + 1) // 2) if top else slice(y + h // 2, y + h)
    columns = slice(x, x + (w + 1) // 2) if left else slice(x + w // 2, x + w)
    changed = strong[rows, columns]
    outside = before[row, column].astype(np.int16)
    a, b = (np.abs(side[rows, columns][changed].astype(np.int16) - outside).max(axis=1) for side in (before, after))
    return float(a.sum()) - float(b.sum())


@dataclass(frozen=True)
class Outline:
    """`change` is "thicker", "thinner", "dashed", "solid" or "different"; `sides` are those whose line changed."""

    box: BoxPx
    sides: tuple[str, ...]
    change: str
    depth: int


def outline(before: Pixels, after: Pixels, mask: np.ndarray) -> Outline | None:
    """The outline that changed along the rim of the bounding box of `mask`, or None.

    One side is enough where the region is a line; of a box at least three must have changed.
    """
    box = bounds(mask)
    if box is None:
        return None
    sides = rim(mask, box)
    x, y, w, h = box
    thin = min(w, h) <= _RIM and max(w, h) >= 5 * min(w, h)
    if thin:
        along = "top" if w > h else "left"
        inner = mask[y : y + h, x : x + w]
        if along not in sides or inner.mean() < 0.85 * inner.any(axis=0 if w > h else 1).mean():
            return None
        sides = {along: min(w, h)}
    elif not _frame(sides) or 2.5 * max(sides.values()) > min(w, h):
        return None
    depth = max(sides.values())
    pieces = [max(_pieces(side, box, name, deep) for name, deep in sides.items()) for side in (before, after)]
    if pieces[1] >= 4 and pieces[1] >= 3 * pieces[0]:
        return Outline(box, tuple(sides), "dashed", depth)
    if pieces[0] >= 4 and pieces[0] >= 3 * pieces[1]:
        return Outline(box, tuple(sides), "solid", depth)
    lines = [(_line(before, box, name), _line(after, box, name)) for name in sides]
    if all(0 < one[1] < two[1] for one, two in lines):
        return Outline(box, tuple(sides), "thicker", depth)
    if all(0 < two[1] < one[1] for one, two in lines):
        return Outline(box, tuple(sides), "thinner", depth)
    same = all(one == two and one[1] > 0 for one, two in lines)
    shown = all((one[1] > 0) != (two[1] > 0) for one, two in lines)
    return Outline(box, tuple(sides), "different", depth) if same or shown else None


def _frame(sides: dict[str, int]) -> bool:
    """Whether lines run along enough sides to be a frame. The short sides of a pill are all corner."""
    return len(sides) >= 3 or {"top", "bottom"} <= set(sides)


def hollow(mask: np.ndarray, box: BoxPx) -> bool:
    """Whether nothing changed well inside `box`."""
    x, y, w, h = box
    inner = mask[y + h // 4 : y + h - h // 4, x + w // 4 : x + w - w // 4]
    return min(w, h) <= _RIM or not inner.any()


def rim(mask: np.ndarray, box: BoxPx) -> dict[str, int]:
    """For each side of `box` along which a line of changed pixels runs: how many pixels deep it is."""
    x, y, w, h = box
    inner = mask[y : y + h, x : x + w]
    found = {}
    for side, strip in {"top": inner, "bottom": inner[::-1], "left": inner.T, "right": inner.T[::-1]}.items():
        # Rows of the strip run along the side. Rounded ends and the gaps of a dashed line leave pixels out.
        rows = strip[: _RIM + 4]
        along = [bool(row.mean() >= 0.3) and _reaches(row) for row in rows]
        # Corners may reach a pixel or two further out than the side does.
        first = along.index(True) if True in along[:4] else len(along)
        depth = first
        while depth < len(along) and along[depth]:
            depth += 1
        line = strip[first:depth]
        # The rows of a line are alike; those of print are not.
        if first < depth <= _RIM and line.mean() >= 0.75 * line.any(axis=0).mean():
            found[side] = depth
    return found


def _reaches(row: np.ndarray) -> bool:
    """Whether the True pixels of a row reach all along its middle, gaps of a dash apart."""
    trim = min(len(row) // 4, 24)
    middle = row[trim : len(row) - trim]
    parts = np.array_split(middle, max(1, min(12, len(middle) // 16)))
    return all(part.any() for part in parts)


def _strips(box: BoxPx, name: str, before: int, inside: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Rows and columns along one side of `box`, `before` pixels outside of it and `inside` pixels in it."""
    x, y, w, h = box
    height, width = shape[:2]
    if name in ("top", "bottom"):
        first = y - before if name == "top" else y + h - inside
        return slice(max(0, first), min(height, first + before + inside)), slice(x, x + w)
    first = x - before if name == "left" else x + w - inside
    return slice(y, y + h), slice(max(0, first), min(width, first + before + inside))


def _pieces(side: Pixels, box: BoxPx, name: str, depth: int) -> int:
    """In how many pieces the line along one side of `box` is drawn."""
    strip = side[_strips(box, name, 0, depth, side.shape)]
    if name in ("left", "right"):
        strip = strip.transpose(1, 0, 2)
    row = strip[len(strip) // 2]
    trim = min(len(row) // 4, 24)
    row = np.ascontiguousarray(row[trim : len(row) - trim])
    if len(row) < 2:
        return 1
    jumps = level(row[None, 1:], row[None, :-1])[0] > 16
    return int(np.count_nonzero(jumps)) // 2 + 1


def _line(side: Pixels, box: BoxPx, name: str) -> tuple[int, int]:
    """Where the line along one side of `box` begins, and how thick it is: (0, 0) if there is none.

    Seen on a cut across the side: a line differs from what lies outside of it and from what lies inside.
    """
    # Not so deep that the text in a button counts as its inside.
    inside = min(14, max(3, (box[3] if name in ("top", "bottom") else box[2]) // 3))
    strip = side[_strips(box, name, 6, inside, side.shape)]
    if name in ("left", "right"):
        strip = strip.transpose(1, 0, 2)
    if name in ("bottom", "right"):
        strip = strip[::-1]
    cut = np.median(strip, axis=1).astype(np.int16)
    off = np.minimum(np.abs(cut - cut[0]).max(axis=1), np.abs(cut - cut[-1]).max(axis=1)) > 6
    best = run = end = 0
    for index, differs in enumerate(off):
        run = run + 1 if differs else 0
        if run > best:
            best, end = run, index
    return (end - best + 1, best) if best else (0, 0)


def resized(before: Page, after: Page, mask: np.ndarray) -> tuple[BoxPx, BoxPx] | None:
    """The largest surface that changed its size, as its box on either side; None if none did.

    A surface that reaches the rim of the crop on opposite sides is ground, not a box.
    """
    best: tuple[BoxPx, BoxPx] | None = None
    for one in before.surfaces:
        if _is_ground(one.box, mask.shape):
            continue
        twin = max(after.surfaces, key=lambda two: _common(one.box, two.box), default=None)
        if twin is None or _is_ground(twin.box, mask.shape) or _common(one.box, twin.box) < 0.4:
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
