"""Swaps of one Tailwind class for another, and the vocabulary that a page without scripts must bring for them.

A swap stays inside its group (`p-4` for `p-10`, `text-sm` for `text-xl`); a class with a prefix (`hover:`, `md:`) is
left alone. Whether a swap took is decided in the browser, by the computed style.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from . import scales
from .scales import OPERATORS, TIERS, Tier


@dataclass(frozen=True)
class Swap:
    """`old` classes leave, `new` classes come. `property` is the CSS property that must change, to `value` if given
    (a number in `unit`, or a keyword); `size` is the magnitude on the operator's own scale, `sign` its direction."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    property: str
    size: float
    sign: int = 0
    value: float | str | None = None
    unit: str = "px"
    note: str = ""


def swaps(classes: Iterable[str], operator: str, tier: Tier) -> list[Swap]:
    """All swaps of `operator` and `tier` that the element's own `classes` allow, in the order of the classes.

    >>> [s.new[0] for s in swaps(["p-6", "font-bold"], "font_weight", "medium")]
    ['font-medium', 'font-black']
    """
    make = _MAKERS.get(operator)
    return list(make(tuple(classes), tier)) if make else []


def vocabulary(classes: Iterable[str]) -> set[str]:
    """Every class that a swap on an element with any of these `classes` could put in; compile these into the page.

    >>> sorted(vocabulary(["justify-between"]))
    ['justify-around', 'justify-evenly']
    """
    present = set(classes)
    gradient = [name for name in present if re.match(r"(bg-(gradient|linear)-to|from|to)-", name)]
    sets = [[name] for name in sorted(present)] + [[start, end] for start in gradient for end in gradient]
    return {
        new for one in sets for operator in OPERATORS for tier in TIERS for swap in swaps(one, operator, tier)
        for new in swap.new
    }  # fmt: skip


def _font_weight(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name, weight in _in_group(classes, "font", scales.WEIGHTS):
        for other, target in scales.WEIGHTS.items():
            steps = (target - weight) / 100
            if abs(steps) in OPERATORS["font_weight"].sizes[tier]:
                yield Swap((name,), (f"font-{other}",), "font-weight", abs(steps), _sign(steps), target, "")


def _font_size(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    names = list(scales.TEXT_SIZES)
    for name, _ in _in_group(classes, "text", scales.TEXT_SIZES):
        for steps in OPERATORS["font_size"].sizes[tier]:
            for sign in (1, -1):
                index = names.index(name.removeprefix("text-")) + sign * int(steps)
                if 0 <= index < len(names):
                    target = scales.TEXT_SIZES[names[index]]
                    yield Swap((name,), (f"text-{names[index]}",), "font-size", steps, sign, target)


def _letter_spacing(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name, value in _in_group(classes, "tracking", scales.TRACKING):
        for size in OPERATORS["letter_spacing"].sizes[tier]:
            for sign in (1, -1):
                target = round(value + sign * size, 4)
                yield Swap((name,), (f"tracking-[{target:g}em]",), "letter-spacing", size, sign, target, "em")


def _line_height(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name, value in _in_group(classes, "leading", scales.LEADING):
        for size in OPERATORS["line_height"].sizes[tier]:
            for sign in (1, -1):
                target = round(value + sign * size, 4)
                if target >= 0.7:
                    yield Swap((name,), (f"leading-[{target:g}]",), "line-height", size, sign, target, "em")


def _color(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for prefix, css in (("text", "color"), ("bg", "background-color")):
        yield from _shades(classes, prefix, css, OPERATORS["color"].sizes[tier])


def _opacity(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name in classes:
        if match := re.fullmatch(r"opacity-(\d+)", name):
            for size in OPERATORS["opacity"].sizes[tier]:
                target = int(match[1]) - round(100 * size)
                if target >= 5:
                    yield Swap((name,), (f"opacity-{target}",), "opacity", size, -1, target / 100, "")


def _gradient(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    ring = ("t", "tr", "r", "br", "b", "bl", "l", "tl")
    directions = [name for name in classes if re.fullmatch(r"bg-(gradient|linear)-to-(t|tr|r|br|b|bl|l|tl)", name)]
    for name in directions:
        stem, _, at = name.rpartition("-")
        for degrees in OPERATORS["gradient"].sizes[tier]:
            for sign in (1, -1) if degrees < 180 else (1,):
                turned = ring[(ring.index(at) + sign * int(degrees) // 45) % 8]
                yield Swap((name,), (f"{stem}-{turned}",), "background-image", degrees, note="turned")
    steps: tuple[float, ...] = {"easy": (4, 5), "medium": (3,), "hard": (1,)}[tier]
    start = list(_shades(classes, "from", "background-image", steps))
    end = list(_shades(classes, "to", "background-image", steps))
    if tier == "easy":
        for a in start:
            for b in end:
                if a.sign == b.sign:
                    yield Swap(a.old + b.old, a.new + b.new, a.property, min(a.size, b.size), a.sign, note="both stops")
    else:
        for one, note in ((start, "first stop"), (end, "last stop")):
            for s in one:
                yield Swap(s.old, s.new, s.property, s.size, s.sign, note=note)


def _spacing(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    axes = {"": scales.SIDES, "x": ("left", "right"), "y": ("top", "bottom")} | {s[0]: (s,) for s in scales.SIDES}
    for name in classes:
        match = re.fullmatch(r"([pm])([xytrbl]?)-(\d+(?:\.5)?|px)", name)
        if not match:
            continue
        kind = "padding" if match[1] == "p" else "margin"
        units = 0.25 if match[3] == "px" else float(match[3])
        for size in OPERATORS["spacing"].sizes[tier]:
            for sign in (1, -1):
                target = units + sign * size / 4
                if target >= 0:
                    sides = axes[match[2]]
                    step = f"{target:g}" if target % 0.5 == 0 else f"[{target * 4:g}px]"
                    new = f"{match[1]}{match[2]}-{step}"
                    yield Swap((name,), (new,), f"{kind}-{sides[0]}", size, sign, target * 4, note=" and ".join(sides))


def _justify(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name in classes:
        word = name.removeprefix("justify-")
        if name.startswith("justify-") and word in ("start", "end", "center", "between", "around", "evenly"):
            for target in scales.JUSTIFY[tier].get(word, ()):
                value = {"start": "flex-start", "end": "flex-end", "center": "center"}.get(target, f"space-{target}")
                size = OPERATORS["justify"].sizes[tier][0]
                yield Swap((name,), (f"justify-{target}",), "justify-content", size, 0, value)


def _border(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name in classes:
        if match := re.fullmatch(r"border(-[trbl])?(?:-(2|4|8))?", name):
            side = {"t": "top", "r": "right", "b": "bottom", "l": "left"}.get((match[1] or "-t")[1:], "top")
            for size in OPERATORS["border"].sizes[tier]:
                target = int(match[2] or 1) + int(size)
                new = f"border{match[1] or ''}-{target if target in (2, 4, 8) else f'[{target}px]'}"
                yield Swap((name,), (new,), f"border-{side}-width", size, 1, target, note="width")
        elif name == "border-dashed" and tier == "easy":
            yield Swap((name,), ("border-solid",), "border-top-style", 0, 0, "solid", note="style")
    steps: dict[Tier, tuple[float, ...]] = {"easy": (), "medium": (4,), "hard": (1, 2)}
    for swap in _shades(classes, "border", "border-top-color", steps[tier]):
        yield Swap(swap.old, swap.new, swap.property, swap.size, swap.sign, note="colour")


def _rounded(classes: tuple[str, ...], tier: Tier) -> Iterator[Swap]:
    for name in classes:
        match = re.fullmatch(r"rounded(?:-(none|xs|sm|md|lg|xl|2xl|3xl|full))?", name)
        if not match:
            continue
        for radius in scales.RADIUS_NAMES[match[1] or ""]:
            index = scales.RADII.index(radius)
            for other, values in scales.RADIUS_NAMES.items():
                for target in values:
                    steps = scales.RADII.index(target) - index
                    if abs(steps) in OPERATORS["rounded"].sizes[tier]:
                        new = f"rounded-{other}" if other else "rounded"
                        yield Swap((name,), (new,), "border-top-left-radius", abs(steps), _sign(steps), target,
                                   note=f"from {radius:g}")  # fmt: skip


def _shades(classes: tuple[str, ...], prefix: str, css: str, steps: tuple[float, ...]) -> Iterator[Swap]:
    for name in classes:
        match = re.fullmatch(rf"{prefix}-([a-z]+)-(\d+)", name)
        if not match or match[1] not in scales.PALETTES or int(match[2]) not in scales.SHADES:
            continue
        index = scales.SHADES.index(int(match[2]))
        for size in steps:
            for sign in (1, -1):  # darker and lighter: a higher shade is darker
                if 0 <= index + sign * int(size) < len(scales.SHADES):
                    shade = scales.SHADES[index + sign * int(size)]
                    yield Swap((name,), (f"{prefix}-{match[1]}-{shade}",), css, size, -sign)


def _in_group(classes: tuple[str, ...], prefix: str, values: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    for name in classes:
        word = name.removeprefix(f"{prefix}-")
        if word != name and word in values:
            yield name, values[word]


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


_MAKERS = {
    "font_weight": _font_weight,
    "font_size": _font_size,
    "letter_spacing": _letter_spacing,
    "line_height": _line_height,
    "color": _color,
    "opacity": _opacity,
    "gradient": _gradient,
    "spacing": _spacing,
    "justify": _justify,
    "border": _border,
    "rounded": _rounded,
}
