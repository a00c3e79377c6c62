"""Two pictures on one canvas, and the mask of pixels that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import need
from .finding import BoxPx

cv2 = need("cv2", "pixel")

Pixels = np.ndarray
"""uint8, shape (height, width, 3), RGB."""


@dataclass(frozen=True)
class Canvas:
    """Both sides at one size. `scale` turns x and y of the canvas into x and y of the second image as it came."""

    before: Pixels
    after: Pixels
    mask: np.ndarray
    """bool, shape (height, width): True where any channel differs by any amount (or, see `noise`, by more than it)."""
    size_before: tuple[int, int]
    size_after: tuple[int, int]
    scale: tuple[float, float] = (1.0, 1.0)
    noise: int = 0
    """Level up to which a difference is taken for noise: 0 unless the picture as a whole was rescaled or re-encoded."""

    @property
    def density(self) -> int:
        """Pixels a layout pixel: 1 for a page, 2 or 3 for the screen of a phone (which is 390 wide, more or less)."""
        width, height = self.size_before
        return max(1, round(width / 390)) if height > 1.3 * width else 1

    def box_after(self, box: BoxPx) -> BoxPx:
        """`box` of the canvas in pixels of the second image as it came (`xywh_px`)."""
        (sx, sy), (x, y, w, h) = self.scale, box
        return round(x * sx), round(y * sy), max(1, round(w * sx)), max(1, round(h * sy))


def pixels(image: Any) -> Pixels:
    """`image` (a Pillow image or an array) as uint8 RGB of shape (height, width, 3)."""
    array = np.asarray(image.convert("RGB") if hasattr(image, "convert") else image)
    return np.ascontiguousarray(array[..., :3], dtype=np.uint8)


def level(before: Pixels, after: Pixels) -> np.ndarray:
    """uint8 (height, width): the largest difference of the three channels. A grey value would round one level away."""
    red, green, blue = cv2.split(cv2.absdiff(before, after))
    return np.asarray(cv2.max(cv2.max(red, green), blue))


# Ours. Screens of one design at two densities keep their shape within 2 %; more than that is another layout.
_SAME_SHAPE = 0.02
# Ours. A picture that differs nearly everywhere, and nearly everywhere by little, was re-encoded or rescaled.
_NOISY_SHARE, _NOISY_LEVEL, _GRAIN = 0.5, 12, 0.4


def lay(before: Any, after: Any) -> Canvas:
    """Both images on one canvas.

    Images of the same shape but another size: the second is scaled to the first. Images of another shape: both are
    laid in the top left corner, and what only one of them covers is compared with white.
    """
    a, b = pixels(before), pixels(after)
    size_a, size_b = (a.shape[1], a.shape[0]), (b.shape[1], b.shape[0])
    scale = (1.0, 1.0)
    if size_a != size_b:
        ratio = (size_a[0] * size_b[1]) / (size_a[1] * size_b[0])
        if abs(ratio - 1) <= _SAME_SHAPE:
            scale = (size_b[0] / size_a[0], size_b[1] / size_a[1])
            b = cv2.resize(b, size_a, interpolation=cv2.INTER_AREA)
        else:
            width, height = max(size_a[0], size_b[0]), max(size_a[1], size_b[1])
            a, b = (_pad(side, width, height) for side in (a, b))
    difference = level(a, b)
    noise = _noise(difference)
    if not (difference > noise).any():
        noise = 0  # All that differs is faint: then that is what differs.
    return Canvas(a, b, difference > noise, size_a, size_b, scale, noise)


def _pad(side: Pixels, width: int, height: int) -> Pixels:
    bottom, right = height - side.shape[0], width - side.shape[1]
    return np.asarray(cv2.copyMakeBorder(side, 0, bottom, 0, right, cv2.BORDER_CONSTANT, value=(255, 255, 255)))


def _noise(difference: np.ndarray) -> int:
    """The level under which nearly all of a picture-wide grain lies; 0 if the difference is local, or even as paint."""
    if np.count_nonzero(difference) < _NOISY_SHARE * difference.size:
        return 0
    typical = int(np.percentile(difference, 75))
    if typical > _NOISY_LEVEL:
        return 0
    values = difference.astype(np.float32)
    grain = np.sqrt(np.maximum(cv2.blur(values**2, (5, 5)) - cv2.blur(values, (5, 5)) ** 2, 0))
    return 3 * typical if float(np.median(grain)) >= _GRAIN else 0
