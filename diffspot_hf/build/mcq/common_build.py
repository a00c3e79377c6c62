"""Builds commonality data sets: grounds in photographs on one side, drawn table tops on the other, a group each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UsageError
from ...rows import iter_jsonl, read_picture
from .backdrops import Backdrop, Ground, Table
from .commonality import Plan, encode_base, make_group
from .groups import SetWriter
from .kit import Kit
from .patches import pixels
from .recipes import category_half, instance_plans, reasoning_half, spatial_plans, split_plans
from .scenes import Scene, make_scene
from .sprites import Light, Look
from .tasks import Task

OTHERS = 24
"""Other objects on a ground; a table has as many as fit."""
_CUES = 4
_LIGHT = {"gain": (3, 0, 10), "shadow": (2, -100, 100), "darkness": (1, 0, 1), "grain": (1, 0, 60), "sink": (1, 0, 1)}
"""How many numbers each property of the light has, the least and the largest value."""
_COUNTS = {1: "a number", 2: "two numbers", 3: "three numbers"}
_SIZES = (8, 4000)  # pixels: a smaller object is a dot, a larger one fits into no photograph
_SIDES = ((0, 2), (1, 0), (2, 3), (3, 1))
"""On which side of the middle the other object of each pair lies, on the table and on the ground: never alike."""


def build_commonality(
    grounds: Sequence[Ground],
    task: Task,
    kit: Kit,
    out: Path,
    *,
    groups: int = 1,
    seed: int = 0,
    table: Table | None = None,
    refused: list[str] | None = None,
) -> dict[str, Any]:
    """Writes `groups` groups of five for `task` into the data folder `out`; returns the report.

    `table` sets size and cells of the drawn scenes. What is refused is added to `refused`, which may hold what was
    refused when the grounds were listed. A group that cannot be made soundly (no room, an option that would
    be true as well) is named and another draw is tried, three times at most.
    """
    if not grounds or groups < 1:
        raise UsageError("commonality items need at least one ground and one group")
    writer, objects = SetWriter(out, seed), {}
    refused = [] if refused is None else refused
    fallback = []
    for number in range(groups):
        for attempt in range(3):
            draw = np.random.default_rng([seed, number, attempt])
            try:
                kind = ("planks", "cloth")[number % 2]
                top = replace(table or Table(), kind=kind, seed=int(draw.integers(1 << 30)))
                one, two, plans = _scenes(grounds[number % len(grounds)], top, task, kit, draw, number)
                bases = encode_base(one, kit), encode_base(two, kit)
                writer.add(make_group(task, *bases, plans, kit, none_cue=int(draw.integers(_CUES))))
            except UsageError as error:
                refused.append(f"group {number + 1}, try {attempt + 1}: {error}")
                continue
            objects |= {base.scene.name: base.rendered.objects for base in bases}
            break
        else:
            fallback.append({"group": number + 1, "task": task.name, "ground": number % len(grounds) + 1})
    report = {"track": task.track, "task": task.name, "seed": seed, "groups_asked": groups}
    report |= {"refused": refused, "fallback": fallback}
    return writer.finish(report, {"scenes.json": objects})


def _scenes(
    ground: Ground, table: Table, task: Task, kit: Kit, draw: np.random.Generator, number: int
) -> tuple[Scene, Scene, list[Plan]]:
    """Two scenes that share nothing yet, and the four edits."""
    related = {kind for relation in kit.relations for pair in relation.pairs for kind in pair}
    free = [kind for kind in kit.sets["cue"] if kind not in related]
    if task.name != "reasoning" and len(free) < (2 * _CUES if task.name == "spatial" else _CUES):
        raise UsageError(f"{kit.folder}: too few objects of the set cue for {task.label}")
    kinds = [free[int(i)] for i in draw.permutation(len(free))]

    def scenes(
        singles: Sequence[Sequence[tuple[str, Look]]],
        pairs: Sequence[Sequence[tuple[str, Look, Look, int]]] = ((), ()),
        without: frozenset[str] = frozenset(),
    ) -> tuple[Scene, Scene]:
        backdrops: tuple[Backdrop, Backdrop] = (ground, table)
        others = (OTHERS, table.columns * table.rows - 5 * len(pairs[1]) - len(singles[1]))
        made = [
            make_scene(
                f"{task.name}-{number + 1:03d}-{side + 1}",
                kit,
                backdrops[side],
                singles[side],
                pairs[side],
                n_others=others[side],
                seed=int(draw.integers(1 << 30)),
                without=without,
            )
            for side in (0, 1)
        ]
        return made[0], made[1]

    if task.name == "instance":
        chosen = kinds[:_CUES]
        hues = [int(draw.integers(12)) * 30 for _ in chosen]
        looks = [(Look(kind, hue, 1), Look(kind, (hue + 150) % 360, 2)) for kind, hue in zip(chosen, hues, strict=True)]
        one, two = scenes([[(f"instance.{pair[side].kind}", pair[side]) for pair in looks] for side in (0, 1)])
        return one, two, instance_plans(one, two, chosen)
    if task.name == "category":
        chosen = kinds[:_CUES]
        one, two = scenes([[(f"category.{kind}", Look(kind)) for kind in part] for part in (chosen[:2], chosen[2:])])
        return one, two, split_plans(one, two, [category_half(kind, Look(kind, 150)) for kind in chosen], draw)
    if task.name == "spatial":
        couples = list(zip(kinds[:_CUES], kinds[_CUES : 2 * _CUES], strict=True))
        placed = [
            [(f"spatial.{a}", Look(a), Look(b), sides[side]) for (a, b), sides in zip(couples, _SIDES, strict=True)]
            for side in (1, 0)
        ]
        one, two = scenes(((), ()), placed)
        return one, two, spatial_plans(one, two, couples)
    relations = [kit.relations[int(i)] for i in draw.permutation(len(kit.relations))[:_CUES]]
    if len(relations) < _CUES:
        raise UsageError(f"{kit.folder}: {len(relations)} relations, {_CUES} are needed")
    there = [relation.pairs[int(draw.integers(len(relation.pairs)))][int(draw.integers(2))] for relation in relations]
    doubtful = frozenset(kind for relation in relations for kind in relation.doubtful)
    singles = [[(f"reasoning.{kind}", Look(kind)) for kind in part] for part in (there[:2], there[2:])]
    one, two = scenes(singles, without=doubtful)
    halves = [reasoning_half(kit, relation.name, kind) for relation, kind in zip(relations, there, strict=True)]
    return one, two, split_plans(one, two, halves, draw)


def listed_grounds(listing: Path, refuse: Callable[[UsageError], None]) -> Iterator[Ground]:
    """Grounds of a JSONL file: ``{"image": path, "area": [[x, y], …]}`` a line.

    Optional are ``far`` and ``near`` (length in pixels of an object at the top and at the bottom of the area) and the
    light: ``gain``, ``shadow``, ``darkness``, ``grain``, ``sink``.
    """
    for number, line in iter_jsonl(listing, refuse):
        try:
            yield _ground(listing, line)
        except UsageError as error:
            refuse(UsageError(f"{listing}, line {number}: {error}"))


def _ground(listing: Path, line: Mapping[str, Any]) -> Ground:
    photo = pixels(read_picture(listing.parent, line.get("image", ""))["bytes"], str(line.get("image")))
    area = line.get("area")
    if not isinstance(area, list) or len(area) < 3:
        raise UsageError("area must have at least three points [x, y]")
    points = [tuple(_numbers("a point of area", point, 2, -100_000, 100_000)) for point in area]
    light: dict[str, Any] = {"sink": 0.1}
    for key, (count, low, high) in _LIGHT.items():
        if key in line:
            values = _numbers(key, line[key] if count > 1 else [line[key]], count, low, high)
            light[key] = tuple(values) if count > 1 else values[0]
    sizes = {key: _numbers(key, [line[key]], 1, *_SIZES)[0] for key in ("far", "near") if key in line}
    return Ground(photo, [(x, y) for x, y in points], light=Light(**light), **sizes)


def _numbers(what: str, value: Any, count: int, low: float, high: float) -> list[float]:
    """`value` as a list of `count` numbers from `low` to `high`. Raises `UsageError` when it is none."""
    right = isinstance(value, list) and len(value) == count
    if not right or not all(isinstance(n, int | float) and not isinstance(n, bool) and low <= n <= high for n in value):
        found = value[0] if count == 1 else value
        raise UsageError(f"{what}: {_COUNTS[count]} from {low} to {high} expected, found {found!r}")
    return [float(n) for n in value]
