"""Causes that put things elsewhere: moves, boxes that grow, items and lines that part or close up."""

from __future__ import annotations

import numpy as np

from . import boxes, shift
from .finding import BoxPx, Finding, union
from .outline import thickened
from .region import Region, tone
from .regions import contains
from .words import Moved, box_of

# Ours: share of the changed pixels that one offset has to explain; less is enough where it is far, since what moves far
# comes to lie over other things.
_EXPLAINED, _FAR_EXPLAINED, _FAR = 0.9, 0.7, 8


def moved(region: Region) -> Finding | None:
    """Everything that changed sits elsewhere, by one offset; or the box around it grew, which looks the same."""
    if int(region.change.max()) < 40 and region.painted > 0.8:
        return None  # A gradient that changed a little also looks like itself moved.
    pieces = region.pieces
    offsets = shift.candidates(region.a, region.b, region.mask, [piece.offset for piece in pieces.found])
    found = shift.shifted(region.a, region.b, region.mask, offsets) if offsets else None
    grew = _grown(region, found.offset if found is not None and found.explained >= _EXPLAINED else None)
    if grew is not None or found is None:
        return grew
    dx, dy = found.offset
    far = max(abs(dx), abs(dy)) >= _FAR
    if found.explained < (_FAR_EXPLAINED if far else _EXPLAINED):
        return None
    if found.explained < _EXPLAINED and _left_out(region, found.offset):
        return None
    # Where one word of a line is replaced, the words after it move along the line; the replaced one is not found.
    if not dy and len(pieces.lines_before) == 1 and pieces.share < 0.5 and found.explained < 0.995:
        return None
    line = thickened(region.a, region.b, region.mask, region.local, found.offset)
    if line is not None:
        facts = {"sides": line.sides, "depth": line.depth}
        return region.finding("border", line.change, "box", **facts)
    return _move(region, dx, dy, found.explained)


def _left_out(region: Region, offset: tuple[int, int]) -> bool:
    """Whether a part of the region did something else than move by `offset`."""
    for mask in region.part_masks(least=0.05):
        alone = shift.shifted(region.a, region.b, mask, [offset])
        if alone is not None and alone.explained < 0.35:
            return True
    return False


def _move(region: Region, dx: int, dy: int, explained: float) -> Finding:
    x, y, w, h = region.box
    w, h = max(1, w - abs(dx)), max(1, h - abs(dy))
    before = (x if dx >= 0 else x - dx, y if dy >= 0 else y - dy, w, h)
    after = (before[0] + dx, before[1] + dy, w, h)
    facts = {"offset": (dx, dy), "explained": round(explained, 3)}
    return Finding("moved", way(dx, dy), before, after, region.subject, evidence=facts)


def way(dx: float, dy: float) -> str:
    """
    >>> way(12, 0), way(-3, 4), way(1, -30)
    ('right', 'down and left', 'up')
    """
    names = []
    if abs(dy) >= 0.5 * abs(dx) and dy:
        names.append("down" if dy > 0 else "up")
    if abs(dx) >= 0.5 * abs(dy) and dx:
        names.append("right" if dx > 0 else "left")
    return " and ".join(names)


def _grown(region: Region, offset: tuple[int, int] | None) -> Finding | None:
    """A box grew or shrank while what it holds is the same.

    Seen from its moving edge a box that grows looks moved by `offset`. It is told from a move by its edge that stays.
    """
    pair = boxes.resized(region.before, region.after, region.mask.shape)
    pieces = region.pieces
    if pair is None or (pieces.lines_before and pieces.share < 0.85):
        return None
    one, two = pair
    left, top = two[0] - one[0], two[1] - one[1]
    right, bottom = left + two[2] - one[2], top + two[3] - one[3]
    if offset is not None and not _stays(offset, left, right, top, bottom):
        return None
    x, y, w, h = union((one, two))
    if np.count_nonzero(region.mask[y : y + h, x : x + w]) < 0.8 * np.count_nonzero(region.mask):
        return None
    inside = [piece.offset for piece in pieces.found if contains(one, piece.word.box)]
    before, after = region.place(one), region.place(two)
    if not inside:
        if _cut(one, region) or _cut(two, region):
            return None  # What reaches the rim of the picture is only seen to end there.
        size = _bigger(two[2] - one[2], two[3] - one[3])
        return Finding("box_size", size, before, after, "box")
    dx, dy = (round(float(v)) for v in np.median(inside, axis=0))
    gaps = {"left": dx - left, "right": right - dx, "above": dy - top, "below": bottom - dy}
    gaps = {side: gap for side, gap in gaps.items() if gap}
    sizes = [abs(gap) for gap in gaps.values()]
    if not sizes or (max(sizes) < 2 and len(sizes) > 1):
        return None  # One pixel all around is the soft rim of something else.
    facts = {"gaps": gaps, "offset": (dx, dy)}
    most = max(gaps, key=lambda side: abs(gaps[side]))
    if sizes.count(abs(gaps[most])) == 1:
        amount = "more" if gaps[most] > 0 else "less"
        return Finding("spacing", f"{amount} {most}", before, after, "box", evidence=facts)
    return Finding("box_size", _bigger(two[2] - one[2], two[3] - one[3]), before, after, "box", evidence=facts)


def _cut(box: BoxPx, region: Region) -> bool:
    height, width = region.mask.shape
    return box[0] <= 0 or box[1] <= 0 or box[0] + box[2] >= width or box[1] + box[3] >= height


def _stays(offset: tuple[int, int], left: int, right: int, top: int, bottom: int) -> bool:
    """Whether along the offset one edge of the box stayed, or the edges parted."""
    near, far = (left, right) if abs(offset[0]) >= abs(offset[1]) else (top, bottom)
    return near * far <= 0


def _bigger(wider: int, taller: int) -> str:
    if wider * taller > 0 and 2 * min(abs(wider), abs(taller)) > max(abs(wider), abs(taller)):
        return "larger" if wider > 0 else "smaller"
    if abs(taller) > abs(wider):
        return "taller" if taller > 0 else "shorter"
    return "wider" if wider > 0 else "narrower"


def rearranged(region: Region) -> Finding | None:
    """The words are the same; what they did together."""
    heaviest = max(piece.word.mass for piece in region.pieces.found)
    found = [piece for piece in region.pieces.found if piece.word.mass >= 0.06 * heaviest]
    offsets = np.array([piece.offset for piece in found])
    middle = np.median(offsets, axis=0)
    spread = np.abs(offsets - middle).max(axis=0)
    dx, dy = round(float(middle[0])), round(float(middle[1]))
    if spread.max() <= 1:
        return _move(region, dx, dy, region.pieces.share) if dx or dy else _repainted(region)
    before = region.place(union(piece.word.box for piece in found))
    after = region.place(box_of(region.pieces.lines_after))
    if any(np.abs(piece.offset).max() < 0.5 and _changed(piece, region) for piece in found):
        return None  # What stayed in place and differs all the same did something else.
    if spread[0] <= 1:
        slope, off = _steadily(np.array([piece.word.box[1] for piece in found]), offsets[:, 1])
        if slope and off <= 2:
            steps = (round(float(offsets[:, 1].min())), round(float(offsets[:, 1].max())))
            return _together("line_spacing", "wider" if slope > 0 else "closer", before, after, offsets=steps)
    if spread[1] <= 1 and len(region.pieces.lines_before) == 1 and all(len(p.word.glyphs) == 1 for p in found):
        return None  # Signs of one line that part or close up: letter spacing.
    if spread[1] <= 1:
        row = [(middle_x(piece.word.box) + region.x, *_whole(piece.offset)) for piece in found]
        return _together("alignment", spread_way(row), before, after, steps=row)
    return _together("moved", way(dx, dy), before, after, offset=(dx, dy))


def _changed(piece: Moved, region: Region) -> bool:
    x, y, w, h = piece.word.box
    return bool(region.mask[y : y + h, x : x + w].any())


def _steadily(places: np.ndarray, offsets: np.ndarray) -> tuple[float, float]:
    """By how much `offsets` grow along `places`, and how far the one furthest off is from that."""
    if np.ptp(places) == 0:
        return 0.0, 0.0
    slope, start = np.polyfit(places, offsets, 1)
    return float(slope), float(np.abs(offsets - (slope * places + start)).max())


def _together(kind: str, direction: str, before: BoxPx | None, after: BoxPx | None, **evidence: object) -> Finding:
    subject = "text" if kind == "line_spacing" else "items"
    return Finding(kind, direction, before, after, subject, evidence=evidence)  # type: ignore[arg-type]


def middle_x(box: BoxPx) -> float:
    return box[0] + box[2] / 2


def _whole(offset: tuple[float, float]) -> tuple[float, float]:
    return float(round(offset[0])), float(round(offset[1]))


def spread_way(steps: list[tuple[float, float, float]]) -> str:
    """Which way things in a row went, each given as (x of its middle, dx, dy).

    >>> spread_way([(10, 40, 0), (300, -40, 0)]), spread_way([(10, 40, 0), (300, 60, 0)])
    ('together', 'right')
    """
    moved_on = [step for step in steps if abs(step[1]) >= 1]
    if all(dx > 0 for _, dx, _ in moved_on):
        return "right"
    if all(dx < 0 for _, dx, _ in moved_on):
        return "left"
    return "apart" if min(moved_on)[1] < 0 else "together"


def _repainted(region: Region) -> Finding | None:
    """Equal words at equal places: if anything differs, it is their colour, or that of what they stand on."""
    if region.painted > 0.3:
        a, b = (np.median(side[region.smooth], axis=0) for side in (region.a, region.b))
        least = 1
    else:
        ink = (region.before.cover > 0.3) & (region.after.cover > 0.3)
        if region.mask[ink].mean() < 0.5:
            return None
        solid = region.mask & (region.before.cover >= 0.8) & (region.after.cover >= 0.8)
        if not solid.any():
            return None
        a, b = (np.median(side[solid], axis=0) for side in (region.a, region.b))
        least = 6
    if np.abs(a - b).max() < least:
        return None
    one, two = tuple(int(v) for v in a), tuple(int(v) for v in b)
    return region.finding("color", tone(one, two), before=one, after=two)
