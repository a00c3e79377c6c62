"""The four recipes of commonality items: which edit of which scene makes which option true.

instance: one look in both scenes where there were two of a kind; category: a second object of a kind; spatial: a pair
turned to the other scene's direction; reasoning: the missing half of a declared relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .commonality import Plan
from .kit import Kit
from .scenes import Scene, Thing
from .sprites import Look


@dataclass(frozen=True)
class Half:
    """An option of which one half lies in a scene already, in the role `there`; the edit adds an object of `look`."""

    statement: str
    instruction: str
    claim: Mapping[str, Any]
    there: str
    look: Look


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


def split_plans(one: Scene, two: Scene, halves: Sequence[Half], draw: np.random.Generator) -> list[Plan]:
    """Each edit puts the other half of an option into the other scene, in place of an object no question is about."""
    plans: list[Plan] = []
    for half in halves:
        side = 2 if any(thing.role == half.there for thing in one.things) else 1
        scene = (one, two)[side - 1]
        given = {index for plan in plans if plan.side == side for index, _ in plan.changes}
        free = [index for index in scene.others() if index not in given]
        index = free[int(draw.integers(len(free)))]
        angle = round(float(draw.uniform(-scene.backdrop.leans, scene.backdrop.leans)), 1)
        role = f"{half.there}.other"
        new = Thing(half.look, scene.things[index].place, angle, role=role)
        cue = ([half.there], [role]) if side == 2 else ([role], [half.there])
        plans.append(Plan(half.statement, half.instruction, half.claim, side, [(index, new)], cue))
    return plans


def category_half(kind: str, look: Look) -> Half:
    """A kind of object, of which the second has another `look` than the first."""
    return Half(
        f"Both images show {with_article(kind)}.",
        f"Put {with_article(kind)} of another colour in place of an object.",
        {"kind": "category", "object": kind},
        f"category.{kind}",
        look,
    )


def reasoning_half(kit: Kit, relation: str, there: str) -> Half:
    """A relation of which the kind `there` lies in a scene already."""
    wanted = kit.relation(relation)
    added = next(b if a == there else a for a, b in wanted.pairs if there in (a, b))
    return Half(
        wanted.statement,
        f"Put {with_article(added)} in place of an object.",
        {"kind": "reasoning", "relation": relation},
        f"reasoning.{there}",
        Look(added),
    )


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
