"""Two pictures in, findings out: regions are explained as wholes, split where that fails, and joined where one cause
shows in several places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .canvas import Canvas, lay
from .finding import BoxPx, Finding, union
from .motion import middle_x, spread_way
from .naming import explain
from .region import Region
from .regions import bounds, groups

_GAPS = (48, 20, 9)  # ours: pixels between changes that are still taken for one, tried from wide to narrow
_MANY = 24  # ours: findings; a screen with more is told in coarser regions
_SCRAP = 0.05  # ours: share of the changed pixels below which what lies beside a finding belongs to it


def compare(before: Any, after: Any) -> list[Finding]:
    """What changed from `before` to `after` (Pillow images or uint8 RGB arrays), the causes before what
    they pushed aside, the largest first; [] if they are equal.

    Deterministic; any difference of any channel gives at least one finding. Boxes are `xywh_px`, each in its own image.
    """
    canvas = lay(before, after)
    found: list[Finding] = []
    if canvas.size_before != canvas.size_after:
        found.append(_sizes(canvas))
    box = bounds(canvas.mask)
    if box is not None:
        total = int(np.count_nonzero(canvas.mask))
        parts = joined(_explained(canvas, box, total, _GAPS), (canvas.mask.shape[1], canvas.mask.shape[0]))
        # What was merely pushed aside comes after what pushed it.
        found += sorted(parts, key=lambda f: (f.kind == "moved", -f.share, f.box))[:_MANY]
    if canvas.scale != (1.0, 1.0):
        found = [replace(f, box_after=f.box_after and canvas.box_after(f.box_after)) for f in found]
    return found


def _sizes(canvas: Canvas) -> Finding:
    (aw, ah), (bw, bh) = canvas.size_before, canvas.size_after
    facts = {"sizes": (canvas.size_before, canvas.size_after)}
    return Finding("canvas", "", (0, 0, aw, ah), (0, 0, bw, bh), "page", share=0.0, evidence=facts)


def _explained(canvas: Canvas, box: BoxPx, total: int, gaps: tuple[int, ...]) -> list[Finding]:
    """Findings of the changed pixels inside `box`: one cause if one accounts for all, else those of its parts."""
    x, y, w, h = box
    mask = np.zeros_like(canvas.mask)
    mask[y : y + h, x : x + w] = canvas.mask[y : y + h, x : x + w]
    parts: list[BoxPx] = []
    for step, gap in enumerate(gaps):
        parts = groups(mask, gap)
        if 1 < len(parts) <= _MANY:
            gaps = gaps[step:]
            break
    else:
        parts = []
    region = Region(canvas, box, parts)
    found = explain(region, last=not parts, apart=bool(parts) and gaps[0] == _GAPS[0])
    if found is not None:
        return [replace(found, share=float(np.count_nonzero(mask)) / total)]
    return [finding for part in parts for finding in _explained(canvas, part, total, gaps)]


def joined(found: list[Finding], size: tuple[int, int]) -> list[Finding]:
    """`found` with findings of one cause made one, and scraps left to the finding that they lie beside."""
    rules: tuple[Callable[[Finding, Finding], Finding | None], ...] = (_one_row, _one_move, _one_change)
    items = list(found)
    for rule in rules:
        index = 0
        while index < len(items):
            for other in range(index + 1, len(items)):
                both = rule(items[index], items[other])
                if both is not None:
                    items[index : other + 1] = [both, *items[index + 1 : other]]
                    break
            else:
                index += 1
    kept = [f for f in items if not any(_scrap_of(f, main) for main in items)]
    return kept or items


def _scrap_of(small: Finding, main: Finding) -> bool:
    if small.share > _SCRAP or main.share < 4 * small.share or main is small:
        return False
    return _gap(small.box, main.box) <= _GAPS[0] and small.kind in (
        "other",
        "added",
        "removed",
        "color",
        "opacity",
        main.kind,
    )


def _gap(one: BoxPx, two: BoxPx) -> int:
    """Pixels between two boxes along the axis on which they are further apart; 0 if they touch."""
    across = max(one[0], two[0]) - min(one[0] + one[2], two[0] + two[2])
    down = max(one[1], two[1]) - min(one[1] + one[3], two[1] + two[3])
    return max(0, across, down)


def _merge(one: Finding, two: Finding, **changes: Any) -> Finding:
    before = [f.box_before for f in (one, two) if f.box_before]
    after = [f.box_after for f in (one, two) if f.box_after]
    return replace(
        one,
        box_before=union(before) if before else None,
        box_after=union(after) if after else None,
        share=one.share + two.share,
        **changes,
    )


def _one_row(one: Finding, two: Finding) -> Finding | None:
    """Things side by side that moved along their row by different amounts: they are distributed differently."""
    if {one.kind, two.kind} - {"moved", "alignment"} or one.box_before is None or two.box_before is None:
        return None
    (_, y1, _, h1), (_, y2, _, h2) = one.box_before, two.box_before
    if min(y1 + h1, y2 + h2) - max(y1, y2) < 0.5 * min(h1, h2):
        return None
    steps = [*_steps(one), *_steps(two)]
    if any(abs(dy) > 1 for _, _, dy in steps) or len({round(dx) for _, dx, _ in steps}) == 1:
        return None
    return _merge(one, two, kind="alignment", direction=spread_way(steps), subject="items", evidence={"steps": steps})


def _steps(finding: Finding) -> list[tuple[float, float, float]]:
    """(x of the middle, dx, dy) of what moved."""
    known = finding.evidence.get("steps")
    if known is not None:
        return list(known)
    assert finding.box_before is not None
    dx, dy = finding.evidence.get("offset", (0, 0))
    return [(middle_x(finding.box_before), dx, dy)]


def _one_move(one: Finding, two: Finding) -> Finding | None:
    """Things that moved by the same amount: one move."""
    if one.kind != "moved" or two.kind != "moved":
        return None
    a, b = one.evidence.get("offset", (0, 0)), two.evidence.get("offset", (0, 0))
    if max(abs(a[0] - b[0]), abs(a[1] - b[1])) > 1:
        return None
    return _merge(one, two, subject="items")


def _one_change(one: Finding, two: Finding) -> Finding | None:
    """The same change of things that lie beside each other, as of the lines of a paragraph."""
    if one.kind != two.kind or one.direction != two.direction or one.subject != two.subject:
        return None
    colors = [[f.evidence.get(side) for f in (one, two)] for side in ("before", "after")]
    for a, b in colors:
        if a is not None and b is not None and max(abs(p - q) for p, q in zip(a, b, strict=True)) > 24:
            return None
    reach = 2 * min(one.box[3], two.box[3]) if one.subject == "text" else _GAPS[1]
    if one.kind in ("color", "opacity"):
        reach = max(reach, _GAPS[0])
    return _merge(one, two) if _gap(one.box, two.box) <= reach else None
