"""What a ground-truth record says: the operator, the sign of the change, the thing that changed, and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from .colors import Oklch, parse
from .lexicon import vocabulary
from .profiles import Profile, read_profile

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_LIGHT_STEP = 0.02
"""Smallest difference in OKLCH lightness that we call lighter or darker (our choice)."""
_SCALES = {
    "font_weight": "weight",
    "font_size": "size",
    "letter_spacing": "tracking",
    "line_height": "leading",
    "rounded": "rounded",
}
_SIDES = ("top", "bottom", "left", "right", "margin-left", "margin-top")


@dataclass(frozen=True)
class Record:
    """A record, read: its operator, the sign of the change, the thing, and the values that replies may quote."""

    operator: str
    property: str
    sign: str
    profile: Profile
    old: str
    new: str
    old_colors: tuple[Oklch, ...]
    new_colors: tuple[Oklch, ...]
    direction: str


def read_record(mutation: Mapping[str, object], ground_truth_diff: str) -> Record:
    """The record of `mutation`, whose missing keys count as empty."""
    keys = ("type", "element", "property", "direction", "old_value", "new_value")
    values = [mutation.get(key) for key in keys] + [ground_truth_diff]
    return _read(*("" if value is None else str(value).replace("§", " ") for value in values))


@lru_cache(maxsize=1024)
def _read(kind: str, element: str, prop: str, direction: str, old: str, new: str, description: str) -> Record:
    table = vocabulary("operators").get(kind.removeprefix("mutate_"), {})
    operator = kind.removeprefix("mutate_") if "names" in table else _by_property(prop)
    old_colors, new_colors = parse(old), parse(new)
    return Record(
        operator=operator,
        property=prop,
        sign=_sign(operator, direction, old, new, old_colors, new_colors),
        profile=read_profile(
            element, description, (old, new) if operator == "text" else (), recolored=operator in ("color", "gradient")
        ),
        old=old,
        new=new,
        old_colors=old_colors,
        new_colors=new_colors,
        direction=direction.casefold().strip(),
    )


def _by_property(prop: str) -> str:
    """The operator that a property belongs to; what nothing is known of is read as a colour."""
    known = vocabulary("operators")["property"]
    return str(known.get(prop) or next((op for part, op in known.items() if part in prop), "color"))


def _sign(
    operator: str, direction: str, old: str, new: str, old_colors: tuple[Oklch, ...], new_colors: tuple[Oklch, ...]
) -> str:
    """``+``, ``-`` or ``~`` (unknown) of the change, by the values where they are measures, else by the direction."""
    if operator == "color":
        if old_colors and new_colors:
            step = new_colors[0].l - old_colors[0].l
            return "~" if abs(step) < _LIGHT_STEP else "+" if step > 0 else "-"
        words = direction.casefold()
        return "+" if "light" in words else "-" if "dark" in words else "~"
    if operator in ("text", "gradient", "justify", "position"):
        return "~"
    before, after = measure(operator, old), measure(operator, new)
    if before is not None and after is not None and before != after:
        return "+" if after > before else "-"
    signs = vocabulary("operators")["sign"]
    words = direction.casefold().strip()
    if words in signs["plus"]:
        return "+"
    return "-" if words in signs["minus"] else "~"


def measure(operator: str, value: str) -> float | None:
    """A CSS value or a named step of a style scale as a number."""
    value = value.strip().casefold()
    scales = vocabulary("operators")["scale"]
    scale = _SCALES.get(operator)
    last = value.rsplit("-", 1)[-1] if not value.startswith("-") else value
    if scale and last in scales[scale] and not (operator == "letter_spacing" and value == "normal"):
        step = float(scales[scale].index(last))
        return (step + 1) * 100 if scale == "weight" else step
    if operator == "letter_spacing" and value == "normal":
        return 0.0
    if operator == "border" and ("none" in value or "hidden" in value):
        return 0.0
    found = _NUMBER.search(value)
    if not found:
        return None
    number = float(found.group())
    if value.endswith("%") and operator == "opacity":
        number /= 100
    return number


def vector(record: Record) -> tuple[float, float]:
    """The move of a position record in pixels, right and down; (0, 0) if unknown."""

    def parts(value: str) -> tuple[float, float]:
        text = value.casefold()
        numbers = [float(n) for n in _NUMBER.findall(re.sub(r"translate[xyz3d]*", "", text))]
        if "translatey" in text:
            return 0.0, numbers[0] if numbers else 0.0
        if "matrix(" in text and len(numbers) == 6:
            return numbers[4], numbers[5]
        return (numbers[0] if numbers else 0.0), (numbers[1] if len(numbers) > 1 else 0.0)

    if record.property in _SIDES:
        step = parts(record.new)[0] - parts(record.old)[0]
        step = -step if record.property in ("bottom", "right") else step
        return (0.0, step) if record.property in ("top", "bottom", "margin-top") else (step, 0.0)
    (x0, y0), (x1, y1) = parts(record.old), parts(record.new)
    x, y = x1 - x0, y1 - y0
    if not x and not y:
        words = record.direction
        x = ("right" in words) - ("left" in words)
        y = (("down" in words) or ("lower" in words)) - (("up" in words) or ("higher" in words))
    return float(x), float(y)
