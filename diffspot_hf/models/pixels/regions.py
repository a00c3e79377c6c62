"""Changed pixels grouped into regions: what lies close together is taken to be one change."""

from __future__ import annotations

import numpy as np

from ...errors import need
from .finding import BoxPx, union

cv2 = need("cv2", "pixel")


def bounds(mask: np.ndarray) -> BoxPx | None:
    """The smallest `xywh_px` box around the True pixels of `mask`, None if there are none."""
    x, y, w, h = cv2.boundingRect(mask.view(np.uint8))
    return (x, y, w, h) if w and h else None


def groups(mask: np.ndarray, gap: int) -> list[BoxPx]:
    """Boxes (`xywh_px`, top to bottom, then left to right) of the pixels of `mask` that lie within `gap` of each other.

    Boxes that touch or contain each other are one: what changes inside a changed frame belongs to the frame.
    """
    kernel = np.ones((gap + 1, gap + 1), np.uint8)
    near = cv2.dilate(mask.view(np.uint8), kernel)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(near, connectivity=8)
    boxes = []
    for label in range(1, count):
        x, y, w, h = (int(v) for v in stats[label, :4])
        inner = bounds((labels[y : y + h, x : x + w] == label) & mask[y : y + h, x : x + w])
        if inner is not None:
            boxes.append((x + inner[0], y + inner[1], inner[2], inner[3]))
    return sorted(merged(boxes), key=lambda box: (box[1], box[0]))


def merged(boxes: list[BoxPx]) -> list[BoxPx]:
    """`boxes` with every two that overlap replaced by the box around both, until none do."""
    done: list[BoxPx] = []
    todo = list(boxes)
    while todo:
        box = todo.pop()
        for other in done:
            if overlap(box, other):
                done.remove(other)
                todo.append(union((box, other)))
                break
        else:
            done.append(box)
    return done


def overlap(one: BoxPx, two: BoxPx) -> bool:
    """Whether two `xywh_px` boxes share a pixel."""
    return (
        one[0] < two[0] + two[2] and two[0] < one[0] + one[2] and one[1] < two[1] + two[3] and two[1] < one[1] + one[3]
    )


def grown(box: BoxPx, margin: int, width: int, height: int) -> BoxPx:
    """`box` with `margin` pixels on every side, inside a picture of `width` by `height`."""
    x, y = max(0, box[0] - margin), max(0, box[1] - margin)
    right, bottom = min(width, box[0] + box[2] + margin), min(height, box[1] + box[3] + margin)
    return x, y, right - x, bottom - y


def contains(outer: BoxPx, inner: BoxPx) -> bool:
    """Whether the middle of `inner` lies in `outer`, both `xywh_px`."""
    x, y = inner[0] + inner[2] / 2, inner[1] + inner[3] / 2
    return outer[0] <= x <= outer[0] + outer[2] and outer[1] <= y <= outer[1] + outer[3]
