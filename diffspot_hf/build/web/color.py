"""Colours as OKLCH lightness steps: plain sRGB in, plain sRGB out (Ottosson's OKLab, 2020)."""

from __future__ import annotations

import math

RGBA = tuple[float, float, float, float]
"""Red, green, blue in 0…255 and alpha in 0…1, as the browser's canvas gives them."""


def oklch(color: RGBA) -> tuple[float, float, float]:
    """Lightness 0…1, chroma, and hue in radians of an sRGB colour; alpha is ignored.

    >>> [round(v, 3) for v in oklch((255, 255, 255, 1))[:2]]
    [1.0, 0.0]
    """
    r, g, b = (_linear(c / 255) for c in color[:3])
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    middle = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    return lightness, math.hypot(a, b), math.atan2(b, a)


def shifted(color: RGBA, step: float) -> RGBA | None:
    """`color` with its OKLCH lightness moved by `step`, hue kept and chroma reduced as sRGB needs; None outside 0…1.

    >>> shifted((0, 0, 0, 1), 0.35)
    (58, 58, 58, 1)
    >>> shifted((250, 250, 250, 1), 0.35) is None
    True
    """
    lightness, chroma, hue = oklch(color)
    target = lightness + step
    if not -0.001 <= target <= 1.001:
        return None
    target = min(max(target, 0.0), 1.0)
    for tenth in range(10, -1, -1):
        channels = _from_oklch(target, chroma * tenth / 10, hue)
        if all(-0.002 <= c <= 1.002 for c in channels):
            break
    r, g, b = (round(255 * min(max(c, 0.0), 1.0)) for c in channels)
    return r, g, b, color[3]


def lightness_step(before: RGBA, after: RGBA) -> float:
    """Difference of OKLCH lightness, positive when `after` is lighter."""
    return oklch(after)[0] - oklch(before)[0]


def css(color: RGBA) -> str:
    """`color` as a person writes it: #rrggbb, or rgba() when it lets something through.

    >>> css((22, 163, 74, 1)), css((0, 0, 0, 0.5))
    ('#16a34a', 'rgba(0, 0, 0, 0.5)')
    """
    r, g, b = (round(c) for c in color[:3])
    if color[3] >= 0.999:
        return f"#{r:02x}{g:02x}{b:02x}"
    return f"rgba({r}, {g}, {b}, {color[3]:.3g})"


def name(color: RGBA) -> str:
    """A plain English name of the colour: "dark blue", "light grey", "white".

    >>> name((22, 163, 74, 1)), name((249, 250, 251, 1)), name((17, 24, 39, 1))
    ('green', 'white', 'very dark greyish blue')
    """
    lightness, chroma, hue = oklch(color)
    if lightness > 0.98 and chroma < 0.01:
        return "white"
    if chroma < 0.025:
        if lightness < 0.22:
            return "black"
        return f"{_degree(lightness, 0.40, 0.78, 0.92)}grey"
    degrees = math.degrees(hue) % 360
    word = next(word for end, word in _HUES if degrees < end)
    if word == "orange" and lightness < 0.58:
        word = "brown"
    if chroma < 0.05:
        word = f"greyish {word}"
    if lightness < 0.25:
        return f"very dark {word}"
    return f"{_degree(lightness, 0.45, 0.80, 0.92)}{word}"


_HUES = (
    (12, "pink"), (38, "red"), (75, "orange"), (115, "yellow"), (168, "green"), (220, "teal"),
    (290, "blue"), (330, "purple"), (361, "pink"),
)  # fmt: skip


def _degree(lightness: float, dark: float, light: float, pale: float) -> str:
    if lightness < dark:
        return "dark "
    return "very light " if lightness > pale else "light " if lightness > light else ""


def _linear(c: float) -> float:
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def _from_oklch(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return tuple(12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in linear)  # type: ignore[return-value]
