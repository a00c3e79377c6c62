"""Changes of colour, opacity, gradient, border and corner radius, by inline style."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from . import scales
from .change import Change, Facts, Watch, number, pixels
from .color import RGBA, css, shifted
from .scales import OPERATORS, Tier
from .typography import direction

SEEN = 0.5
"""Colours that let more through than this are left alone: a step of theirs is hardly a step on the screen."""


def color(facts: Facts, tier: Tier) -> Iterator[Change]:
    kinds = [("color", bool(facts["own"])), ("background-color", not facts["gradient"])]
    for name, eligible in kinds:
        old: RGBA = tuple(facts["rgba"][name])
        if eligible and old[3] >= SEEN:
            yield from _lighter_and_darker("color", tier, name, old, OPERATORS["color"].lightness[tier], [name])  # type: ignore[index]


def _lighter_and_darker(
    operator: str, tier: Tier, name: str, old: RGBA, size: float, properties: list[str]
) -> Iterator[Change]:
    for sign, word in ((1, "lighter"), (-1, "darker")):
        new = shifted(old, sign * size)
        if new is not None and new != old:
            yield Change(
                operator, tier, name, css(old), css(new), f"{sign * size:+g} lightness", word,
                style=dict.fromkeys(properties, css(new)), watch=(Watch(properties[0]),), note="colour",
                details={"old": old, "new": new},
            )  # fmt: skip


def opacity(facts: Facts, tier: Tier) -> Iterator[Change]:
    if not (facts["box"] or facts["text"]):
        return
    old = float(facts["computed"]["opacity"])
    for size in OPERATORS["opacity"].sizes[tier]:
        new = round(old - size, 3)
        if new >= 0.05:
            yield Change(
                "opacity", tier, "opacity", number(old), number(new), f"-{size:g} opacity", "decrease",
                style={"opacity": number(new)}, watch=(Watch("opacity", new),),
            )  # fmt: skip


def border(facts: Facts, tier: Tier) -> Iterator[Change]:
    sides = [side for side in facts["borders"] if _stands_out(facts, side)]
    if not sides:
        return
    computed, operator = facts["computed"], OPERATORS["border"]
    widths = {side: pixels(computed[f"border-{side}-width"]) for side in sides}
    width, style = widths[sides[0]], computed[f"border-{sides[0]}-style"]
    for size in operator.sizes[tier]:
        yield Change(
            "border", tier, "border-width", f"{number(width)}px", f"{number(width + size)}px", f"+{number(size)}px",
            "increase", "width", style={f"border-{side}-width": f"{number(w + size)}px" for side, w in widths.items()},
            watch=(Watch(f"border-{sides[0]}-width", width + size, "px"),), note="width", details={"sides": sides},
        )  # fmt: skip
    if tier == "easy":
        for other in ("solid", "dashed", "dotted", *(("double",) if width >= 3 else ())):
            if other != style:
                yield Change(
                    "border", tier, "border-style", style, other, f"{style} to {other}", way="style",
                    style={f"border-{side}-style": other for side in sides},
                    watch=(Watch(f"border-{sides[0]}-style", other),), note="style", details={"sides": sides},
                )  # fmt: skip
    elif operator.lightness:
        old: RGBA = tuple(facts["rgba"][f"border-{sides[0]}-color"])
        for change in _lighter_and_darker(
            "border", tier, "border-color", old, operator.lightness[tier], [f"border-{side}-color" for side in sides]
        ):
            yield Change(**{**vars(change), "details": {**change.details, "sides": sides}})


def _apart(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether two colours can be told from each other at a glance (24 of 765 levels: our choice)."""
    return sum(abs(a - b) for a, b in zip(one[:3], other[:3], strict=True)) >= 24


def _stands_out(facts: Facts, side: str) -> bool:
    """Whether a border can be told from the element's own background; one of the same colour cannot be seen."""
    edge, ground = facts["rgba"][f"border-{side}-color"], facts["rgba"]["background-color"]
    if edge[3] < SEEN:
        return False
    return ground[3] < SEEN or _apart(edge, ground)


def rounded(facts: Facts, tier: Tier) -> Iterator[Change]:
    corners = ("top-left", "top-right", "bottom-right", "bottom-left")
    values = [facts["computed"][f"border-{corner}-radius"] for corner in corners]
    if len(set(values)) != 1 or not _has_corners(facts):
        return
    half = min(facts["rect"][2:]) / 2
    old = half if values[0].endswith("%") and float(values[0][:-1]) >= 50 else pixels(values[0])
    reachable = [r for r in scales.RADII if r < half] + [scales.RADII[-1]]
    full = len(scales.RADII) - 1
    index = full if old >= half else min(range(full), key=lambda i: abs(scales.RADII[i] - old))
    for steps in OPERATORS["rounded"].sizes[tier]:
        for sign in (1, -1):
            at = index + sign * int(steps)
            if 0 <= at <= full and scales.RADII[at] in reachable and is_one_scale(tier, index, at, half):
                new = scales.RADII[at]
                yield Change(
                    "rounded", tier, "border-radius", values[0], f"{number(new)}px",
                    f"{sign * int(steps):+d} radius steps", direction(sign),
                    style={"border-radius": f"{number(new)}px"},
                    watch=(Watch("border-top-left-radius", new, "px"),), details={"half": half, "from": old, "to": new},
                )  # fmt: skip


def is_one_scale(tier: Tier, old: int, new: int, half: float) -> bool:
    """Whether a step between two places of the radius scale is what the tier means.

    On a large box the step to or from fully round is far larger than all others, so there it is an easy one only.
    """
    return tier == "easy" or half <= 2 * scales.RADII[-2] or len(scales.RADII) - 1 not in (old, new)


def _has_corners(facts: Facts) -> bool:
    """Whether a person can see the element's corners: a picture, a border all around, or a background of its own."""
    framed = len(facts["borders"]) == 4 and all(_stands_out(facts, side) for side in scales.SIDES)
    # Small pictures are mostly icons, whose corners are clear.
    if framed or facts["gradient"] or (facts["tag"] == "img" and min(facts["rect"][2:]) >= 48):
        return True
    ground, around = facts["rgba"]["background-color"], facts["around"]
    return ground[3] >= SEEN and (around is None or _apart(ground, around))


def gradient(facts: Facts, tier: Tier) -> Iterator[Change]:
    first, rest = split_layers(facts["gradient"])
    match = re.fullmatch(r"(?:repeating-)?(linear|radial|conic)-gradient\((.*)\)", first)
    if not match or facts["computed"]["background-size"] != "auto":
        return
    name, parts = first.split("(")[0], split_commas(match[2])
    head = "" if re.match(r"rgba\(", parts[0]) else parts.pop(0)
    if match[1] == "linear":
        for turn in OPERATORS["gradient"].sizes[tier]:
            for sign in (1, -1) if turn < 180 else (1,):
                new = ", ".join([turned(head, sign * turn), *parts])
                yield _gradient(
                    tier, f"{name}({new})", first, rest, f"turned {sign * turn:+g} degrees", "", "turned", ""
                )
    lightness = OPERATORS["gradient"].lightness[tier]  # type: ignore[index]
    stops = [n for n, part in enumerate(parts) if part.startswith("rgba(")]
    if len(stops) < 2:
        return
    ends = {"both ends": [stops[0], stops[-1]]} if tier == "easy" else {"start": [stops[0]], "end": [stops[-1]]}
    for note, which in ends.items():
        for sign, word in ((1, "lighter"), (-1, "darker")):
            changed = list(parts)
            for n in which:
                values, _, place = parts[n].removeprefix("rgba(").partition(")")
                new = shifted(tuple(float(v) for v in values.split(",")), sign * lightness)  # type: ignore[arg-type]
                if new is None:
                    break
                changed[n] = f"rgba({new[0]:g}, {new[1]:g}, {new[2]:g}, {new[3]:g}){place}"
            else:
                text = f"{name}({', '.join([head, *changed] if head else changed)})"
                where = "both ends" if tier == "easy" else place_of(first, note)
                yield _gradient(tier, text, first, rest, f"{note} {sign * lightness:+g} lightness", word, note, where)


def place_of(gradient: str, which: str) -> str:
    """Where on the screen the ``start`` or ``end`` of a gradient lies.

    >>> place_of("linear-gradient(90deg, rgba(0, 0, 0, 1), rgba(9, 9, 9, 1))", "end")
    'right'
    >>> place_of("linear-gradient(to left top, rgba(0, 0, 0, 1), rgba(9, 9, 9, 1))", "start")
    'bottom right'
    >>> place_of("radial-gradient(rgba(0, 0, 0, 1), rgba(9, 9, 9, 1))", "start")
    'centre'
    """
    kind = re.search(r"(linear|radial|conic)-gradient", gradient)
    if kind and kind[1] != "linear":
        return ("centre" if which == "start" else "edge") if kind[1] == "radial" else which
    match = re.match(r"[a-z-]*gradient\((?:to ([a-z]+(?: [a-z]+)?)(?= in |,)|(-?[\d.]+)deg)", gradient)
    if match and match[1]:
        words = set(match[1].split())
        at = next(n for n, place in enumerate(_PLACES) if set(place.split()) == words)
    else:
        at = round(float(match[2] if match else 180) / 45)
    return _PLACES[(at + 4 * (which == "start")) % 8]


def _gradient(tier: Tier, new: str, old: str, rest: str, magnitude: str, word: str, note: str, where: str) -> Change:
    return Change(
        "gradient", tier, "background-image", old, new, magnitude, word, way=word or "turned",
        style={"background-image": new + rest}, watch=(Watch("background-image"),), note=note, details={"where": where},
    )  # fmt: skip


def split_layers(value: str) -> tuple[str, str]:
    """The first background layer, and the rest with its comma.

    >>> split_layers("linear-gradient(rgba(0, 0, 0, 1), rgba(9, 9, 9, 1)), none")
    ('linear-gradient(rgba(0, 0, 0, 1), rgba(9, 9, 9, 1))', ', none')
    """
    parts = split_commas(value)
    return (parts[0], "".join(f", {p}" for p in parts[1:])) if parts else ("", "")


def split_commas(value: str) -> list[str]:
    parts = re.split(r",(?![^()]*(?:\([^()]*\)[^()]*)*\))", value)
    return [part.strip() for part in parts if part.strip()]


_PLACES = ("top", "top right", "right", "bottom right", "bottom", "bottom left", "left", "top left")
_RING = ("top", "right top", "right", "right bottom", "bottom", "left bottom", "left", "left top")


def turned(head: str, degrees: float) -> str:
    """A linear gradient's direction turned clockwise; ``in …`` colour-space words are kept.

    >>> turned("", 180), turned("to right", 90), turned("135deg", -90), turned("to right in oklab", 180)
    ('360deg', 'to bottom', '45deg', 'to left in oklab')
    """
    match = re.fullmatch(r"(to [a-z]+(?: [a-z]+)?(?= in |$)|-?[\d.]+deg)?\s*(in .*)?", head.strip())
    at, space = (match[1] or "180deg", match[2]) if match else ("180deg", None)
    if at.startswith("to "):
        words = at.removeprefix("to ").split()
        place = " ".join(sorted(words, key=lambda w: w in ("top", "bottom"))) if len(words) > 1 else words[0]
        new = f"to {_RING[(_RING.index(place) + round(degrees / 45)) % 8]}"
    else:
        new = f"{number(float(at.removesuffix('deg')) + degrees)}deg"
    return f"{new} {space}" if space else new
