"""What objects lie on: the ground of a photograph, or a drawn table top. A backdrop offers places for objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from ...errors import UsageError
from .editors.masks import cv2
from .editors.traces import noise
from .patches import RGB
from .sprites import Light

Point = tuple[float, float]
GRASS = Light(sink=0.1)
LAMP = Light(shadow=(7.0, 9.0), darkness=0.5, grain=2.5)


@dataclass(frozen=True)
class Place:
    """Where an object lies: the middle of it in pixels, and the length of its longer side there."""

    x: float
    y: float
    size: float


class Backdrop(Protocol):
    """The empty scene and the places on it. `around` gives four places next to a middle, for pairs of objects."""

    light: Light
    fills: str
    """Set of the kit that the scene is filled from."""
    leans: float
    """Objects are turned by at most this many degrees either way."""

    def picture(self) -> RGB: ...

    def places(self, n: int, draw: np.random.Generator, blocks: int) -> tuple[list[list[Place]], list[Place]]:
        """`blocks` groups of five places (a middle, then right, below, left, above it) and `n` single places."""
        ...


@dataclass(frozen=True)
class Ground:
    """The ground in a photograph: the polygon `area` (pixels); objects are `far` pixels long at its top and `near` at
    its bottom."""

    photo: RGB
    area: Sequence[Point]
    far: float = 62
    near: float = 128
    light: Light = GRASS
    fills: str = "ground"
    leans: float = 28

    def picture(self) -> RGB:
        return self.photo

    def places(self, n: int, draw: np.random.Generator, blocks: int) -> tuple[list[list[Place]], list[Place]]:
        mask = np.zeros(self.photo.shape[:2], np.uint8)
        cv2().fillPoly(mask, [np.round(np.array(self.area)).astype(np.int32)], 255)
        rows, columns = np.nonzero(mask)
        if not len(rows):
            raise UsageError("the ground's polygon covers nothing of the photograph")
        top, bottom = int(rows.min()), int(rows.max())
        taken: list[tuple[float, float, float]] = []

        def size(y: float) -> float:
            return self.far + (self.near - self.far) * (y - top) / max(1, bottom - top)

        def find(reach: float) -> Place:
            for _ in range(6000):
                at = int(draw.integers(len(rows)))
                x, y = float(columns[at]), float(rows[at])
                here = size(y)
                far = here * reach
                if not self._fits(mask, x, y, far):
                    continue
                if all(np.hypot(x - ox, (y - oy) * 1.15) > 1.02 * (far + other) for ox, oy, other in taken):
                    taken.append((x, y, far))
                    return Place(x, y, here)
            raise UsageError(f"no room for {n} objects and {blocks} pairs; make the ground larger or objects smaller")

        groups = []
        for _ in range(blocks):
            middle = find(1.62)
            step = 1.1 * middle.size
            ways = ((0, 0), (step, 0), (0, step), (-step, 0), (0, -step))
            groups.append([Place(middle.x + dx, middle.y + dy, middle.size) for dx, dy in ways])
        return groups, [find(0.56) for _ in range(n)]

    @staticmethod
    def _fits(mask: Any, x: float, y: float, reach: float) -> bool:
        height, width = mask.shape
        for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            column, row = round(x + dx * reach), round(y + dy * reach)
            if not (0 <= column < width and 0 <= row < height and mask[row, column]):
                return False
        return True


@dataclass(frozen=True)
class Table:
    """A table top of `columns` x `rows` cells, one object a cell, seen from above; `kind` is planks or cloth."""

    width: int = 1920
    height: int = 1280
    columns: int = 16
    rows: int = 10
    kind: str = "planks"
    seed: int = 0
    light: Light = LAMP
    fills: str = "table"
    leans: float = 40

    def picture(self) -> RGB:
        return _table_top(self)

    def places(self, n: int, draw: np.random.Generator, blocks: int) -> tuple[list[list[Place]], list[Place]]:
        edge = 16  # so that a turned object at the border stays in the picture
        wide, high = (self.width - 2 * edge) / self.columns, (self.height - 2 * edge) / self.rows
        free = {(column, row) for column in range(self.columns) for row in range(self.rows)}
        if n + 5 * blocks > len(free):
            raise UsageError(f"no room for {n} objects and {blocks} pairs on {len(free)} cells")

        def place(cell: tuple[int, int], *, jitter: float = 7) -> Place:
            size = min(wide, high) * float(draw.uniform(0.68, 0.82))
            x, y = edge + (cell[0] + 0.5) * wide, edge + (cell[1] + 0.5) * high
            return Place(x + float(draw.uniform(-jitter, jitter)), y + float(draw.uniform(-jitter, jitter)), size)

        groups = []
        for _ in range(blocks):
            middles = [(c, r) for c, r in sorted(free) if {(c + 1, r), (c, r + 1), (c - 1, r), (c, r - 1)} <= free]
            if not middles:
                raise UsageError(f"no room for {blocks} pairs on the table")
            c, r = middles[int(draw.integers(len(middles)))]
            cells = [(c, r), (c + 1, r), (c, r + 1), (c - 1, r), (c, r - 1)]
            free -= set(cells)
            groups.append([place(cell, jitter=3) for cell in cells])
        order = sorted(free)
        chosen = [order[int(i)] for i in draw.permutation(len(order))[:n]]
        return groups, [place(cell) for cell in chosen]


@lru_cache(maxsize=4)
def _table_top(table: Table) -> RGB:
    draw = np.random.default_rng([table.seed, 7])
    shape = (table.height, table.width)
    if table.kind == "planks":
        made = _planks(shape, draw)
    elif table.kind == "cloth":
        made = _cloth(shape, draw)
    else:
        raise UsageError(f"unknown table top {table.kind!r}; there are planks and cloth")
    y, x = np.mgrid[0 : table.height, 0 : table.width].astype(np.float32)
    falloff = 1.08 - 0.35 * np.hypot(x / table.width - 0.35, y / table.height - 0.3)
    made = made * falloff[:, :, None] + draw.normal(0, table.light.grain / 255, made.shape)
    return np.clip(np.round(made * 255), 0, 255).astype(np.uint8)


def _planks(shape: tuple[int, int], draw: np.random.Generator) -> Any:
    height, width = shape
    made = np.empty((height, width, 3), np.float32)
    edge = 0
    while edge < height:
        high = int(draw.integers(120, 190))
        rows = slice(edge, min(height, edge + high))
        size = (rows.stop - rows.start, width)
        grain = cv2().resize(
            noise((size[0], max(8, width // 26)), draw, 7), (width, size[0]), interpolation=cv2().INTER_CUBIC
        )
        fine = cv2().resize(draw.random((size[0], width // 12), dtype=np.float32), (width, size[0]))
        tone = np.float32([0.66, 0.49, 0.33]) * draw.uniform(0.88, 1.08)
        made[rows] = tone * (0.78 + 0.3 * grain + 0.10 * fine)[:, :, None]
        made[rows.stop - 3 : rows.stop] *= 0.45
        edge += high
    return made


def _cloth(shape: tuple[int, int], draw: np.random.Generator) -> Any:
    height, width = shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    weave = 0.5 + 0.25 * np.sin(x * 2 * np.pi / 5) * np.sin(y * 2 * np.pi / 5)
    folds = noise(shape, draw, 420)
    stripes = ((x + 20 * np.sin(y / 300)) % 240 < 60) | (y % 240 < 60)
    dark = cv2().GaussianBlur(stripes.astype(np.float32), (0, 0), 1.2)[:, :, None]
    tone = dark * np.float32([0.42, 0.52, 0.56]) + (1 - dark) * np.float32([0.72, 0.74, 0.70])
    return tone * (0.82 + 0.12 * weave + 0.16 * folds + 0.05 * draw.random(shape, dtype=np.float32))[:, :, None]
