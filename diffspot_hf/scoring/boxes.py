"""Boxes in named frames: reading what models write, converting, and intersection over union.

The package's own frame is ``xywh_norm``: ``{"x", "y", "w", "h"}``, fractions of the picture, x and y the top-left
corner. Models answer in other frames; which one is declared, never guessed from the size of the numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from ..errors import UsageError

Box = Mapping[str, float]
"""A box in ``xywh_norm``."""

BoxFrame = Literal["xywh_norm", "xyxy_norm", "xyxy_1000", "yxyx_1000", "xyxy_px", "xyxy_px_processed"]
FRAMES: tuple[BoxFrame, ...] = get_args(BoxFrame)
"""``norm``: fractions of the picture; ``1000``: thousandths of it; ``px``: pixels of the original picture;
``px_processed``: pixels of the picture as the model's own processing resized it. ``xyxy`` is left, top, right, bottom;
``yxyx`` is top, left, bottom, right."""

OVERHANG = 0.02
"""How far, as a fraction of the picture, an edge may lie outside and still be clipped (our choice)."""

_ROUNDING = 1e-9  # sums such as 0.9 + 0.1 are not exact; an edge this close to a limit lies on it
_SIDES = ("x", "y", "w", "h")
_CORNERS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))
_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def number(value: Any) -> float | None:
    """`value` as a finite float if it is a number or a string that is one; truth values are neither.

    >>> number(" 0.25 "), number("25%"), number(True)
    (0.25, None, None)
    """
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    try:
        result = float(value)
    except OverflowError:
        return None
    return result if math.isfinite(result) else None


def numbers(value: Any, keys: Sequence[str]) -> tuple[float, float, float, float] | None:
    """The four finite numbers that the object `value` holds under `keys`, or None."""
    if not isinstance(value, Mapping):
        return None
    a, b, c, d = (number(value.get(key)) for key in keys)
    return None if a is None or b is None or c is None or d is None else (a, b, c, d)


def read_box(
    value: Any,
    frame: BoxFrame | None = None,
    size: tuple[int, int] | None = None,
    processed_size: tuple[int, int] | None = None,
) -> tuple[dict[str, float] | None, bool]:
    """The box that `value` describes, in ``xywh_norm`` and inside the picture, and whether it had to be clipped.

    None if it is not usable: not four finite numbers, no area, or an edge more than `OVERHANG` outside. Without a
    `frame` only an object ``{x, y, w, h}`` in fractions is a box. With one, a list of four numbers in the order of the
    frame is a box as well, and in the corner frames an object with named corners instead of ``{x, y, w, h}``.
    `size` and `processed_size` are (width, height) in pixels; the pixel frames need theirs, else `UsageError`.

    >>> read_box([125, 250, 375, 500], "xyxy_1000")
    ({'x': 0.125, 'y': 0.25, 'w': 0.25, 'h': 0.25}, False)
    >>> read_box({"x": 100, "y": 250, "w": 300, "h": 500})
    (None, False)
    """
    if frame is not None and frame not in FRAMES:
        raise UsageError(f"unknown box frame {frame!r}: use one of {', '.join(FRAMES)}")
    four = _four(value, frame)
    width, height = _units(frame, size, processed_size)
    if four is None:
        return None, False
    if frame is None or frame == "xywh_norm":
        x, y, w, h = four
        right, bottom = x + w, y + h
    else:
        x, y, right, bottom = four[0] / width, four[1] / height, four[2] / width, four[3] / height
        w, h = right - x, bottom - y
    if not (w > 0 and h > 0):
        return None, False
    low, high = -OVERHANG - _ROUNDING, 1 + OVERHANG + _ROUNDING
    if x < low or y < low or right > high or bottom > high:
        return None, False
    x, w, cut_x = _clip(x, w, right)
    y, h, cut_y = _clip(y, h, bottom)
    if not (w > 0 and h > 0):
        return None, False
    return {"x": x, "y": y, "w": w, "h": h}, cut_x or cut_y


def write_box(
    box: Box, frame: BoxFrame, size: tuple[int, int] | None = None, processed_size: tuple[int, int] | None = None
) -> list[float]:
    """`box` as the list of four numbers that `read_box` reads in `frame`.

    >>> write_box({"x": 0.125, "y": 0.25, "w": 0.25, "h": 0.25}, "yxyx_1000")
    [250.0, 125.0, 500.0, 375.0]
    """
    if frame == "xywh_norm":
        return [box[side] for side in _SIDES]
    width, height = _units(frame, size, processed_size)
    left, top = box["x"] * width, box["y"] * height
    right, bottom = (box["x"] + box["w"]) * width, (box["y"] + box["h"]) * height
    return [top, left, bottom, right] if frame.startswith("yxyx") else [left, top, right, bottom]


def iou(a: Box | None, b: Box | None) -> float:
    """Intersection over union of two boxes of one frame, 0 to 1; 0 if either is None or has no area.

    >>> iou({"x": 0, "y": 0, "w": 0.5, "h": 1}, {"x": 0.25, "y": 0, "w": 0.5, "h": 1})
    0.3333333333333333
    """
    if a is None or b is None:
        return 0.0
    # A width or height that is not above 0 leaves no overlap either. No min and max: this is scoring's inner loop.
    ax, aw, bx, bw = a["x"], a["w"], b["x"], b["w"]
    a_right, b_right = ax + aw, bx + bw
    across = (a_right if a_right < b_right else b_right) - (ax if ax > bx else bx)
    if across <= 0:
        return 0.0
    ay, ah, by, bh = a["y"], a["h"], b["y"], b["h"]
    a_bottom, b_bottom = ay + ah, by + bh
    down = (a_bottom if a_bottom < b_bottom else b_bottom) - (ay if ay > by else by)
    if down <= 0:
        return 0.0
    shared = across * down
    union = aw * ah + bw * bh - shared
    return shared / union if shared < union else float(shared >= union > 0)  # rounding must not lift it above 1


def _four(value: Any, frame: BoxFrame | None) -> tuple[float, float, float, float] | None:
    """The four numbers of `value`: x, y, w, h in ``xywh_norm`` and without a frame, else left, top, right, bottom."""
    if frame is None:
        return numbers(value, _SIDES)
    if isinstance(value, (list, tuple)):
        if len(value) != 4:
            return None
        a, b, c, d = (number(part) for part in value)
        if a is None or b is None or c is None or d is None:
            return None
        return (b, a, d, c) if frame.startswith("yxyx") else (a, b, c, d)
    if frame == "xywh_norm":
        return numbers(value, _SIDES)
    return next((four for keys in _CORNERS if (four := numbers(value, keys))), None)


def _units(
    frame: BoxFrame | None, size: tuple[int, int] | None, processed_size: tuple[int, int] | None
) -> tuple[float, float]:
    """Width and height of the picture in the units of `frame`."""
    if frame == "xyxy_px" or frame == "xyxy_px_processed":
        known = size if frame == "xyxy_px" else processed_size
        if known is None or not (known[0] > 0 and known[1] > 0):
            what = "original" if frame == "xyxy_px" else "processed"
            raise UsageError(f"box frame {frame} needs the {what} width and height of the picture: got {known}")
        return float(known[0]), float(known[1])
    return (1000.0, 1000.0) if frame in ("xyxy_1000", "yxyx_1000") else (1.0, 1.0)


def _clip(start: float, extent: float, end: float) -> tuple[float, float, bool]:
    """`start` and `extent` with both ends inside 0 to 1, an end that was inside kept; and whether that cut a piece."""
    if start >= 0 and end <= 1:
        return start, extent, False
    inside, until = max(start, 0.0), min(end, 1.0)
    return inside, until - inside, start < -_ROUNDING or end > 1 + _ROUNDING
