"""Traces that an event leaves on a surface: cracks, scorch, spills, drops, prints, scratches.

Each function gets the pixels of a region, the box in it that the trace fills, a source of chance and parameters, and
returns new pixels. They darken and tint the surface that is there, so that its own texture stays visible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..patches import RGB
from ..regions import Box
from .masks import cv2

Weights = NDArray[np.float32]
Trace = Callable[[RGB, Box, np.random.Generator, Mapping[str, Any]], RGB]


def noise(shape: tuple[int, int], draw: np.random.Generator, coarse: float) -> Weights:
    """Smooth noise from 0 to 1 with features of about `coarse` pixels, three octaves."""
    total = np.zeros(shape, np.float32)
    for octave, weight in enumerate((0.55, 0.3, 0.15)):
        step = max(1.0, coarse / 2**octave)
        small = (max(2, round(shape[0] / step) + 1), max(2, round(shape[1] / step) + 1))
        field = draw.random(small, dtype=np.float32)
        total += weight * cv2().resize(field, (shape[1], shape[0]), interpolation=cv2().INTER_CUBIC)
    low, high = float(total.min()), float(total.max())
    return (total - low) / max(high - low, 1e-6)


def tint(crop: RGB, weights: Weights, rgb: tuple[float, float, float], *, shine: Weights | None = None) -> RGB:
    """`crop` times the colour `rgb` (1 leaves it as it is) where `weights` is 1, with `shine` (0 to 1) added."""
    factor = 1 - weights[:, :, None] * (1 - np.float32(rgb))
    mixed = crop.astype(np.float32) * factor
    if shine is not None:
        mixed += 255 * shine[:, :, None]
    return np.clip(np.round(mixed), 0, 255).astype(np.uint8)


def _blob(shape: tuple[int, int], box: Box, draw: np.random.Generator, edge: float, rough: float) -> Weights:
    """An irregular patch that fills `box`: 1 inside, 0 outside, with an edge of about `edge` pixels."""
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    cx, cy = box.center
    away = np.hypot((x - cx) / (box.w / 2), (y - cy) / (box.h / 2))
    ragged = away + rough * (noise(shape, draw, min(box.w, box.h) / 2.2) - 0.5)
    steep = min(box.w, box.h) / 2 / max(edge, 0.5)
    inside = np.clip((1 - rough / 2 - ragged) * steep + 0.5, 0, 1)
    return (inside * np.clip((1 - away) * 4, 0, 1)).astype(np.float32)


def scorch(crop: RGB, box: Box, draw: np.random.Generator, parameters: Mapping[str, Any]) -> RGB:
    """A burnt patch: black in the middle, brown at the rim, uneven."""
    shape = crop.shape[:2]
    wide = _blob(shape, box, draw, min(box.w, box.h) * 0.3, 0.55) * (0.65 + 0.35 * noise(shape, draw, 9))
    core = Box(box.x + box.w // 5, box.y + box.h // 5, box.w * 3 // 5, box.h * 3 // 5)
    dark = _blob(shape, core, draw, min(core.w, core.h) * 0.3, 0.6) * (0.6 + 0.4 * noise(shape, draw, 5))
    return tint(tint(crop, wide, (0.5, 0.38, 0.28)), dark, (0.18, 0.16, 0.15))


def spill(crop: RGB, box: Box, draw: np.random.Generator, parameters: Mapping[str, Any]) -> RGB:
    """A spilt liquid of the colour `rgb` (0 to 1 each): an irregular puddle with a darker rim and some splashes."""
    rgb = tuple(parameters.get("rgb", (0.45, 0.2, 0.22)))
    shape = crop.shape[:2]
    main = Box(box.x + box.w // 8, box.y + box.h // 8, box.w * 3 // 4, box.h * 3 // 4)
    puddle = _blob(shape, main, draw, 2.0, 0.42)
    for _ in range(9):
        radius = draw.uniform(0.02, 0.055) * min(box.w, box.h) + 1
        angle, far = draw.uniform(0, 2 * np.pi), draw.uniform(0.36, 0.47)
        cx, cy = box.center[0] + far * box.w * np.cos(angle), box.center[1] + far * box.h * np.sin(angle)
        puddle = np.maximum(puddle, _spot(shape, cx, cy, radius))
    puddle = puddle * (0.8 + 0.2 * noise(shape, draw, 12))
    rim = np.clip(puddle - cv2().GaussianBlur(puddle, (0, 0), 4), 0, 1)
    return tint(tint(crop, puddle, rgb), rim, (0.6, 0.55, 0.55))  # type: ignore[arg-type]


def drops(crop: RGB, box: Box, draw: np.random.Generator, parameters: Mapping[str, Any]) -> RGB:
    """Many small wet spots, as the first drops of rain leave."""
    shape = crop.shape[:2]
    wet = np.zeros(shape, np.float32)
    for _ in range(int(parameters.get("count", 46))):
        radius = draw.uniform(0.012, 0.034) * min(box.w, box.h) + 1
        cx, cy = box.x + draw.uniform(0.04, 0.96) * box.w, box.y + draw.uniform(0.04, 0.96) * box.h
        wet = np.maximum(wet, _spot(shape, cx, cy, radius, draw.uniform(0.75, 1.3)))
    return tint(crop, wet, (0.5, 0.5, 0.52))


def _spot(shape: tuple[int, int], cx: float, cy: float, radius: float, stretch: float = 1.0) -> Weights:
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    away = np.hypot((x - cx) / stretch, y - cy)
    return np.clip(radius - away + 0.5, 0, 1).astype(np.float32)


def crack(crop: RGB, box: Box, draw: np.random.Generator, parameters: Mapping[str, Any]) -> RGB:
    """Cracks that run from one point of impact, which is chipped, towards the edges of the box."""
    shape = crop.shape[:2]
    line = np.zeros(shape, np.uint8)
    cx, cy = box.center
    start = draw.uniform(0, 2 * np.pi)
    for arm in range(int(parameters.get("arms", 6))):
        _walk(
            line, cx, cy, start + arm * 2 * np.pi / 6 + draw.uniform(-0.3, 0.3), box, draw, 2, draw.uniform(0.75, 1.0)
        )
    cracks = cv2().GaussianBlur(line.astype(np.float32) / 255, (0, 0), 0.6)
    radius = min(box.w, box.h) * 0.08
    chip = _blob(
        shape, Box(round(cx - radius), round(cy - radius), round(2 * radius), round(2 * radius)), draw, 1.5, 0.7
    )
    light = np.clip(np.roll(cracks, (1, 1), (0, 1)) - cracks, 0, 1) * 0.12
    return tint(tint(crop, chip, (0.4, 0.38, 0.37)), np.clip(cracks * 1.1, 0, 1), (0.3, 0.29, 0.28), shine=light)


def _walk(
    line: NDArray[np.uint8],
    x: float,
    y: float,
    heading: float,
    box: Box,
    draw: np.random.Generator,
    width: int,
    reach: float,
) -> None:
    """Draws one jagged arm; it may branch once into a thinner one."""
    length, step = reach * min(box.w, box.h) / 2, max(3.0, min(box.w, box.h) * 0.035)
    gone = 0.0
    branch_at = draw.uniform(0.35, 0.7) * length if reach > 0.5 else np.inf
    while gone < length:
        bend = heading + draw.normal(0, 0.45)
        nx, ny = x + step * np.cos(bend), y + step * np.sin(bend)
        inside = box.x + 2 < nx < box.x + box.w - 2 and box.y + 2 < ny < box.y + box.h - 2
        if not inside:
            return
        cv2().line(line, (round(x), round(y)), (round(nx), round(ny)), 255, width, cv2().LINE_AA)
        x, y, gone = nx, ny, gone + step
        if gone > branch_at:
            branch_at = np.inf
            _walk(line, x, y, heading + draw.choice([-0.8, 0.8]), box, draw, 1, reach * 0.45)


def paw_prints(crop: RGB, box: Box, draw: np.random.Generator, parameters: Mapping[str, Any]) -> RGB:
    """Wet prints of a small animal that walked through the box."""
    shape = crop.shape[:2]
    wet = np.zeros(shape, np.float32)
    steps = int(parameters.get("steps", 4))
    size = min(box.w, box.h) * 0.15
    heading = np.deg2rad(float(parameters.get("angle", -35)))
    ahead = np.array([np.cos(heading), np.sin(heading)])
    aside = np.array([-ahead[1], ahead[0]])
    reach = 0.36 * min(box.w / max(abs(ahead[0]), 0.3), box.h / max(abs(ahead[1]), 0.3))
    for step in range(steps):
        along = -reach + 2 * reach * step / max(1, steps - 1)
        place = np.array(box.center) + along * ahead + (1 if step % 2 else -1) * size * 0.8 * aside
        pad = place - 0.15 * size * ahead
        wet = np.maximum(wet, _spot(shape, pad[0], pad[1], size * 0.42))
        for toe in (-0.62, -0.21, 0.21, 0.62):
            tip = place + size * (0.62 - 0.35 * abs(toe)) * ahead + toe * size * aside
            wet = np.maximum(wet, _spot(shape, tip[0], tip[1], size * 0.19))
    uneven = wet * (0.75 + 0.25 * noise(shape, draw, 6))
    return tint(crop, uneven, (0.45, 0.44, 0.44))


def scratches(crop: RGB, box: Box, draw: np.random.Generator, parameters: Mapping[str, Any]) -> RGB:
    """Parallel light scratches, as claws or a dragged edge leave."""
    line = np.zeros(crop.shape[:2], np.uint8)
    angle = np.deg2rad(float(parameters.get("angle", 60)))
    ahead = np.array([np.cos(angle), np.sin(angle)])
    aside = np.array([-ahead[1], ahead[0]])
    for index in range(int(parameters.get("count", 4))):
        offset = (index - 1.5) * 0.13 * min(box.w, box.h)
        half = draw.uniform(0.28, 0.4) * min(box.w, box.h)
        ends = [np.array(box.center) + offset * aside + sign * half * ahead + draw.normal(0, 2, 2) for sign in (-1, 1)]
        cv2().line(line, *(tuple(int(v) for v in np.round(end)) for end in ends), 255, 2, cv2().LINE_AA)
    weights = cv2().GaussianBlur(line.astype(np.float32) / 255, (0, 0), 0.6)
    edge = np.clip(np.roll(weights, (2, 2), (0, 1)) - weights, 0, 1)
    return tint(crop, edge, (0.5, 0.5, 0.5), shine=weights * 0.25)


TRACES: dict[str, Trace] = {
    "scorch": scorch,
    "spill": spill,
    "drops": drops,
    "crack": crack,
    "paw prints": paw_prints,
    "scratches": scratches,
}
