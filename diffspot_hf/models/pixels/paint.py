"""Causes that leave everything where it was: corners, outlines, colours, fades, gradients."""

from __future__ import annotations

import numpy as np

from . import recolor
from .corners import corners
from .finding import Finding
from .outline import hollow, outline
from .region import Region, tone

_FAINTEST = 0.02  # ours: of what was there; what keeps less is gone


def cornered(region: Region) -> Finding | None:
    """The corners of a box are rounder or squarer."""
    found = corners(region.a, region.b, region.change)
    if found is None:
        return None
    box = region.place(found.box)
    way = "rounder" if found.rounder else "squarer"
    return Finding("corners", way, box, box, "box", evidence={"corners": found.count})


def outlined(region: Region) -> Finding | None:
    """The line around or under something is of another thickness or style, or it alone has another colour."""
    found = outline(region.a, region.b, region.mask)
    if found is None:
        return None
    box = region.place(found.box)
    subject = "line" if min(found.box[2:]) <= 10 else "box"
    facts = {"sides": found.sides, "depth": found.depth}
    if found.change != "different":
        return Finding("border", found.change, box, box, subject, evidence=facts)
    if not hollow(region.mask, found.box) or not recolor.recolored(region.a, region.b, region.mask).both:
        return None
    a, b = region.colors()
    return Finding("border", tone(a, b), box, box, subject, evidence={**facts, "before": a, "after": b})


def recolored(region: Region) -> Finding | None:
    """Every colour was replaced by another one; or all faded alike into what is behind them."""
    if _gradients(region) is not None:
        return None
    fade = recolor.faded(region.a, region.b, region.mask)
    if fade is not None and _FAINTEST <= fade.keep < 8 and _into_backdrop(region, fade):
        return _faded(region, fade)
    x, y, w, h = region.local
    where = np.zeros_like(region.mask)
    where[y : y + h, x : x + w] = True
    if not recolor.recolored(region.a, region.b, where).both:
        return None
    a, b = region.colors()
    return region.finding("color", tone(a, b), before=a, after=b)


def regraded(region: Region) -> Finding | None:
    """A gradient is turned, runs between other colours, came or went; or what has one faded."""
    both = _gradients(region)
    if both is None:
        return None
    one, two = both
    smooth = region.smooth
    if not (one.real and two.real):
        flat = region.b if one.real else region.a
        if region.surrounded_by(np.median(flat[smooth], axis=0), 6):
            return None  # Something with a gradient came, went, or grew.
        return region.finding("gradient", "appeared" if two.real else "flat", span=(one.span, two.span))
    angle = recolor.turned(one, two)
    if angle:
        return region.finding("gradient", "reversed" if angle == 180 else "turned", angle=round(angle))
    fade = recolor.faded(region.a, region.b, region.mask)
    # A colour stop leaves the text alone; what fades takes its text with it.
    if fade is not None and (_into_backdrop(region, fade) or (region.painted < 0.97 and fade.keep < 1)):
        return _faded(region, fade)
    a, b = (side[smooth].mean(axis=0) for side in (region.a, region.b))
    return region.finding("gradient", tone(tuple(a), tuple(b)), angle=0)


def _gradients(region: Region) -> tuple[recolor.Gradient, recolor.Gradient] | None:
    """The even changes of colour over the region before and after, if at least one is a gradient to the eye."""
    count = int(np.count_nonzero(region.smooth))
    if count < 120 or region.painted < 0.25:
        return None
    one, two = (recolor.gradient(side, region.smooth) for side in (region.a, region.b))
    return (one, two) if one.real or two.real else None


def _into_backdrop(region: Region, fade: recolor.Fade) -> bool:
    """Whether what the colours fade into is the colour that surrounds the region."""
    return region.surrounded_by(np.array(fade.behind), max(5.0, 1.5 / abs(1 - fade.keep)))


def _faded(region: Region, fade: recolor.Fade) -> Finding:
    return region.finding("opacity", "fainter" if fade.keep < 1 else "stronger", keep=round(fade.keep, 3))
