"""From pixels to a name: the simplest cause that accounts for what changed in a region."""

from __future__ import annotations

from . import motion, paint, pictures, typography
from .finding import Finding
from .region import Region
from .words import Pieces, box_of

_CAUSES = (
    paint.cornered,
    paint.outlined,
    paint.recolored,
    motion.moved,
    paint.regraded,
    pictures.come_or_gone,
)
"""Tried in this order: the causes that the fewest other things look like come first."""


def explain(region: Region, *, last: bool, apart: bool = False) -> Finding | None:
    """The name of what happened in `region`; None if no single cause accounts for it and it is not the `last` try.

    `apart`: the region is made of parts that lie far from each other. Of text, only causes that reach so far are tried.
    """
    for cause in _CAUSES:
        found = cause(region)
        if found is not None:
            return found
    found = _typeset(region, last, apart)
    if found is not None or not last:
        return found
    return region.finding("other", "") if region.is_print else pictures.pictured(region)


# Ours: share of the touched text that has to be found again, in one place and in several.
_REARRANGED, _APART = 0.85, 0.7


def _typeset(region: Region, last: bool, apart: bool) -> Finding | None:
    """What happened to the text: rearranged as it is, or set or worded otherwise."""
    found = region.pieces
    if not found.lines_before or not found.lines_after:
        return None
    arranged = motion.rearranged(region) if found.share >= (_APART if apart else _REARRANGED) else None
    if arranged is not None or apart:
        return arranged
    if not region.is_print:
        return None
    if not last and _pushed_away(found):
        return None  # One line changed and pushed another away: two things to say.
    verdict = typography.judge(found)
    if not last and not verdict.sure:
        return None
    before, after = (region.place(box_of(side)) for side in (found.lines_before, found.lines_after))
    return Finding(verdict.kind, verdict.direction, before, after, "text", evidence=verdict.facts)


def _pushed_away(found: Pieces) -> bool:
    """Whether some line of text is all there, but higher or lower."""
    there = {id(glyph): piece.offset[1] for piece in found.found for glyph in piece.word.glyphs}
    lines = [line.glyphs for line in found.lines_before if len(line.glyphs) >= 3]
    return any(all(abs(there.get(id(glyph), 0.0)) >= 2 for glyph in glyphs) for glyphs in lines)
