"""Builds commonality items: two unrelated scenes that share exactly one thing, or none.

For every option that is not the answer one half of what it needs is there, in one of the two images, so neither image
alone tells the answer. Each variant edits one scene in one small place; the pair without a cue is the two base scenes.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from ...errors import UsageError
from .claims import looks_different, right_options, shared_kinds
from .groups import Group, Variant
from .kit import Kit
from .patches import RGB, pixels, settle
from .regions import Box, check_edit, check_visible
from .scenes import LEAST_OTHERS, Rendered, Scene, Thing, render
from .tasks import NOTHING, Task

QUALITY = 86
"""JPEG quality of the base scenes (our choice); their decoded pixels are the truth."""


@dataclass(frozen=True)
class Base:
    """A scene as it is stored: the encoded picture, its decoded pixels, its pixels before encoding, its objects."""

    scene: Scene
    data: bytes
    decoded: RGB
    rendered: Rendered

    @property
    def file(self) -> str:
        return f"scenes/{self.scene.name}.jpg"


@dataclass(frozen=True)
class Plan:
    """One edit that makes an option true: in the scene of which `side`, which object becomes what.

    `cue` are the roles of the objects to look at, in image 1 and in image 2.
    """

    statement: str
    instruction: str
    claim: Mapping[str, Any]
    side: int
    changes: Sequence[tuple[int, Thing]]
    cue: tuple[Sequence[str], Sequence[str]]


def encode_base(scene: Scene, kit: Kit) -> Base:
    """Renders and stores a scene. Raises `UsageError` when it holds too few other objects."""
    if len(scene.others()) < LEAST_OTHERS:
        raise UsageError(f"scene {scene.name}: {len(scene.others())} other objects, at least {LEAST_OTHERS} are needed")
    rendered = render(scene, kit)
    out = io.BytesIO()
    Image.fromarray(rendered.picture).save(out, "JPEG", quality=QUALITY, subsampling=2, optimize=True)
    return Base(scene, out.getvalue(), pixels(out.getvalue()), rendered)


def make_group(task: Task, one: Base, two: Base, plans: Sequence[Plan], kit: Kit, *, none_cue: int = 0) -> Group:
    """The group of five out of two bases and four plans. `none_cue` says whose places the pair without a cue points at.

    Raises `UsageError` when an edit fails its measures or an option is true that must not be.
    """
    claims = [plan.claim for plan in plans] + [{"kind": "nothing"}]
    found = right_options(claims, one.rendered.objects, two.rendered.objects, kit)
    if found != [len(plans)]:
        raise UsageError(f"the two base scenes already fulfil {[plans[i].statement for i in found]}")
    variants = [_variant(number, plan, (one, two), claims, kit) for number, plan in enumerate(plans)]
    none = Variant(
        NOTHING[task.key],
        None,
        2,
        None,
        None,
        0.0,
        variants[none_cue].cue_1,
        variants[none_cue].cue_2,
        claims[-1],
        {"objects_1": one.scene.name, "objects_2": two.scene.name},
    )
    return Group(task, (one.file, one.data), (two.file, two.data), variants, none)


def _variant(
    number: int, plan: Plan, bases: tuple[Base, Base], claims: Sequence[Mapping[str, Any]], kit: Kit
) -> Variant:
    base = bases[plan.side - 1]
    scene = base.scene
    for index, thing in plan.changes:
        scene = scene.with_thing(index, thing)
    made = render(scene, kit)
    window = _window(base.rendered.picture, made.picture)
    check_visible(base.rendered.picture[window.slices], made.picture[window.slices], window)
    final = settle(base.decoded, base.rendered.picture, made.picture, base.data, window.slices)
    change = check_edit(base.decoded, final, window)
    objects = [b.rendered.objects for b in bases]
    objects[plan.side - 1] = made.objects
    found = right_options(claims, objects[0], objects[1], kit)
    if found != [number]:
        raise UsageError(f"{plan.statement!r}: the options {found} are true, and only {number} may be")
    _check_task(plan, objects, kit)
    cues = [_around(objects[side], roles) for side, roles in enumerate(plan.cue)]
    changed = [made.objects[index] | {"index": index} for index, _ in plan.changes]
    truth = {"objects_1": bases[0].scene.name, "objects_2": bases[1].scene.name, "side": plan.side, "changed": changed}
    return Variant(
        plan.statement,
        plan.instruction,
        plan.side,
        final,
        change.box,
        change.fraction,
        cues[0],
        cues[1],
        plan.claim,
        truth,
    )


def _check_task(plan: Plan, objects: Sequence[Sequence[Mapping[str, Any]]], kit: Kit) -> None:
    if plan.claim["kind"] == "instance" and not looks_different(plan.claim, objects[0], objects[1]):
        raise UsageError(f"{plan.statement!r}: the object is shown alike in both images; turn or scale it")
    shared = shared_kinds(objects[0], objects[1])
    if plan.claim["kind"] == "category" and shared != {plan.claim["object"]}:
        raise UsageError(
            f"{plan.statement!r}: the scenes also share {', '.join(sorted(shared - {plan.claim['object']}))}"
        )


def _window(before: RGB, after: RGB) -> Box:
    """The box of what differs, grown to whole blocks of 16 pixels, inside the picture."""
    rows, columns = np.nonzero((before != after).any(axis=2))
    if not len(rows):
        raise UsageError("the edit changes nothing")
    left, top = int(columns.min()) // 16 * 16, int(rows.min()) // 16 * 16
    right = min(before.shape[1], (int(columns.max()) // 16 + 1) * 16)
    bottom = min(before.shape[0], (int(rows.max()) // 16 + 1) * 16)
    return Box(left, top, right - left, bottom - top)


def _around(objects: Sequence[Mapping[str, Any]], roles: Sequence[str]) -> Box:
    """The smallest box around the objects in these roles."""
    boxes = [Box(*thing["box"]) for thing in objects if thing["role"] in roles]
    if len(boxes) != len(roles):
        raise UsageError(f"{len(boxes)} objects in the roles {list(roles)}")
    left, top = min(b.x for b in boxes), min(b.y for b in boxes)
    return Box(left, top, max(b.x + b.w for b in boxes) - left, max(b.y + b.h for b in boxes) - top)
