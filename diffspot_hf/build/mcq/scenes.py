"""A scene: a backdrop and the objects on it, as a list; rendered the same way every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...errors import UsageError
from .backdrops import Backdrop, Place
from .kit import Kit
from .patches import RGB
from .sprites import RGBA, Light, Look, as_rgb, lay_object, sprite, sunk, turned

LEAST_OTHERS = 20
"""Objects in a scene beside those that a question is about."""


@dataclass(frozen=True)
class Thing:
    """An object in a scene: its look, its place, how it is turned (degrees, clockwise) and whether it is mirrored."""

    look: Look
    place: Place
    angle: float = 0.0
    flip: bool = False
    role: str = ""
    """Empty for objects that no question is about."""

    @property
    def kind(self) -> str:
        return self.look.kind


@dataclass(frozen=True)
class Scene:
    """Objects on a backdrop, in a fixed order; `blocks` are the places kept for pairs."""

    name: str
    backdrop: Backdrop
    things: tuple[Thing, ...]
    blocks: tuple[tuple[Place, ...], ...] = ()

    def index(self, role: str) -> int:
        for index, thing in enumerate(self.things):
            if thing.role == role:
                return index
        raise UsageError(f"scene {self.name} has no object in the role {role!r}")

    def thing(self, role: str) -> Thing:
        return self.things[self.index(role)]

    def with_thing(self, index: int, thing: Thing) -> Scene:
        return replace(self, things=(*self.things[:index], thing, *self.things[index + 1 :]))

    def others(self) -> list[int]:
        """Indices of the objects that no question is about."""
        return [index for index, thing in enumerate(self.things) if not thing.role]


@dataclass(frozen=True)
class Rendered:
    """A scene as pixels, and what lies where: one dict an object with ``kind``, ``look``, ``box`` (xywh_px),
    ``middle``, ``size``, ``angle`` and ``role``."""

    picture: RGB
    objects: list[dict[str, Any]]


def make_scene(
    name: str,
    kit: Kit,
    backdrop: Backdrop,
    wanted: Sequence[tuple[str, Look]],
    pairs: Sequence[tuple[str, Look, Look, int]] = (),
    *,
    n_others: int,
    seed: int,
    without: frozenset[str] = frozenset(),
) -> Scene:
    """A scene with the `wanted` objects (role, look), the `pairs` (role, object in the middle, object beside it, on
    which side: 0 right, 1 below, 2 left, 3 above), and `n_others` more out of the backdrop's set, none of a kind in
    `without`.

    The free places beside a pair are filled like the others, so that nothing sets a pair apart.
    """
    if n_others < LEAST_OTHERS:
        raise UsageError(f"a scene needs at least {LEAST_OTHERS} other objects, {n_others} are asked for")
    draw = np.random.default_rng([seed, *name.encode()])
    blocks, singles = backdrop.places(len(wanted) + n_others, draw, len(pairs))
    kinds = [kind for kind in kit.sets[backdrop.fills] if kind not in without]
    if not kinds:
        raise UsageError(f"scene {name}: no kind of object is left to fill it")

    def lie(look: Look, place: Place, role: str = "") -> Thing:
        angle = float(draw.uniform(-backdrop.leans, backdrop.leans))
        return Thing(look, place, round(angle, 1), bool(draw.integers(2)), role)

    order = [kinds[int(i)] for i in draw.permutation(len(kinds))]
    made = 0

    def other(place: Place) -> Thing:
        nonlocal made
        look = Look(order[made % len(order)], int(draw.integers(12)) * 30 if made >= len(order) else 0)
        made += 1
        return lie(look, place)

    things = [lie(look, place, role) for (role, look), place in zip(wanted, singles, strict=False)]
    crowded = backdrop.fills == "table"
    for (role, middle, beside, side), block in zip(pairs, blocks, strict=True):
        things.append(lie(middle, block[0], f"{role}.middle"))
        things.append(lie(beside, block[1 + side], f"{role}.beside"))
        if crowded:
            things += [other(place) for way, place in enumerate(block[1:]) if way != side]
    things += [other(place) for place in singles[len(wanted) :]]
    return Scene(name, backdrop, tuple(things), tuple(tuple(block) for block in blocks))


@lru_cache(maxsize=1024)
def _image(kit: Kit, look: Look, size: float, angle: float, flip: bool) -> RGBA:
    return turned(sprite(kit, look), size, angle, flip)


def render(scene: Scene, kit: Kit) -> Rendered:
    """The scene as pixels, far objects first."""
    empty = scene.backdrop.picture().astype(np.float32) / 255
    canvas = empty.copy()
    light: Light = scene.backdrop.light
    boxes: dict[int, tuple[int, int, int, int]] = {}
    for index in sorted(range(len(scene.things)), key=lambda i: (scene.things[i].place.y, i)):
        thing = scene.things[index]
        draw = np.random.default_rng([round(thing.place.x), round(thing.place.y)])
        image = _image(kit, thing.look, thing.place.size, thing.angle, thing.flip)
        center = (thing.place.x, thing.place.y)
        boxes[index] = lay_object(canvas, empty, sunk(image, light.sink, empty, center), center, light, draw)
    height, width = empty.shape[:2]
    objects = []
    for index, thing in enumerate(scene.things):
        x, y, w, h = boxes[index]
        if x < 0 or y < 0 or x + w > width or y + h > height:
            raise UsageError(f"scene {scene.name}: {thing.kind} reaches outside the picture")
        objects.append(
            {
                "kind": thing.kind,
                "look": thing.look.name,
                "box": [x, y, w, h],
                "middle": [round(thing.place.x, 1), round(thing.place.y, 1)],
                "size": round(thing.place.size, 1),
                "angle": thing.angle,
                "role": thing.role,
            }
        )
    return Rendered(as_rgb(canvas), objects)
