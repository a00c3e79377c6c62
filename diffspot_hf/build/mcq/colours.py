"""Colours by name: which of them a text speaks of, and how much of some pixels has one. Chosen by us, in CIE Lab.

An edit that is said to turn a thing red must not be made of a red thing: that option would be false, or nobody could
tell.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError

PAINTS = {
    "red": (200, 45, 45),
    "blue": (20, 105, 215),
    "green": (50, 150, 70),
    "yellow": (225, 190, 50),
    "violet": (130, 60, 165),
    "pink": (235, 120, 165),
    "turquoise": (40, 170, 175),
}
"""Colours that a rule paints with, far enough apart that no two can be taken for each other."""
_HUES = {
    "red": (10, 50),
    "orange": (48, 75),
    "yellow": (72, 112),
    "green": (110, 182),
    "turquoise": (178, 228),
    "blue": (225, 306),
    "violet": (298, 338),
    "pink": (335, 372),
}
"""Degrees about the axis of grey, of pixels that are not `_DULL`."""
_GREYS = {"black": (0, 25), "grey": (30, 78), "white": (80, 101)}
"""Lightness of `_DULL` pixels."""
_DULL = 12.0  # distance from the axis of grey
_ALSO = {
    "purple": "violet", "lilac": "violet", "lavender": "violet", "crimson": "red", "scarlet": "red", "navy": "blue",
    "gold": "yellow", "golden": "yellow", "rose": "pink", "magenta": "pink", "teal": "turquoise", "cyan": "turquoise",
    "gray": "grey", "silver": "grey",
}  # fmt: skip
_WORD = re.compile(rf"\b({'|'.join([*_HUES, *_GREYS, *_ALSO])})\b", re.IGNORECASE)
_SHADE = re.compile(r"\b(light|dark|pale|deep|bright|strong|dull)(er|ish)?\b", re.IGNORECASE)
MOST_ALREADY = 0.5
"""From this share of the changed pixels on, they had the colour before (our choice)."""


def named(text: str) -> Counter[str]:
    """The colours that `text` speaks of, each as often as it does.

    >>> named("The purple cup is red.") == Counter({"violet": 1, "red": 1})
    True
    """
    return Counter(_ALSO.get(word.lower(), word.lower()) for word in _WORD.findall(text))


def share(pixels: NDArray[np.uint8], colour: str) -> float:
    """The share of `pixels` (shape (…, 3), RGB) that anybody would call by that name.

    >>> share(np.uint8([[200, 40, 40], [30, 90, 200]]), "red")
    0.5
    """
    lightness, a, b = np.moveaxis(lab(pixels).reshape(-1, 3), 1, 0)
    dull = np.hypot(a, b) < _DULL
    if colour in _GREYS:
        low, high = _GREYS[colour]
        found = dull & (lightness >= low) & (lightness < high)
    else:
        low, high = _HUES[colour]
        found = ~dull & ((np.degrees(np.arctan2(b, a)) - low) % 360 < high - low)
    return float(found.mean()) if found.size else 0.0


def check_new(new: Counter[str], text: str, before: NDArray[np.uint8]) -> None:
    """Raises `UsageError` when `text` says that something took on a colour (those of `new`) which its pixels `before`
    the edit had already. A text that speaks of a shade (light, dark) is not judged."""
    for colour in () if _SHADE.search(text) else new:
        if (already := share(before, colour)) >= MOST_ALREADY:
            raise UsageError(f"{text!r}, and {already:.0%} of what the edit changes was {colour} before")


def lab(pixels: NDArray[np.uint8]) -> NDArray[Any]:
    """CIE Lab (D65) of sRGB pixels, shape (…, 3).

    >>> lab(np.uint8([[255, 255, 255]])).round(1).tolist()
    [[100.0, 0.0, 0.0]]
    """
    light = pixels.astype(np.float32) / 255
    light = np.where(light > 0.04045, ((light + 0.055) / 1.055) ** 2.4, light / 12.92)
    xyz = light @ _TO_XYZ
    root = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


_TO_XYZ = np.float32(
    [[0.4124564, 0.2126729, 0.0193339], [0.3575761, 0.7151522, 0.1191920], [0.1804375, 0.072175, 0.9503041]]
)
_TO_XYZ /= _TO_XYZ.sum(axis=0)  # relative to white, the light in which the picture is seen
