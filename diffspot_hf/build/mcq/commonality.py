"""Builds commonality items: two unrelated scenes that share exactly one thing, or none.

For every option that is not the answer one half of what it needs is there, in one of the two images, so neither image
alone tells the answer. Each variant edits one scene in one small place; the pair without a cue is the two base scenes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import Image

from ...errors import UsageError
from .claims import APART_BY, looks_different, right_options, shared_kinds
from .groups import Group, Variant
from .kit import Kit
from .patches import RGB, pixels, settle
from .regions import Box, check_edit
from .scenes import LEAST_OTHERS, Rendered, Scene, Thing, render
from .sprites import Look
from .tasks import BY_KEY, NOTHING, Task

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


# ------------------------------------------------------------------------------------------------ the four recipes


def with_article(kind: str) -> str:
    """
    >>> with_article("anchor"), with_article("saw"), with_article("umbrella")
    ('an anchor', 'a saw', 'an umbrella')
    """
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def instance_plans(one: Scene, two: Scene, kinds: Sequence[str]) -> list[Plan]:
    """Both scenes hold one object of each of the four `kinds`, of different looks; an edit makes one look the same."""
    plans = []
    for kind in kinds:
        role = f"instance.{kind}"
        shown, twin = one.thing(role), two.thing(role)
        angle = shown.angle + (35 if shown.angle < 0 else -35)
        scale = 0.9 if twin.place.size <= shown.place.size else 1.12
        same = replace(
            twin, look=shown.look, angle=angle, flip=shown.flip, place=replace(twin.place, size=twin.place.size * scale)
        )
        plans.append(
            Plan(
                f"The same {kind}, with the same colours and marks, is in both images.",
                f"Replace the {kind} by the one of the other image, turned and at another size.",
                {"kind": "instance", "look": shown.look.name},
                2,
                [(two.index(role), same)],
                ([role], [role]),
            )
        )
    return plans


def split_plans(
    one: Scene,
    two: Scene,
    halves: Sequence[tuple[str, Mapping[str, Any], str, str, Look]],
    draw: np.random.Generator,
) -> list[Plan]:
    """For each of four options one half is in a scene already, and an edit puts the other half into the other scene, in
    place of an object that no question is about.

    `halves` are (statement, claim, role of the half that is there, instruction, look of the half to come); the half that
    is there may be in either scene.
    """
    plans = []
    for statement, claim, role, instruction, look in halves:
        side = 2 if any(thing.role == role for thing in one.things) else 1
        scene = (one, two)[side - 1]
        given = {index for plan in plans if plan.side == side for index, _ in plan.changes}
        free = [index for index in scene.others() if index not in given]
        index = free[int(draw.integers(len(free)))]
        old = scene.things[index]
        new = Thing(
            look,
            old.place,
            round(float(draw.uniform(-scene.backdrop.leans, scene.backdrop.leans)), 1),
            role=f"{role}.other",
        )
        cue = ([role], [f"{role}.other"]) if side == 2 else ([f"{role}.other"], [role])
        plans.append(Plan(statement, instruction, claim, side, [(index, new)], cue))
    return plans


def category_halves(
    kinds: Sequence[str], looks: Mapping[str, Look]
) -> list[tuple[str, Mapping[str, Any], str, str, Look]]:
    """Four kinds of object for `split_plans`; `looks` are those of the second object, unlike the first."""
    return [
        (
            f"Both images show {with_article(kind)}.",
            {"kind": "category", "object": kind},
            f"category.{kind}",
            f"Put {with_article(kind)} of another colour in place of an object.",
            looks[kind],
        )
        for kind in kinds
    ]


def reasoning_halves(kit: Kit, missing: Mapping[str, str]) -> list[tuple[str, Mapping[str, Any], str, str, Look]]:
    """One option for each relation in `missing`, which names the kind of object that the edit adds."""
    halves = []
    for name, added in missing.items():
        relation = kit.relation(name)
        there = next(a if b == added else b for a, b in relation.pairs if added in (a, b))
        halves.append(
            (
                relation.statement,
                {"kind": "reasoning", "relation": name},
                f"reasoning.{there}",
                f"Put {with_article(added)} in place of an object.",
                Look(added),
            )
        )
    return halves


def spatial_plans(one: Scene, two: Scene, pairs: Sequence[tuple[str, str]], side: int = 1) -> list[Plan]:
    """Both scenes hold the four pairs, each in another direction; an edit turns one pair in the scene of `side`."""
    scene, other = (one, two) if side == 1 else (two, one)
    plans = []
    for number, (middle, beside) in enumerate(pairs):
        role = f"spatial.{middle}"
        there = other.thing(f"{role}.beside").place, other.thing(f"{role}.middle").place
        way = _way(there[0].x - there[1].x, there[0].y - there[1].y)
        goal = scene.blocks[number][1 + way]
        index = scene.index(f"{role}.beside")
        moving = scene.things[index]
        changes = [(index, replace(moving, place=goal))]
        for at, thing in enumerate(scene.things):  # whoever lies at the goal changes places with it
            if at != index and abs(thing.place.x - goal.x) < 1 and abs(thing.place.y - goal.y) < 1:
                changes.append((at, replace(thing, place=moving.place)))
        roles = [f"{role}.middle", f"{role}.beside"]
        plans.append(
            Plan(
                f"The {middle} and the {beside} lie in the same direction from each other in both images.",
                f"Move the {beside} to another side of the {middle}.",
                {"kind": "spatial", "pair": [middle, beside]},
                side,
                changes,
                (roles, roles),
            )
        )
    return plans


def _way(dx: float, dy: float) -> int:
    """0 right, 1 below, 2 left, 3 above.

    >>> [_way(5, 1), _way(0, 9), _way(-3, 1), _way(1, -4)]
    [0, 1, 2, 3]
    """
    if abs(dx) >= abs(dy):
        return 0 if dx > 0 else 2
    return 1 if dy > 0 else 3


Recipe = Callable[..., list[Plan]]
TASKS: dict[str, Task] = {key[1]: task for key, task in BY_KEY.items() if key[0] == "commonality"}
assert APART_BY <= 90  # the four sides of a block are 90 degrees apart
