"""Colours: CSS values as OKLCH, and the everyday names that fit them.

The conversion to OKLab follows Björn Ottosson's published matrices (2020). The borders between names are this
project's own choice and overlap on purpose: a reply may call a teal green or blue.
"""

from __future__ import annotations

import colorsys
import math
import re
from functools import lru_cache
from typing import NamedTuple

from .lexicon import vocabulary

_FUNCTION = re.compile(r"(rgba?|hsla?|oklch|oklab)\(([^()]{1,80})\)", re.I)
_HEX = re.compile(r"#([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})(?![0-9a-z])", re.I)
_STEP = re.compile(r"\b([a-z]{3,7})-(\d{2,3})\b")
ANY_VALUE = re.compile(rf"{_FUNCTION.pattern}|{_HEX.pattern}|{_STEP.pattern}", re.I)
_NEUTRAL = ("gray", "slate", "zinc", "neutral", "stone")
_STEPS = (50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950)
_LIGHTNESS = dict(zip(_STEPS, (0.98, 0.95, 0.91, 0.85, 0.73, 0.62, 0.54, 0.46, 0.38, 0.31, 0.21), strict=True))


class Oklch(NamedTuple):
    """Lightness 0..1, chroma 0..about 0.37, hue in degrees, alpha 0..1."""

    l: float  # noqa: E741
    c: float
    h: float
    alpha: float = 1.0


def from_rgb(r: float, g: float, b: float, alpha: float = 1.0) -> Oklch:
    """The OKLCH colour of sRGB parts in 0..1.

    >>> tuple(round(v, 2) for v in from_rgb(1, 1, 1)[:2])
    (1.0, 0.0)
    """
    lr, lg, lb = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (r, g, b))
    long = math.cbrt(0.4122214708 * lr + 0.5363325363 * lg + 0.0514459929 * lb)
    middle = math.cbrt(0.2119034982 * lr + 0.6806995451 * lg + 0.1073969566 * lb)
    short = math.cbrt(0.0883024619 * lr + 0.2817188376 * lg + 0.6299787005 * lb)
    light = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    bb = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return Oklch(light, math.hypot(a, bb), math.degrees(math.atan2(bb, a)) % 360, alpha)


@lru_cache(maxsize=4096)
def parse(value: str) -> tuple[Oklch, ...]:
    """Every colour written in `value` (a CSS value or part of a reply), in order; unreadable ones are left out.

    >>> [round(c.l, 2) for c in parse("linear-gradient(90deg, #fff, rgb(0 0 0))")]
    [1.0, 0.0]
    """
    text = value.strip().lower()
    if text == "transparent":
        return (Oklch(1.0, 0.0, 0.0, 0.0),)
    found = []
    for match in ANY_VALUE.finditer(text):
        try:
            color = _one(match.group())
        except (ValueError, OverflowError):
            continue
        if color is not None:
            found.append(color)
    return tuple(found)


def _one(text: str) -> Oklch | None:
    if text[0] == "#":
        digits = text[1:]
        if len(digits) in (3, 4):
            digits = "".join(d * 2 for d in digits)
        return from_rgb(*(int(digits[k : k + 2], 16) / 255 for k in range(0, len(digits), 2)))
    if step := _STEP.fullmatch(text):
        family, light = step[1], _LIGHTNESS.get(int(step[2]))
        hue = vocabulary("colors")["palette"].get(family)
        if light is None or (hue is None and family not in _NEUTRAL):
            return None
        return Oklch(light, 0.01, 260.0) if hue is None else Oklch(light, 0.2 * (1 - abs(light - 0.62)), float(hue))
    name, body = text.split("(", 1)
    parts = [p for p in re.split(r"[\s,/]+", body.rstrip(")")) if p]
    if len(parts) < 3:
        return None
    alpha = _number(parts[3], 1.0) if len(parts) > 3 else 1.0
    if name.startswith("rgb"):
        r, g, b = (min(1.0, max(0.0, _number(p, 255.0) / (1 if "%" in p else 255))) for p in parts[:3])
        return from_rgb(r, g, b, alpha)
    if name.startswith("hsl"):
        h, s, light = _number(parts[0], 360.0), _number(parts[1], 1.0), _number(parts[2], 1.0)
        return from_rgb(*colorsys.hls_to_rgb(h / 360 % 1, min(1.0, light), min(1.0, s)), alpha)
    first, second, third = _number(parts[0], 1.0), _number(parts[1], 0.4), _number(parts[2], 360.0)
    if name == "oklab":
        return Oklch(first, math.hypot(second, third), math.degrees(math.atan2(third, second)) % 360, alpha)
    return Oklch(first, second, third % 360, alpha)


def _number(text: str, whole: float) -> float:
    """The number in `text`; a percentage is taken of `whole` (of 1 for RGB, whose parts are divided by the caller)."""
    number = float(re.sub(r"(deg|turn|rad|%)$", "", text))
    if not math.isfinite(number):
        raise ValueError(text)
    if text.endswith("%"):
        return number / 100 * (1.0 if whole == 255.0 else whole)
    return number


@lru_cache(maxsize=4096)
def names(color: Oklch) -> frozenset[str]:
    """The basic colour names that a person may give `color`.

    >>> sorted(names(parse("#dc2626")[0]))
    ['red']
    """
    fits = set()
    if color.l > 0.9 and color.c < 0.06:
        fits.add("white")
    if color.l < 0.36 and color.c < 0.08:
        fits.add("black")
    if color.c < 0.065 and 0.2 < color.l < 0.99:
        fits.add("gray")
    if color.c > 0.035:
        for name, (low, high) in vocabulary("colors")["hue"].items():
            if not (low <= color.h <= high or low <= color.h + 360 <= high):
                continue
            if name == "brown" and (color.l > 0.65 or color.c > 0.16):
                continue
            if name == "pink" and color.l < (0.66 if 10 < color.h < 90 else 0.5):
                continue
            fits.add(name)
    return frozenset(fits)


def distance(one: Oklch, other: Oklch) -> float:
    """Euclidean distance in OKLab."""
    a1, b1 = one.c * math.cos(math.radians(one.h)), one.c * math.sin(math.radians(one.h))
    a2, b2 = other.c * math.cos(math.radians(other.h)), other.c * math.sin(math.radians(other.h))
    return math.dist((one.l, a1, b1), (other.l, a2, b2))
