"""From pixels to a name: the simplest explanation that accounts for what changed in a region."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import need
from . import recolor, shape, shift, typography
from .canvas import Canvas, level
from .finding import BoxPx, Finding, Kind, Subject, union
from .ink import Page
from .regions import bounds, contains, grown

cv2 = need("cv2", "pixel")

_MARGIN = 40  # ours: pixels of unchanged page around a region, to know what lies behind and beside it


class Region:
    """One stretch of the canvas that changed, with its surroundings."""

    def __init__(self, canvas: Canvas, box: BoxPx) -> None:
        height, width = canvas.mask.shape
        self.box = box
        self.x, self.y, w, h = grown(box, _MARGIN, width, height)
        view = slice(self.y, self.y + h), slice(self.x, self.x + w)
        self.a, self.b = canvas.before[view], canvas.after[view]
        inside = np.zeros((h, w), bool)
        bx, by = box[0] - self.x, box[1] - self.y
        inside[by : by + box[3], bx : bx + box[2]] = True
        self.mask = canvas.mask[view] & inside
        self.change = np.where(self.mask, level(np.ascontiguousarray(self.a), np.ascontiguousarray(self.b)), 0)
        self.before, self.after = Page(np.ascontiguousarray(self.a)), Page(np.ascontiguousarray(self.b))
        self._pieces: shift.Pieces | None = None

    @property
    def pieces(self) -> shift.Pieces:
        if self._pieces is None:
            self._pieces = shift.pieces(self.before, self.after, self.mask)
        return self._pieces

    def place(self, box: BoxPx | None) -> BoxPx | None:
        """A box of the crop as a box of the canvas."""
        return None if box is None else (box[0] + self.x, box[1] + self.y, box[2], box[3])

    @property
    def subject(self) -> Subject:
        """What kind of thing changed: text if no surface did, else a box; a line if it is thin, a picture if it is
        neither flat nor made of letters."""
        box = bounds(self.mask)
        assert box is not None
        if min(box[2:]) <= 4 and max(box[2:]) >= 24:
            return "line"
        if self.painted() < 0.1:
            return "text" if self.pieces.lines_before or self.pieces.lines_after else "picture"
        return "box"

    def painted(self) -> float:
        """Share of the changed pixels that is surface on both sides: what text alone never changes."""
        return float((self.before.surface_mask & self.after.surface_mask)[self.mask].mean())


def luminance(color: tuple[float, ...]) -> float:
    return 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]


def explain(region: Region, *, last: bool, apart: bool = False) -> Finding | None:
    """The name of what happened in `region`; None if no single cause accounts for it and it is not the `last` try.

    `apart`: the region is made of parts that lie far from each other. Only causes that reach so far are tried.
    """
    for step in (_corners, _outline, _frame, _gradient, _recolor, _resized, _moved):
        found = step(region)
        if found is not None:
            return found
    found = _typography(region, last, apart)
    if found is not None or not last:
        return found
    return _presence(region) or _finding(region, "other", "", region.subject)


def _finding(region: Region, kind: Kind, direction: str, subject: Subject = "box", **evidence: object) -> Finding:
    return Finding(kind, direction, region.box, region.box, subject, evidence=evidence)


def _corners(region: Region) -> Finding | None:
    found = shape.corners(region.a, region.b, region.change)
    if found is None:
        return None
    box = region.place(found.box)
    direction = "rounder" if found.rounder else "squarer"
    return Finding("corners", direction, box, box, "box", evidence={"corners": found.count})


def _gradient(region: Region) -> Finding | None:
    smooth = region.mask & region.before.surface_mask & region.after.surface_mask
    count = int(smooth.sum())
    if count < 600 or count < 0.25 * int(region.mask.sum()):
        return None
    one, two = (recolor.gradient(side, smooth) for side in (region.a, region.b))
    is_one, is_two = (side.span >= 12 and side.straight >= 0.8 and side.steps for side in (one, two))
    if not is_one and not is_two:
        return None
    if not is_one or not is_two:
        flat = region.b if is_one else region.a
        if _surrounds(region, np.median(flat[smooth], axis=0), 6):
            return None
        return _finding(region, "gradient", "appeared" if is_two else "flat", span=(one.span, two.span))
    fade = recolor.faded(region.a, region.b, region.mask)
    angle, agrees = recolor.turned(one, two)
    if abs(angle) >= 15 and agrees > 0.6:
        return _finding(region, "gradient", "reversed" if abs(angle) > 150 else "turned", angle=round(angle))
    if fade is not None and _is_backdrop(region, fade):
        return _fade(region, fade)
    moved = _moved(region)
    if moved is not None:
        return moved
    mean_a, mean_b = (side[smooth].mean(axis=0) for side in (region.a, region.b))
    return _finding(region, "gradient", _tone(mean_a, mean_b), angle=round(angle))


def _tone(a: tuple[float, ...], b: tuple[float, ...]) -> str:
    return "lighter" if luminance(b) > luminance(a) else "darker"


def _surrounds(region: Region, color: np.ndarray, tolerance: float) -> bool:
    """Whether `color` is among the colours around the region, within `tolerance` levels; True at the picture's rim."""
    ring = cv2.dilate(region.mask.view(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
    box = bounds(region.mask)
    assert box is not None
    ring[box[1] : box[1] + box[3], box[0] : box[0] + box[2]] = False
    if not ring.any():
        return True
    low, high = np.percentile(region.before.ground[ring].astype(float), [10, 90], axis=0)
    return bool(((color >= low - tolerance) & (color <= high + tolerance)).all())


def _is_backdrop(region: Region, fade: recolor.Fade) -> bool:
    """Whether what the colours fade into is the colour that surrounds the region."""
    return _surrounds(region, np.array(fade.behind), max(5.0, 1.5 / abs(1 - fade.keep)))


def _fade(region: Region, fade: recolor.Fade) -> Finding:
    direction = "fainter" if fade.keep < 1 else "stronger"
    return _finding(region, "opacity", direction, region.subject, keep=round(fade.keep, 3))


def _recolor(region: Region) -> Finding | None:
    bx, by, bw, bh = (region.box[0] - region.x, region.box[1] - region.y, region.box[2], region.box[3])
    where = np.zeros_like(region.mask)
    where[by : by + bh, bx : bx + bw] = True
    table = recolor.recolored(region.a, region.b, where)
    fade = recolor.faded(region.a, region.b, region.mask)
    if not table.both:
        if fade is not None and 0.02 < fade.keep < 8 and _is_backdrop(region, fade):
            return _fade(region, fade)
        return None
    if fade is not None and 0.02 < fade.keep < 8 and _is_backdrop(region, fade):
        return _fade(region, fade)
    a, b = _main_colors(region)
    return _finding(region, "color", _tone(a, b), region.subject, before=a, after=b)


def _main_colors(region: Region) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The colours that stand for the change: of the pixels that changed most, the middle."""
    strong = region.change >= 0.8 * region.change.max()
    return tuple(tuple(int(v) for v in np.median(side[strong], axis=0)) for side in (region.a, region.b))  # type: ignore[return-value]


def _moved(region: Region) -> Finding | None:
    if int(region.change.max()) < 40 and region.painted() > 0.8:
        return None  # A gradient that changed a little also looks like itself moved.
    offsets = shift.candidates(region.before, region.after, region.mask, region.pieces.found)
    found = shift.shifted(region.a, region.b, region.mask, offsets) if offsets else None
    if found is None or found.explained < 0.9:
        return None
    if region.pieces.lines_before and region.pieces.share < 0.5 and found.explained < 0.995:
        return None
    dx, dy = found.offset
    if not dx and not dy:
        return None
    return _shift_finding(region, dx, dy, found.explained)


def _shift_finding(region: Region, dx: int, dy: int, explained: float) -> Finding:
    x, y, w, h = region.box
    before = (x if dx >= 0 else x - dx, y if dy >= 0 else y - dy, w - abs(dx), h - abs(dy))
    after = (before[0] + dx, before[1] + dy, before[2], before[3])
    direction = _way(dx, dy)
    return Finding(
        "moved",
        direction,
        before,
        after,
        region.subject,
        evidence={"offset": (dx, dy), "explained": round(explained, 3)},
    )


def _way(dx: float, dy: float) -> str:
    names = []
    if abs(dy) >= 0.5 * abs(dx) and dy:
        names.append("down" if dy > 0 else "up")
    if abs(dx) >= 0.5 * abs(dy) and dx:
        names.append("right" if dx > 0 else "left")
    return " and ".join(names)


def _frame(region: Region) -> Finding | None:
    """A frame or line alone was repainted; what is inside of it was not."""
    box = bounds(region.mask)
    assert box is not None
    found = shape.outline(region.a, region.b, region.mask)
    if found is None or found.change != "different" or not shape.hollow(region.mask, box):
        return None
    if not recolor.recolored(region.a, region.b, region.mask).both:
        return None
    a, b = _main_colors(region)
    return _finding(
        region,
        "border",
        _tone(a, b),
        "line" if min(found.box[2:]) <= 10 else "box",
        before=a,
        after=b,
        sides=found.sides,
    )


def _outline(region: Region) -> Finding | None:
    found = shape.outline(region.a, region.b, region.mask)
    return None if found is None or found.change == "different" else _outlined(region, found)


def _resized(region: Region) -> Finding | None:
    """A box grew or shrank while what it holds is the same."""
    pair = shape.resized(region.before, region.after, region.mask)
    if pair is None:
        return None
    pieces = region.pieces
    if pieces.lines_before and pieces.share < 0.85:
        return None
    one, two = pair
    left, top = two[0] - one[0], two[1] - one[1]
    right, bottom = left + two[2] - one[2], top + two[3] - one[3]
    inside = [p.offset for p in pieces.found if contains(one, p.word.box)]
    before, after = region.place(one), region.place(two)
    wider, taller = two[2] - one[2], two[3] - one[3]
    if inside:
        dx, dy = (round(float(v)) for v in np.median(inside, axis=0))
    else:
        dx = dy = 0
    gaps = {"left": dx - left, "right": right - dx, "above": dy - top, "below": bottom - dy}
    changed = {side: gap for side, gap in gaps.items() if abs(gap) >= 1}
    facts = {"gaps": changed, "wider": wider, "taller": taller, "offset": (dx, dy)}
    most = max(changed.values(), key=abs, default=0)
    if abs(most) < 2 and len(changed) > 1:
        return None  # One pixel all around is the soft rim of something else.
    if len(changed) == 1 or (changed and sum(abs(v) == abs(most) for v in changed.values()) == 1):
        side = next(side for side, gap in changed.items() if gap == most)
        return Finding("spacing", f"{'more' if most > 0 else 'less'} {side}", before, after, "box", evidence=facts)
    way = (
        ("taller" if taller > 0 else "shorter") if abs(taller) > abs(wider) else ("wider" if wider > 0 else "narrower")
    )
    if wider * taller > 0 and 2 * min(abs(wider), abs(taller)) > max(abs(wider), abs(taller)):
        way = "larger" if wider > 0 else "smaller"
    return Finding("box_size", way, before, after, "box", evidence=facts)


def _outlined(region: Region, found: shape.Outline) -> Finding:
    box = region.place(found.box)
    subject: Subject = "line" if min(found.box[2:]) <= 10 else "box"
    return Finding("border", found.change, box, box, subject, evidence={"sides": found.sides, "depth": found.depth})


def _typography(region: Region, last: bool, apart: bool) -> Finding | None:
    found = region.pieces
    if not found.lines_before or not found.lines_after:
        return None
    arranged = _rearranged(region) if found.share >= (0.7 if apart else 0.85) else None
    if arranged is not None or apart:
        return arranged
    verdict = typography.judge(found)
    if not last and not verdict.sure:
        return None
    before, after = (region.place(shift.box_of(side)) for side in (found.lines_before, found.lines_after))
    return Finding(verdict.kind, verdict.direction, before, after, "text", evidence=verdict.facts)


def _rearranged(region: Region) -> Finding | None:
    """The words are the same; what they did together."""
    heaviest = max(piece.word.mass for piece in region.pieces.found)
    found = [piece for piece in region.pieces.found if piece.word.mass >= 0.06 * heaviest]
    offsets = np.array([piece.offset for piece in found])
    middle = np.median(offsets, axis=0)
    spread = np.abs(offsets - middle).max(axis=0)
    if spread.max() <= 1:
        if np.abs(middle).max() >= 0.5:
            return _shift_finding(region, round(middle[0]), round(middle[1]), region.pieces.share)
        return _repainted(region)
    before = region.place(union(piece.word.box for piece in found))
    after = region.place(shift.box_of(region.pieces.lines_after))

    def named(kind: Kind, direction: str, subject: Subject, **evidence: object) -> Finding:
        return Finding(kind, direction, before, after, subject, evidence=evidence)

    if spread[0] <= 1:
        order = np.argsort([piece.word.box[1] for piece in found])
        slope = np.corrcoef(np.arange(len(order)), offsets[order, 1])[0, 1]
        if abs(slope) > 0.7:
            steps = (round(float(offsets[:, 1].min())), round(float(offsets[:, 1].max())))
            return named("line_spacing", "wider" if slope > 0 else "closer", "text", offsets=steps)
    steps_x = [(p.word.box[0] + p.word.box[2] / 2 + region.x, *(float(round(v)) for v in p.offset)) for p in found]
    if spread[1] <= 1:
        return named("alignment", spread_way(steps_x), "items", steps=steps_x)
    return named("moved", _way(*middle), "items", offset=(round(middle[0]), round(middle[1])))


def _repainted(region: Region) -> Finding | None:
    """Equal words at equal places: if anything differs, it is their colour, or that of what they stand on."""
    if region.painted() > 0.3:
        where = region.mask & region.before.surface_mask & region.after.surface_mask
        a, b = (np.median(side[where], axis=0) for side in (region.a, region.b))
        subject: Subject = "box"
    else:
        found = region.pieces.found
        a = np.median([piece.word.glyphs[0].color for piece in found], axis=0)
        b = np.median([piece.color for piece in found], axis=0)
        subject = "text"
        ink = (region.before.cover > 0.3) & (region.after.cover > 0.3)
        if np.abs(a - b).max() < 6 or region.mask[ink].mean() < 0.5:
            return None
    if np.abs(a - b).max() < 1:
        return None
    shades = {side: tuple(int(v) for v in color) for side, color in (("before", a), ("after", b))}
    return _finding(region, "color", _tone(tuple(a), tuple(b)), subject, **shades)


def spread_way(steps: list[tuple[float, float, float]]) -> str:
    """Which way things in a row went, each given as (x of its middle, dx, dy)."""
    moved = [step for step in steps if abs(step[1]) >= 1]
    if all(dx > 0 for _, dx, _ in moved):
        return "right"
    if all(dx < 0 for _, dx, _ in moved):
        return "left"
    return "apart" if moved and min(moved)[1] < 0 else "together"


def _presence(region: Region) -> Finding | None:
    one, two = region.pieces.lines_before, region.pieces.lines_after
    inked = [float((page.ink[region.mask] >= 10).mean()) for page in (region.before, region.after)]
    if inked[0] > 0.3 and inked[1] < 0.05:
        return replace(_finding(region, "removed", "", "text" if one else "box"), box_after=None)
    if inked[1] > 0.3 and inked[0] < 0.05:
        return replace(_finding(region, "added", "", "text" if two else "box"), box_before=None)
    return None
