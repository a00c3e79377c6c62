"""The strict gate: what of a picture changed, and whether all of it lies inside the box that the DOM gave.

Exact inequality in any channel; no threshold. The box is known before any pixel is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import need
from ..browser import PageError

if TYPE_CHECKING:
    import numpy as np

Box = tuple[int, int, int, int]
"""x, y, width, height in device pixels of the picture (``xywh_px``)."""


@dataclass(frozen=True)
class Difference:
    """Changed pixels of a pair: inside the box, outside of it, and of how many."""

    inside: int
    outside: int
    total: int

    @property
    def reason(self) -> str:
        """Why the gate refuses the pair; empty when it is kept."""
        return "no pixel changes" if not self.inside else "pixels change outside the box" if self.outside else ""

    @property
    def percent(self) -> float:
        """Changed pixels in percent of the whole picture."""
        return 100 * (self.inside + self.outside) / self.total


def decode(png: bytes) -> np.ndarray[Any, Any]:
    """The picture as an array (height, width, 3) of uint8, channels red, green, blue."""
    cv2, numpy = need("cv2", "build"), need("numpy", "build")
    array = cv2.imdecode(numpy.frombuffer(png, numpy.uint8), cv2.IMREAD_COLOR)
    if array is None:
        raise PageError("capture", "the picture could not be decoded")
    return cv2.cvtColor(array, cv2.COLOR_BGR2RGB)


def difference(before: np.ndarray[Any, Any], after: np.ndarray[Any, Any], box: Box) -> Difference:
    """How many pixels differ inside and outside of `box`.

    >>> import numpy as np
    >>> a = np.zeros((10, 10, 3), np.uint8); b = a.copy(); b[2, 3, 1] = 1; b[9, 9] = 255
    >>> difference(a, b, (0, 0, 5, 5))
    Difference(inside=1, outside=1, total=100)
    """
    cv2 = need("cv2", "build")
    # The largest channel difference, not a grey value: rounding would hide steps of one level.
    red, green, blue = cv2.split(cv2.absdiff(before, after))
    largest = cv2.max(cv2.max(red, green), blue)
    x, y, w, h = box
    part = largest[y : y + h, x : x + w]
    inside = cv2.countNonZero(part) if part.size else 0
    return Difference(inside, cv2.countNonZero(largest) - inside, largest.size)


def scaled(box: Sequence[float], scale: float) -> Box:
    """A box in CSS pixels as a box in device pixels, rounded outwards.

    >>> scaled((1, 2, 3, 4), 1.5)
    (1, 3, 5, 6)
    """
    x, y, w, h = box
    left, top = math.floor(x * scale), math.floor(y * scale)
    return left, top, math.ceil((x + w) * scale) - left, math.ceil((y + h) * scale) - top


def grown(box: Box, by: Box, size: tuple[int, int]) -> Box:
    """The smallest box around both, inside a picture of `size` (width, height)."""
    left, top = max(0, min(box[0], by[0])), max(0, min(box[1], by[1]))
    right, bottom = min(size[0], max(box[0] + box[2], by[0] + by[2])), min(size[1], max(box[1] + box[3], by[1] + by[3]))
    return left, top, right - left, bottom - top


def is_near_blank(picture: np.ndarray[Any, Any], *, least: float = 0.002) -> bool:
    """Whether less than `least` of the picture differs from its most frequent colour (0.2 %: our choice)."""
    numpy = need("numpy", "build")
    sample = picture[::2, ::2].astype(numpy.uint32)
    codes = (sample[..., 0] << 16) | (sample[..., 1] << 8) | sample[..., 2]
    _, counts = numpy.unique(codes, return_counts=True)
    return bool(1 - counts.max() / codes.size < least)
