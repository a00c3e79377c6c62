"""Which pixels belong to the target, and how to take it away so that the ground behind it looks whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError, need
from ..patches import RGB
from ..regions import Box

Mask = NDArray[np.uint8]
"""0 or 255 for each pixel of a region, shape (height, width)."""

_LEAST_SHARE, _RING = 0.02, 6  # a smaller segment is taken for a failure; width in pixels of the border compared


def cv2() -> Any:
    return need("cv2", "build")


def target_mask(picture: RGB, region: Box, box: Box, outline: Sequence[Sequence[float]] | None = None) -> Mask:
    """The target's pixels in `region`: its outline (points in pixels of the picture) filled, else cut out of its box.

    Without an outline the box is segmented by GrabCut; where that finds next to nothing, its ellipse is taken.
    """
    mask = np.zeros((region.h, region.w), np.uint8)
    if outline:
        points = np.array([[x - region.x, y - region.y] for x, y in outline], np.float64)
        cv2().fillPoly(mask, [np.round(points).astype(np.int32)], 255)
        return mask
    inner = Box(box.x - region.x, box.y - region.y, box.w, box.h)
    crop = np.ascontiguousarray(picture[region.slices][:, :, ::-1])
    labels = np.zeros(mask.shape, np.uint8)
    if inner.w > 4 and inner.h > 4 and (inner.w < region.w or inner.h < region.h):
        cv2().setRNGSeed(0)
        models = np.zeros((1, 65)), np.zeros((1, 65))
        cv2().grabCut(crop, labels, tuple(inner), *models, 4, cv2().GC_INIT_WITH_RECT)
        mask[(labels == cv2().GC_FGD) | (labels == cv2().GC_PR_FGD)] = 255
    if mask.mean() / 255 < _LEAST_SHARE:
        center = (inner.x + inner.w // 2, inner.y + inner.h // 2)
        cv2().ellipse(mask, center, (max(1, inner.w // 2), max(1, inner.h // 2)), 0, 0, 360, 255, -1)
    return mask


def soft(mask: Mask, radius: float) -> NDArray[np.float32]:
    """`mask` as weights from 0 to 1 with a soft edge, shape (height, width, 1)."""
    weights = cv2().GaussianBlur(mask.astype(np.float32) / 255, (0, 0), max(radius, 0.3))
    return weights[:, :, None]


def grown(mask: Mask, pixels: int) -> Mask:
    kernel = cv2().getStructuringElement(cv2().MORPH_ELLIPSE, (2 * pixels + 1, 2 * pixels + 1))
    return cv2().dilate(mask, kernel)


def without(picture: RGB, region: Box, mask: Mask, *, donor: tuple[int, int] | None = None) -> RGB:
    """The pixels of `region` with the masked ones replaced by ground from nearby, fitted in colour at the border.

    The ground is the shifted copy of the picture that agrees best along the border of the mask (`donor` fixes the
    shift, in pixels); where no shift stays inside the picture, the hole is inpainted from its rim.
    """
    crop = picture[region.slices].copy()
    if not mask.any():
        raise UsageError("nothing is marked that could be taken away")
    shift = donor or _best_shift(picture, region, mask)
    if shift is None:
        filled: RGB = cv2().inpaint(crop, mask, 5, cv2().INPAINT_TELEA)
        return filled
    moved = Box(region.x + shift[0], region.y + shift[1], region.w, region.h)
    if not _inside(moved, picture):
        raise UsageError(f"the ground {shift} pixels away lies outside the picture")
    return clone(picture[moved.slices], crop, mask)


def clone(source: RGB, onto: RGB, mask: Mask) -> RGB:
    """`source` laid on `onto` (same size) inside `mask`, colours fitted at the border (Poisson blending)."""
    edge = mask.copy()
    edge[[0, -1], :] = 0  # the solver needs a rim of ground around what it blends
    edge[:, [0, -1]] = 0
    if not edge.any():
        raise UsageError("the marked pixels fill the whole region; nothing is left to blend with")
    x, y, width, height = cv2().boundingRect(edge)
    center = (x + width // 2, y + height // 2)
    blended: RGB = cv2().seamlessClone(
        np.ascontiguousarray(source), np.ascontiguousarray(onto), edge, center, cv2().NORMAL_CLONE
    )
    return blended


def _best_shift(picture: RGB, region: Box, mask: Mask) -> tuple[int, int] | None:
    """The shift (dx, dy) whose pixels agree best with ours along the rim of the mask, None if none fits."""
    rim = (grown(mask, _RING) > 0) & (mask == 0)
    if not rim.any():
        return None
    _, _, width, height = cv2().boundingRect(mask)
    ours = picture[region.slices][rim].astype(np.int32)
    best: tuple[float, tuple[int, int]] | None = None
    for scale in (1.1, 1.4, 1.8, 2.3, 3.0):
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1), (2, 0), (-2, 0)):
            shift = (round(dx * scale * width), round(dy * scale * height))
            moved = Box(region.x + shift[0], region.y + shift[1], region.w, region.h)
            if not _inside(moved, picture):
                continue
            cost = float(np.abs(picture[moved.slices][rim].astype(np.int32) - ours).mean())
            if best is None or cost < best[0]:
                best = (cost, shift)
    return best[1] if best else None


def _inside(box: Box, picture: RGB) -> bool:
    return box.x >= 0 and box.y >= 0 and box.x + box.w <= picture.shape[1] and box.y + box.h <= picture.shape[0]
