"""One object of a scene as pixels: its look (colour, texture, wear), then size, turn, light and how it lies there."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .editors.masks import cv2
from .editors.traces import noise
from .kit import Kit
from .patches import RGB

RGBA = NDArray[np.float32]
"""Premultiplied colour and coverage from 0 to 1, shape (height, width, 4)."""


@dataclass(frozen=True)
class Look:
    """What makes an object this one and not another of its kind: `hue` in degrees it is turned by, `wear` numbers its
    marks (0: none)."""

    kind: str
    hue: int = 0
    wear: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind}/{self.hue}/{self.wear}"


@dataclass(frozen=True)
class Light:
    """How a scene is lit: gain for red, green and blue, the way shadows fall (pixels for an object of 100 pixels), how
    dark they are, and the grain of the picture (standard deviation)."""

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)
    shadow: tuple[float, float] = (8.0, 10.0)
    darkness: float = 0.45
    grain: float = 2.0
    sink: float = 0.0
    """Share of an object's height that the ground (grass) hides at its foot."""


@cache
def sprite(kit: Kit, look: Look) -> RGBA:
    """The object of that look, textured and worn, at the size of its picture."""
    picture = kit.picture(look.kind)
    rgb = picture[:, :, :3]
    if look.hue:
        hsv = cv2().cvtColor(rgb, cv2().COLOR_RGB2HSV)
        hsv[:, :, 0] = (hsv[:, :, 0].astype(np.int32) + look.hue // 2) % 180
        rgb = cv2().cvtColor(hsv, cv2().COLOR_HSV2RGB)
    alpha = picture[:, :, 3].astype(np.float32) / 255
    shape = alpha.shape
    draw = np.random.default_rng(zlib.crc32(look.kind.encode()))
    rough = 1 + 0.14 * (noise(shape, draw, 5) - 0.5) + 0.10 * (noise(shape, draw, 30) - 0.5)
    colour = rgb.astype(np.float32) / 255 * rough[:, :, None]
    if look.wear:
        colour = _worn(colour, alpha, np.random.default_rng([look.wear, zlib.crc32(look.kind.encode())]))
    made = np.concatenate([np.clip(colour, 0, 1) * alpha[:, :, None], alpha[:, :, None]], axis=2)
    made.setflags(write=False)
    return made.astype(np.float32)


def _worn(colour: Any, alpha: Any, draw: np.random.Generator) -> Any:
    """Splashes of paint and scratches, at places that belong to the object."""
    height, width = alpha.shape
    rows, columns = np.nonzero(alpha > 0.95)
    paint = np.zeros(alpha.shape, np.float32)
    scratch = np.zeros(alpha.shape, np.uint8)
    for _ in range(4):
        at = int(draw.integers(len(rows)))
        y, x = np.mgrid[0:height, 0:width]
        radius = draw.uniform(0.05, 0.085) * max(alpha.shape)
        paint = np.maximum(
            paint, np.clip(radius - np.hypot(x - columns[at], (y - rows[at]) * draw.uniform(0.8, 1.3)), 0, 1)
        )
    for _ in range(3):
        at, angle, length = int(draw.integers(len(rows))), draw.uniform(0, np.pi), 0.16 * max(alpha.shape)
        x, y = int(columns[at]), int(rows[at])
        end = (round(x + length * np.cos(angle)), round(y + length * np.sin(angle)))
        cv2().line(scratch, (x, y), end, 255, 3, cv2().LINE_AA)
    ink = np.float32(draw.choice([[0.96, 0.95, 0.9], [0.12, 0.12, 0.14]]))
    colour = colour * (1 - paint[:, :, None]) + ink * paint[:, :, None]
    return colour * (1 - 0.55 * scratch[:, :, None].astype(np.float32) / 255)


def turned(image: RGBA, size: float, angle: float, flip: bool) -> RGBA:
    """`image` with its longer side `size` pixels, turned by `angle` degrees (clockwise), on the smallest canvas."""
    height, width = image.shape[:2]
    scale = size / max(height, width)
    if scale < 0.6:  # shrinks in two steps, so that fine texture does not flicker
        half = cv2().resize(
            image,
            (max(1, round(width * scale * 1.5)), max(1, round(height * scale * 1.5))),
            interpolation=cv2().INTER_AREA,
        )
        image, (height, width) = half, half.shape[:2]
        scale = size / max(height, width)
    matrix = cv2().getRotationMatrix2D((width / 2, height / 2), -angle, scale)
    if flip:
        matrix = matrix @ np.array([[-1, 0, width], [0, 1, 0], [0, 0, 1]])
    corners = np.array([[0, 0, 1], [width, 0, 1], [0, height, 1], [width, height, 1]]).T
    reach = matrix @ corners
    low, high = reach.min(axis=1), reach.max(axis=1)
    matrix[:, 2] -= low - 1
    out = (int(np.ceil(high[0] - low[0])) + 2, int(np.ceil(high[1] - low[1])) + 2)
    made: RGBA = cv2().warpAffine(image, matrix, out, flags=cv2().INTER_LINEAR, borderValue=(0, 0, 0, 0))
    visible = made[:, :, 3] > 0.03
    rows, columns = np.flatnonzero(visible.any(axis=1)), np.flatnonzero(visible.any(axis=0))
    return made[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def sunk(image: RGBA, share: float, backdrop: Any, center: tuple[float, float]) -> RGBA:
    """`image` with its foot behind the grass that it lies in: the brighter blades of the backdrop at that place cover
    it, the more the nearer to the ground, over about `share` of its height."""
    height, width = image.shape[:2]
    zone = share * height
    if zone < 1:
        return image
    y, x = round(center[1] - height / 2), round(center[0] - width / 2)
    rows = np.clip(np.arange(y, y + height), 0, backdrop.shape[0] - 1)
    columns = np.clip(np.arange(x, x + width), 0, backdrop.shape[1] - 1)
    ground = backdrop[np.ix_(rows, columns)].mean(axis=2)
    blades = ground - cv2().GaussianBlur(ground, (0, 0), 6)
    blades = blades / max(float(blades.std()), 1e-3)
    lowest = np.where(image[:, :, 3] > 0.3, np.arange(height)[:, None], -1).max(axis=0)
    near = lowest >= lowest.max() - 2.5 * zone  # columns that end higher up do not touch the ground
    above = np.where(near, lowest - np.arange(height)[:, None], np.inf) / zone  # 0 at the foot, 1 at the zone's top
    keep = np.clip((1.5 * above - 0.55 - 0.45 * blades) * 1.6, 0, 1)
    return (image * np.where(above > 1.4, 1, keep)[:, :, None]).astype(np.float32)


def lay_object(
    scene: Any, backdrop: Any, image: RGBA, center: tuple[float, float], light: Light, draw: np.random.Generator
) -> tuple[int, int, int, int]:
    """Lays an object and its shadow on `scene` (float RGB, 0 to 1, changed in place); returns the object's box as
    ``(x, y, w, h)`` in whole pixels. `backdrop` is the scene without objects: it says how bright the place is."""
    size = max(image.shape[:2])
    local = _local_gain(backdrop, center, size)
    reach = size / 100
    soft = max(1.2, 4.5 * reach)
    pad = int(4 * soft + max(abs(light.shadow[0]), abs(light.shadow[1])) * reach) + 2
    padded = np.pad(image, ((pad, pad), (pad, pad), (0, 0)))
    shift = np.float32([[1, 0, light.shadow[0] * reach], [0, 1, light.shadow[1] * reach]])
    form = (padded.shape[1], padded.shape[0])
    cast = cv2().GaussianBlur(cv2().warpAffine(padded[:, :, 3], shift, form), (0, 0), soft)
    contact = cv2().GaussianBlur(padded[:, :, 3], (0, 0), max(1.5, 3.0 * reach))
    shade = 1 - light.darkness * np.clip(0.8 * cast + 0.25 * contact, 0, 1)
    x = round(center[0] - image.shape[1] / 2)
    y = round(center[1] - image.shape[0] / 2)
    colour = padded[:, :, :3] * np.float32(light.gain) * local
    colour += padded[:, :, 3:] * draw.normal(0, light.grain / 255, (*padded.shape[:2], 1)).astype(np.float32)
    top, left = y - pad, x - pad
    rows, columns = slice(max(0, top), top + padded.shape[0]), slice(max(0, left), left + padded.shape[1])
    part = scene[rows, columns]
    cut = (slice(max(0, -top), max(0, -top) + part.shape[0]), slice(max(0, -left), max(0, -left) + part.shape[1]))
    cover = padded[:, :, 3:][cut]
    part[:] = np.clip(part * shade[:, :, None][cut] * (1 - cover) + np.clip(colour[cut], 0, None), 0, 1)
    return x, y, image.shape[1], image.shape[0]


def _local_gain(scene: Any, center: tuple[float, float], size: int) -> float:
    """How bright the ground is here, against the whole scene: objects in a dark corner are darker."""
    y, x, reach = round(center[1]), round(center[0]), size
    around = scene[max(0, y - reach) : y + reach, max(0, x - reach) : x + reach]
    return float(np.clip((around.mean() + 0.25) / (scene[::8, ::8].mean() + 0.25), 0.75, 1.2))


def as_rgb(scene: Any) -> RGB:
    return np.clip(np.round(scene * 255), 0, 255).astype(np.uint8)
