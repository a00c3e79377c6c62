"""Changes of weight, size, letter spacing and line height, by inline style."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import scales
from .change import Change, Facts, Watch, number, pixels
from .scales import OPERATORS, Tier

JOINED = re.compile(r"[\u0600-\u08ff\u0900-\u0dff\ufb50-\ufdff\ufe70-\ufeff]")
"""Scripts whose letters join: spacing them out breaks words."""


def font_weight(facts: Facts, tier: Tier) -> Iterator[Change]:
    if not facts["own"]:
        return
    old = int(float(facts["computed"]["font-weight"]))
    for steps in OPERATORS["font_weight"].sizes[tier]:
        for sign in (1, -1):
            new = old + sign * 100 * int(steps)
            if 100 <= new <= 900:
                yield Change(
                    "font_weight", tier, "font-weight", str(old), str(new), f"{sign * int(steps):+d} weight steps",
                    direction(sign), style={"font-weight": str(new)}, watch=(Watch("font-weight", new),),
                    weight=new, sample=facts["own"][:40],
                )  # fmt: skip


def font_size(facts: Facts, tier: Tier) -> Iterator[Change]:
    if not facts["own"]:
        return
    old, sizes = facts["fontSize"], list(scales.TEXT_SIZES.values())
    nearest = min(range(len(sizes)), key=lambda i: abs(sizes[i] - old))
    for steps in OPERATORS["font_size"].sizes[tier]:
        for sign in (1, -1):
            index = nearest + sign * int(steps)
            if not 0 <= index < len(sizes):
                continue
            # Off the scale the step keeps its proportion.
            new = round(2 * old * sizes[index] / sizes[nearest]) / 2
            if new >= 9:
                yield Change(
                    "font_size", tier, "font-size", f"{number(old)}px", f"{number(new)}px",
                    f"{sign * int(steps):+d} steps of the text scale", direction(sign),
                    style={"font-size": f"{number(new)}px"}, watch=(Watch("font-size", new, "px"),),
                )  # fmt: skip


def letter_spacing(facts: Facts, tier: Tier) -> Iterator[Change]:
    if len(facts["own"]) < 3 or JOINED.search(facts["own"]):
        return
    old = pixels(facts["computed"]["letter-spacing"]) / facts["fontSize"]
    for size in OPERATORS["letter_spacing"].sizes[tier]:
        for sign in (1, -1):
            new = round(old + sign * size, 4)
            yield Change(
                "letter_spacing", tier, "letter-spacing", f"{number(old)}em", f"{number(new)}em", f"{sign * size:+g}em",
                direction(sign), style={"letter-spacing": f"{number(new)}em"},
                watch=(Watch("letter-spacing", new, "em"),),
            )  # fmt: skip


def line_height(facts: Facts, tier: Tier) -> Iterator[Change]:
    """Texts of several lines, single lines in a box with room, and containers whose children inherit the value."""
    if not facts["text"] or not facts["fontSize"]:
        return
    old = line_ratio(facts)
    for size in OPERATORS["line_height"].sizes[tier]:
        for sign in (1, -1):
            new = round(old + sign * size, 2)
            if 0.8 <= new <= 4:
                yield Change(
                    "line_height", tier, "line-height", number(old), number(new), f"{sign * size:+g}em",
                    direction(sign), style={"line-height": number(new)}, watch=(Watch("line-height", new, "em"),),
                    note=lines_kind(facts),
                )  # fmt: skip


def line_ratio(facts: Facts) -> float:
    """Line height as a multiple of the font size, also where it computes to ``normal``."""
    return round(pixels(facts["computed"]["line-height"]) / facts["fontSize"] or facts["normalLine"], 2)


def lines_kind(facts: Facts) -> str:
    if facts["own"]:
        return "lines" if facts["lines"] > 1 else "line"
    return "line" if facts["name"]["kind"] in ("list item", "link", "button", "table cell") else "container"


def direction(sign: int) -> str:
    return "increase" if sign > 0 else "decrease"
