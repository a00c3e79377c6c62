"""Every change that an operator could make to one element in one tier: class swaps first, in a seeded order."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from . import layout, paint, scales, tailwind, typography, words
from .change import Change, Facts, Watch, number, pixels
from .color import css, lightness_step
from .scales import Tier

_MAKERS: dict[str, Callable[[Facts, Tier], Iterator[Change]]] = {
    "font_weight": typography.font_weight,
    "font_size": typography.font_size,
    "letter_spacing": typography.letter_spacing,
    "line_height": typography.line_height,
    "color": paint.color,
    "opacity": paint.opacity,
    "gradient": paint.gradient,
    "position": layout.position,
    "spacing": layout.spacing,
    "justify": layout.justify,
    "border": paint.border,
    "rounded": paint.rounded,
}
LAST_RESORT = ("width",)
"""Border widths mostly push their surroundings, so they are tried after colour and style."""


def changes(facts: Facts, operator: str, tier: Tier, page: Mapping[str, Any], rng: random.Random) -> list[Change]:
    """The changes to try on the element, first to last; empty when it is not eligible.

    `page` is what js/scan.js says of the whole page: whether it is built with Tailwind, and its words and labels.
    """
    if operator == "text":
        return list(words.text(facts, tier, rng, page["words"], page["labels"]))
    plain = list(_MAKERS[operator](facts, tier))
    if not plain and operator != "font_size":
        return []
    swapped = []
    if page["tailwind"] and plain:
        swapped = [
            _from_swap(facts, operator, tier, swap)
            for swap in tailwind.swaps(facts["classes"], operator, tier)
            if operator != "rounded" or _is_step(facts, tier, swap)
        ]
    rng.shuffle(swapped)
    rng.shuffle(plain)
    plain.sort(key=lambda change: change.note in LAST_RESORT)
    return swapped + plain


def _is_step(facts: Facts, tier: Tier, swap: tailwind.Swap) -> bool:
    half, full = min(facts["rect"][2:]) / 2, len(scales.RADII) - 1
    old = full if pixels(facts["computed"][swap.property]) >= half else 0
    return paint.is_one_scale(tier, old, full if swap.value == scales.RADII[-1] else 0, half)


def _from_swap(facts: Facts, operator: str, tier: Tier, swap: tailwind.Swap) -> Change:
    kind = swap.property
    old, new = _values(facts, operator, swap)
    if operator == "border":
        name = f"border-{kind.rsplit('-', 1)[1]}"
    elif operator == "rounded":
        name = "border-radius"
    elif operator == "spacing":
        stem = kind.split("-")[0]
        name = stem if swap.note.count(" and ") == 3 else f"{stem}-{swap.note.replace(' and ', '/')}"
    else:
        name = kind
    details: dict[str, Any] = {}
    if operator == "rounded":
        half = min(facts["rect"][2:]) / 2
        details = {"half": half, "from": pixels(facts["computed"][kind]), "to": float(swap.value or 0)}
    elif operator == "border":
        details = {"sides": facts["borders"]}
    elif operator == "gradient" and swap.note.endswith("stop"):
        details = {"where": paint.place_of(facts["gradient"], _note(operator, swap, facts))}
    return Change(
        operator, tier, name, old, new, _magnitude(operator, swap), _direction(operator, swap),
        way=_way(operator, swap, old, new), swap=(swap.old, swap.new), watch=(Watch(kind, swap.value, swap.unit),),
        weight=int(swap.value) if operator == "font_weight" and swap.value else None, sample=facts["own"][:40],
        note=_note(operator, swap, facts), details=details,
    )  # fmt: skip


def _values(facts: Facts, operator: str, swap: tailwind.Swap) -> tuple[str, str]:
    """Old and new value as written in the record; the new one is empty where only the browser knows it."""
    computed = facts["computed"]
    value = swap.value if isinstance(swap.value, str) else number(swap.value) if swap.value is not None else ""
    match operator:
        case "font_size":
            return f"{number(facts['fontSize'])}px", f"{value}px"
        case "letter_spacing":
            return f"{number(pixels(computed['letter-spacing']) / facts['fontSize'])}em", f"{value}em"
        case "line_height":
            return number(typography.line_ratio(facts)), value
        case "gradient":
            return facts["gradient"], ""
        case "justify":
            return layout.justify_value(layout.justify_word(computed["justify-content"])), value
    if swap.property.endswith("color"):
        return css(tuple(facts["rgba"][swap.property])), ""
    return computed[swap.property], f"{value}px" if swap.unit == "px" and not isinstance(swap.value, str) else value


def _magnitude(operator: str, swap: tailwind.Swap) -> str:
    signed = f"{swap.sign * swap.size:+g}"
    match operator:
        case "font_weight":
            return f"{signed} weight steps"
        case "font_size":
            return f"{signed} steps of the text scale"
        case "letter_spacing" | "line_height":
            return f"{signed}em"
        case "opacity":
            return f"-{swap.size:g} opacity"
        case "spacing":
            return f"{signed}px"
        case "justify":
            return f"{swap.old[0].removeprefix('justify-')} to {swap.new[0].removeprefix('justify-')}"
        case "rounded":
            return f"{signed} radius steps"
    if swap.note == "turned":
        return f"turned {swap.size:g} degrees"
    if swap.note == "width":
        return f"+{swap.size:g}px"
    return swap.new[0].removeprefix("border-") if swap.note == "style" else f"{swap.size:g} shades"


def _direction(operator: str, swap: tailwind.Swap) -> str:
    if not swap.sign:
        return ""
    if swap.property.endswith("color") or operator == "gradient":
        return "lighter" if swap.sign > 0 else "darker"
    return typography.direction(swap.sign)


def _way(operator: str, swap: tailwind.Swap, old: str, new: str) -> str:
    if operator == "justify":
        return _magnitude(operator, swap)
    if operator == "border" and swap.note in ("width", "style"):
        return swap.note
    return "turned" if swap.note == "turned" else ""


def _note(operator: str, swap: tailwind.Swap, facts: Facts) -> str:
    if operator == "line_height":
        return typography.lines_kind(facts)
    if operator == "justify":
        return layout.axis(facts)
    if operator == "color":
        return "colour"
    return {"both stops": "both ends", "first stop": "start", "last stop": "end"}.get(swap.note, swap.note)


def observed(change: Change, before: list[Any], said: list[Any]) -> Change | None:
    """`change` with the values that the browser computed; None when the step is too small to be offered.

    Colours of class swaps are known only after the swap, and near the ends of a palette neighbours are all but equal.
    """
    if not change.watch or not change.watch[0].property.endswith(("color", "image")):
        return change
    if change.watch[0].property == "background-image":
        return replace(change, new=paint.split_layers(said[0])[0], old=paint.split_layers(before[0])[0])
    old, new = tuple(before[0]), tuple(said[0])
    step = lightness_step(old, new)
    if abs(step) < scales.LEAST_LIGHTNESS[change.tier] and change.operator == "color":
        return None
    word = "lighter" if step > 0 else "darker"
    return replace(
        change, old=css(old), new=css(new), direction=word, details={**change.details, "old": old, "new": new}
    )
