"""Lines around and under things: thicker, thinner, dashed, or of another colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .canvas import Pixels, level
from .finding import BoxPx
from .regions import bounds

_RIM = 10  # ours: pixels; wider outlines are rare and would be called a box in a box


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
        alike = 0.85 if min(w, h) <= 6 else 0.97
        if along not in sides or inner.mean() < alike * inner.any(axis=0 if w > h else 1).mean():
            return None
        sides = {along: min(w, h)}
    elif not _frame(sides, mask[y : y + h, x : x + w]) or 2.5 * max(sides.values()) > min(w, h):
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
    same = sum(one == two and one[1] > 0 for one, two in lines)
    shown = sum((one[1] > 0) != (two[1] > 0) for one, two in lines)
    # Beside text or a neighbour one side may be misread.
    return Outline(box, tuple(sides), "different", depth) if max(same, shown) >= 0.75 * len(lines) else None


def thickened(before: Pixels, after: Pixels, mask: np.ndarray, box: BoxPx, offset: tuple[int, int]) -> Outline | None:
    """The line along one side of `box` that grew or shrank by as much as what lies beyond it moved, or None."""
    dx, dy = offset
    step = abs(dx + dy)
    if min(abs(dx), abs(dy)) or not 0 < step <= _RIM:
        return None
    sides = ("left", "right") if dx else ("top", "bottom")
    whole = [bool(mask[_strips(box, name, 0, step, mask.shape)].mean() >= 0.9) for name in sides]
    for name, is_line, other in zip(sides, whole, reversed(whole), strict=True):
        one, two = (_line(side, box, name)[1] for side in (before, after))
        if is_line and not other and min(one, two) > 0 and abs(two - one) == step:
            return Outline(box, (name,), "thicker" if two > one else "thinner", step)
    return None


def _frame(sides: dict[str, int], inner: np.ndarray) -> bool:
    """Whether lines run along enough sides of `inner` to be a frame.

    Two are enough where they are unbroken: a table cell shares its lines, and the short sides of a pill are corner.
    """
    if len(sides) >= 3:
        return True
    if len(sides) < 2 or min(inner.shape) < 2 * _RIM:
        return False
    strips = {"top": inner, "bottom": inner[::-1], "left": inner.T, "right": inner.T[::-1]}
    return all(strips[side][deep - 1].mean() >= 0.75 for side, deep in sides.items())


def hollow(mask: np.ndarray, box: BoxPx) -> bool:
    """Whether nothing changed well inside `box`."""
    x, y, w, h = box
    inner = mask[y + _RIM : y + h - _RIM, x + _RIM : x + w - _RIM].copy()
    arc = max(0, min(h, w) // 2 - _RIM)
    if arc:
        inner[:arc, :arc] = inner[:arc, -arc:] = inner[-arc:, :arc] = inner[-arc:, -arc:] = False
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
