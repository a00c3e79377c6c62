"""build dicobench …: multiple choice items from photographs, their checks and the decisions of people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..options import ModelOptions

_SHOWN = 20


def add_to(actions: Any) -> None:
    items = actions.add_parser("dicobench", help="multiple choice items from photographs").add_subparsers(required=True)

    add = items.add_parser("differential", help="groups of five: four edits of one target and the unedited pair")
    source = add.add_mutually_exclusive_group(required=True)
    source.add_argument("--photos", type=Path, help="JSONL of pictures and target boxes")
    source.add_argument("--source", nargs=2, metavar=("vstar", "DIR"), help="a local copy of V*Bench")
    add.add_argument("--task", required=True, help="attribute, entity, spatial or reasoning")
    add.add_argument("--instructor", default="rules", help="rules, a JSONL of instructions, or a model")
    add.add_argument("--endpoint", metavar="URL", help="where the instructing model is served")
    add.add_argument("--editor", default="procedural", choices=("procedural", "flux"))
    add.add_argument("--flux-model", help="Hub id or folder of the inpainting pipeline")
    add.add_argument("--steps", type=int, default=4)
    add.add_argument("--limit", type=int, help="at most so many groups")
    add.add_argument("--seed", type=int, default=0)
    add.add_argument("--out", type=Path, required=True)
    add.set_defaults(action=differential)

    add = items.add_parser("commonality", help="groups of five: two scenes that share one thing, or nothing")
    add.add_argument("--grounds", type=Path, required=True, help="JSONL of photographs and where objects may lie")
    add.add_argument("--kit", type=Path, help="folder of cut-out objects (default: those of the sample)")
    add.add_argument("--task", required=True, help="instance, category, spatial or reasoning")
    add.add_argument("--groups", type=int, default=1)
    add.add_argument("--seed", type=int, default=0)
    add.add_argument("--out", type=Path, required=True)
    add.set_defaults(action=commonality)

    add = items.add_parser("check", help="prove area, unchanged pixels, letters and exclusivity of a built set")
    add.add_argument("folder", type=Path)
    add.add_argument("--kit", type=Path)
    add.set_defaults(action=check)

    add = items.add_parser("review", help="keep what people accepted on the verify page; queue the rest")
    add.add_argument("folder", type=Path)
    add.add_argument("--decisions", type=Path, required=True)
    add.add_argument("--out", type=Path, required=True)
    add.set_defaults(action=review)

    add = items.add_parser("views", help="compare runs that saw full, cropped and resized images")
    add.add_argument("runs", nargs="+", metavar="VIEW=RUN")
    add.add_argument("--out", type=Path, required=True)
    add.set_defaults(action=views)


def differential(args: argparse.Namespace) -> int:
    from ..build.mcq.differential import (
        build_differential,
        instructions_for,
        listed_instructions,
        listed_photos,
        name_unmatched,
        task_named,
        vstar_photos,
    )
    from ..build.mcq.instructions import Listed

    if args.source and args.source[0] != "vstar":
        raise UsageError(f"--source {args.source[0]}: there is vstar")
    task = task_named(args.task, "differential")
    refused: list[str] = []

    def refuse(error: UsageError) -> None:
        refused.append(str(error))

    photos = vstar_photos(Path(args.source[1]), refuse) if args.source else listed_photos(args.photos, refuse)
    _check_pairing(args)
    if args.instructor != "rules" and Path(args.instructor).is_file():
        listed = listed_instructions(Path(args.instructor), refuse)
        photos = name_unmatched(photos, listed, refuse)

        def instructor(photo: Any, target: Any) -> Any:
            return Listed(instructions_for(listed, photo, target))

    else:
        instructor = _instructor(args)
    editor = _editor(args)
    return _built(
        args.out,
        refused,
        lambda: build_differential(
            photos, task, instructor, editor, args.out, seed=args.seed, limit=args.limit, refused=refused
        ),
    )


def _check_pairing(args: argparse.Namespace) -> None:
    """Raises `UsageError` for an instructor, editor and options that cannot work together, before anything is paid."""
    listed = Path(args.instructor)
    if listed.suffix in (".jsonl", ".json", ".gz") and not listed.is_file():
        raise UsageError(f"--instructor {listed}: no such file")
    is_model = args.instructor != "rules" and not listed.is_file()
    if is_model and args.editor == "procedural":
        raise UsageError(
            f"--instructor {args.instructor} writes words, which the procedural editor does not read; add --editor "
            "flux --flux-model MODEL, or list instructions with operations in a JSONL file"
        )
    if args.endpoint and not is_model:
        raise UsageError(f"--endpoint is where an instructing model is served; --instructor {args.instructor} is none")
    if args.flux_model and args.editor != "flux":
        raise UsageError("--flux-model is for --editor flux")


def _instructor(args: argparse.Namespace) -> Callable[..., Any]:
    from ..build.mcq.instructions import Asked
    from ..build.mcq.rules import Ruled

    if args.instructor == "rules":
        ruled = Ruled(args.seed)
        return lambda photo, target: ruled
    from ..benchmarks import benchmark
    from ..models import load_model

    options = ModelOptions(endpoint=args.endpoint, max_new_tokens=256, batch_size=1)
    asked = Asked(load_model(args.instructor, benchmark("dicobench"), lambda _: {}, options))
    return lambda photo, target: asked


def _editor(args: argparse.Namespace) -> Any:
    if args.editor == "procedural":
        from ..build.mcq.editors.procedural import Procedural

        return Procedural()
    from ..build.mcq.editors.flux import Flux

    if not args.flux_model:
        raise UsageError("--editor flux needs --flux-model, a Hub id or a folder of the pipeline")
    return Flux(args.flux_model, steps=args.steps)


def commonality(args: argparse.Namespace) -> int:
    from ..build.mcq.common_build import build_commonality, listed_grounds
    from ..build.mcq.differential import task_named

    task = task_named(args.task, "commonality")
    refused: list[str] = []
    grounds = list(listed_grounds(args.grounds, lambda error: refused.append(str(error))))
    kit = _kit(args.kit)
    return _built(
        args.out,
        refused,
        lambda: build_commonality(grounds, task, kit, args.out, groups=args.groups, seed=args.seed, refused=refused),
    )


def _kit(folder: Path | None) -> Any:
    from ..build.mcq.kit import load_kit
    from ..dataset_scripts.common import sample_folder

    return load_kit(folder or sample_folder("dicobench") / "objects")


def check(args: argparse.Namespace) -> int:
    return check_items(args.folder, args.kit)


def check_items(folder: Path, kit: Path | None = None) -> int:
    """Exit code of a check of the items in `folder`, whose problems are printed."""
    from ..build.mcq.check import check_folder

    found = check_folder(folder, _kit(kit))
    for problem in found["problems"]:
        print(problem)
    print(f"{folder}: {found['items']} items in {found['groups']} groups, {len(found['problems'])} problems")
    return 1 if found["problems"] else 0


def review(args: argparse.Namespace) -> int:
    from ..build.mcq.groups import FALLBACK
    from ..build.mcq.review import apply_decisions

    counts = apply_decisions(args.folder, args.decisions, args.out)
    print(f"{args.out}: {counts}")
    if counts["items"]:
        return 0
    print(f"no group is accepted in full; what was rejected is in {args.out / FALLBACK}", file=sys.stderr)
    return 1


def views(args: argparse.Namespace) -> int:
    from ..build.mcq.views import KINDS, check_views, compare, write_comparison
    from ..running.folder import RunFolder
    from ..running.score_run import rows_of

    runs: dict[str, RunFolder] = {}
    for given in args.runs:
        view, equals, run = given.partition("=")
        if not equals:
            raise UsageError(f"{given}: expected VIEW=RUN, for example crop=runs/crop")
        if view not in KINDS or view in runs:
            raise UsageError(f"{given}: each of {', '.join(KINDS)} may stand once before =")
        runs[view] = RunFolder.existing(run)
    check_views({view: run.card() for view, run in runs.items()})
    rows = rows_of(next(iter(runs.values()))).plain
    lines = compare(rows, {view: run.records() for view, run in runs.items()})
    for path in write_comparison(lines, args.out):
        print(path)
    return 0


def _built(out: Path, refused: Sequence[str], build: Callable[[], dict[str, Any]]) -> int:
    """Builds, shows the refusals, which the builder adds to `refused`, and says what was made."""
    try:
        report = build()
    finally:
        _show(refused, out)
    short = {key: value for key, value in report.items() if key not in ("refused", "fallback")}
    print(f"{out}: {short}")
    return 0


def _show(refused: Sequence[str], out: Path) -> None:
    """The first refusals, how many there are and, where they were written, the file with all, on stderr."""
    from ..build.mcq.groups import REPORT

    for line in refused[:_SHOWN]:
        print(f"refused: {line}", file=sys.stderr)
    if refused:
        where = f"; all of them are in {out / REPORT}" if (out / REPORT).is_file() else ""
        print(f"{len(refused)} refused{where}", file=sys.stderr)
