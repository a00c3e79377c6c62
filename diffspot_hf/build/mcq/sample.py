"""Builds the sample that ships with the package, out of the photographs and objects that ship with it too.

    python -m diffspot_hf.build.mcq.sample --out DIR

The plan is ``sample.toml``: eight groups of five, one for each task. The same plan gives the same pixels.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UsageError
from .backdrops import Backdrop, Ground, Table
from .commonality import Base, encode_base
from .commonality import make_group as make_common_group
from .differential import Photo, Report, task_named
from .differential import make_group as make_differential_group
from .editors.procedural import Procedural
from .groups import SetWriter
from .instructions import Instruction, Listed, Target
from .kit import Kit, load_kit
from .patches import pixels
from .recipes import category_half, instance_plans, reasoning_half, spatial_plans, split_plans
from .regions import Box
from .scenes import Scene, make_scene
from .sprites import Light, Look

PLAN = Path(__file__).with_name("sample.toml")
SEED = 0


def build_sample(data: Path, out: Path, plan: Path = PLAN) -> dict[str, Any]:
    """Writes the sample into the new folder `out`, from ``photos/originals`` and ``objects`` of `data`; its report.

    Raises `UsageError` when any of the forty items cannot be made exactly as planned.
    """
    wanted = tomllib.loads(plan.read_text(encoding="utf-8"))
    originals, kit = data / "photos" / "originals", load_kit(data / "objects")
    writer, report = SetWriter(out, SEED, "photos"), Report()
    for part in wanted["differential"]:
        _add_differential(writer, part, originals, report)
    bases = {name: encode_base(scene, kit) for name, scene in _scenes(wanted, originals, kit).items()}
    for part in wanted["commonality"]:
        _add_common(writer, part, bases, kit)
    objects = {name: base.rendered.objects for name, base in bases.items()}
    return writer.finish({"plan": plan.name, "seed": SEED}, {"scenes.json": objects})


def _add_differential(writer: SetWriter, part: Mapping[str, Any], originals: Path, report: Report) -> None:
    target = Target(Box(*part["box"]), part["name"])
    outline = {"outline": part["outline"]} if "outline" in part else {}
    instructions = [
        Instruction(value["text"], value["statement"], outline | value["operation"]) for value in part["instructions"]
    ]
    photo = Photo(f"originals/{part['photo']}", (originals / part["photo"]).read_bytes(), [target])
    task = task_named(part["task"], "differential")
    group = make_differential_group(photo, target, task, Listed(instructions), Procedural(), report, seed=SEED)
    if group is None or report.refused:
        raise UsageError(f"sample, {part['task']}: {'; '.join(report.refused)}")
    writer.add(group)


def _scenes(wanted: Mapping[str, Any], originals: Path, kit: Kit) -> dict[str, Scene]:
    """All scenes with everything that some group needs in them."""
    singles: dict[str, list[tuple[str, Look]]] = {part["name"]: [] for part in wanted["scenes"]}
    pairs: dict[str, list[tuple[str, Look, Look, int]]] = {part["name"]: [] for part in wanted["scenes"]}
    unwanted: dict[str, set[str]] = {part["name"]: set() for part in wanted["scenes"]}
    for part in wanted["commonality"]:
        for side, name in zip("12", part["scenes"], strict=True):
            if part["task"] == "instance":
                for kind, look in zip(part["kinds"], part[f"looks_{side}"], strict=True):
                    singles[name].append((f"instance.{kind}", Look(kind, *look)))
            elif part["task"] == "category":
                singles[name] += [(f"category.{kind}", Look(kind, part["hue_1"])) for kind in part[f"in_{side}"]]
            elif part["task"] == "reasoning":
                singles[name] += [(f"reasoning.{kind}", Look(kind)) for kind in part[f"in_{side}"].values()]
                unwanted[name] |= {kind for relation in kit.relations for kind in relation.doubtful}
            elif part["task"] == "spatial":
                for (middle, beside), way in zip(part["pairs"], part[f"sides_{side}"], strict=True):
                    pairs[name].append((f"spatial.{middle}", Look(middle), Look(beside), way))
    return {
        part["name"]: make_scene(
            part["name"],
            kit,
            _backdrop(part, originals),
            singles[part["name"]],
            pairs[part["name"]],
            n_others=part["n_others"],
            seed=part["seed"],
            without=frozenset(unwanted[part["name"]]),
        )
        for part in wanted["scenes"]
    }


def _backdrop(part: Mapping[str, Any], originals: Path) -> Backdrop:
    light = {key: part[key] for key in ("gain", "shadow", "darkness", "sink") if key in part}
    light = {key: tuple(value) if isinstance(value, list) else value for key, value in light.items()}
    if "table" in part:
        return Table(
            kind=part["table"], seed=part["seed"], light=Light(**{"darkness": 0.5, "shadow": (7.0, 9.0)} | light)
        )
    photo = pixels((originals / part["photo"]).read_bytes(), part["photo"])
    sizes = {key: part[key] for key in ("far", "near") if key in part}
    return Ground(photo, part["area"], light=Light(**light), **sizes)


def _add_common(writer: SetWriter, part: Mapping[str, Any], bases: Mapping[str, Base], kit: Kit) -> None:
    one, two = (bases[name] for name in part["scenes"])
    task = task_named(part["task"], "commonality")
    draw = np.random.default_rng([SEED, *part["task"].encode()])
    if part["task"] == "instance":
        plans = instance_plans(one.scene, two.scene, part["kinds"])
    elif part["task"] == "category":
        kinds = [*part["in_1"], *part["in_2"]]
        halves = [category_half(kind, Look(kind, part["hue_2"])) for kind in kinds]
        plans = split_plans(one.scene, two.scene, halves, draw)
    elif part["task"] == "spatial":
        plans = spatial_plans(one.scene, two.scene, [tuple(pair) for pair in part["pairs"]])
    else:
        relations = part["in_1"] | part["in_2"]
        halves = [reasoning_half(kit, relation, there) for relation, there in relations.items()]
        plans = split_plans(one.scene, two.scene, halves, draw)
    writer.add(make_common_group(task, one, two, plans, kit, none_cue=int(draw.integers(len(plans)))))


def main(argv: Sequence[str] | None = None) -> int:
    """The command line of this module. Returns the exit code."""
    from ...dataset_scripts.common import sample_folder

    parser = argparse.ArgumentParser(description="Build the DiCoBench sample from its plan.")
    parser.add_argument("--data", type=Path, default=sample_folder("dicobench"), help="photos/originals and objects")
    parser.add_argument("--out", type=Path, required=True, help="new folder to write")
    args = parser.parse_args(argv)
    try:
        report = build_sample(args.data, args.out)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{args.out}: {report['items']} items in {report['groups']} groups, letters {report['letters']}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
