"""The operators' one table: families, and what Easy, Medium and Hard mean; and the design scales they step on.

Published by the DiffSpot authors: the 13 operators, their families, the two mechanisms, what the tiers mean, and the
magnitudes of `font_weight` and `letter_spacing`. All other magnitudes are this project's choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

Tier = Literal["easy", "medium", "hard"]
TIERS: tuple[Tier, ...] = get_args(Tier)
_T = TypeVar("_T")


@dataclass(frozen=True)
class Operator:
    """One kind of change.

    `sizes` are the magnitudes of each tier, measured in `unit`; `lightness` is the other way to reach the tier, as a
    step of OKLCH lightness. `paint_only`: cannot move anything. `must_move`: no pixel can change unless a box or a text
    moves. `spills`: acts on everything inside the element, so what sticks out of its box would change too.
    """

    name: str
    family: Literal["typography", "color", "layout", "shape"]
    unit: str
    sizes: dict[Tier, tuple[float, ...]]
    lightness: dict[Tier, float] | None = None
    published: bool = False
    paint_only: bool = False
    must_move: bool = False
    spills: bool = False


def _by_tier(easy: _T, medium: _T, hard: _T) -> dict[Tier, _T]:
    return {"easy": easy, "medium": medium, "hard": hard}


OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for operator in (
        Operator("font_weight", "typography", "steps of 100", _by_tier((3, 4, 5), (2,), (1,)), published=True),
        Operator("font_size", "typography", "steps of the text scale", _by_tier((3,), (2,), (1,)), must_move=True),
        Operator("letter_spacing", "typography", "em", _by_tier((0.20,), (0.12,), (0.06,)), published=True),
        Operator("line_height", "typography", "em", _by_tier((0.60,), (0.35,), (0.15,)), must_move=True),
        Operator("text", "typography", "words (all, half; one; a character)", _by_tier((1.0, 0.5), (0,), (0,))),
        Operator("color", "color", "OKLCH lightness, palette shades", _by_tier((4, 5, 6), (2, 3), (1,)),
                 _by_tier(0.35, 0.20, 0.08), paint_only=True),
        Operator("opacity", "color", "opacity", _by_tier((0.60,), (0.40,), (0.20,)), paint_only=True, spills=True),
        Operator("gradient", "color", "degrees, OKLCH lightness of a stop", _by_tier((180,), (90,), (45,)),
                 _by_tier(0.35, 0.26, 0.08), paint_only=True),
        Operator("position", "layout", "px", _by_tier((24, 32, 40), (10, 12, 16), (3, 4, 5)), spills=True),
        Operator("spacing", "layout", "px", _by_tier((24,), (12,), (4,)), must_move=True),
        Operator("justify", "layout", "start-end, end-center, kinds of spread", _by_tier((2,), (1,), (0,)),
                 must_move=True),
        Operator("border", "shape", "px of width or style, OKLCH lightness", _by_tier((4,), (2,), (1,)),
                 _by_tier(0.0, 0.35, 0.12)),
        Operator("rounded", "shape", "steps of the radius scale", _by_tier((8, 7, 6, 5, 4), (2,), (1,)),
                 paint_only=True),
    )
}  # fmt: skip

LEAST_LIGHTNESS: dict[Tier, float] = {"easy": 0.20, "medium": 0.08, "hard": 0.025}
"""A shade step that moves the lightness less is not offered: at a palette's ends it could not be seen. Our choice."""

# Tailwind's scales. Names differ between versions 3 and 4, so a swap is only believed when the computed value is right.
TEXT_SIZES: dict[str, float] = {
    "xs": 12, "sm": 14, "base": 16, "lg": 18, "xl": 20, "2xl": 24, "3xl": 30, "4xl": 36, "5xl": 48, "6xl": 60,
    "7xl": 72, "8xl": 96, "9xl": 128,
}  # fmt: skip
WEIGHTS: dict[str, int] = {
    "thin": 100, "extralight": 200, "light": 300, "normal": 400, "medium": 500, "semibold": 600, "bold": 700,
    "extrabold": 800, "black": 900,
}  # fmt: skip
TRACKING: dict[str, float] = {
    "tighter": -0.05, "tight": -0.025, "normal": 0, "wide": 0.025, "wider": 0.05, "widest": 0.1,
}  # fmt: skip
LEADING: dict[str, float] = {"none": 1, "tight": 1.25, "snug": 1.375, "normal": 1.5, "relaxed": 1.625, "loose": 2}
RADII: tuple[float, ...] = (0, 2, 4, 6, 8, 12, 16, 24, 9999)
RADIUS_NAMES: dict[str, tuple[float, ...]] = {  # every radius that a version gives the name
    "none": (0,), "xs": (2,), "sm": (2, 4), "": (4,), "md": (6,), "lg": (8,), "xl": (12,), "2xl": (16,), "3xl": (24,),
    "full": (9999,),
}  # fmt: skip
SHADES: tuple[int, ...] = (50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950)
PALETTES = (
    "slate", "gray", "zinc", "neutral", "stone", "red", "orange", "amber", "yellow", "lime", "green", "emerald", "teal",
    "cyan", "sky", "blue", "indigo", "violet", "purple", "fuchsia", "pink", "rose",
)  # fmt: skip
JUSTIFY: dict[Tier, dict[str, tuple[str, ...]]] = {
    "easy": {"start": ("end",), "end": ("start",)},
    "medium": {"start": ("center",), "end": ("center",), "center": ("start", "end")},
    "hard": {"between": ("around", "evenly"), "around": ("between", "evenly"), "evenly": ("between", "around")},
}
SIDES = ("top", "right", "bottom", "left")
