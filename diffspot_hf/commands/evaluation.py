"""import, judge, score, merge, demo: from replies to a table."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..errors import UsageError


def add_to(commands: Any) -> None:
    add = commands.add_parser("import", help="make a run folder from predictions made elsewhere")
    add.add_argument("benchmark")
    add.add_argument("--predictions", type=Path, required=True, help="JSONL with id and prediction or raw_response")
    add.add_argument("--data", default="sample", help="sample, official or a folder")
    add.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    add.add_argument("--model", help="name of the model (default: the rows' own)")
    add.add_argument("--box-frame", help="scry: the frame of the boxes (default: xywh_norm)")
    add.add_argument("--out", required=True, help="the run folder to make")
    add.set_defaults(action=import_)

    add = commands.add_parser("judge", help="judge the free-text replies of a run")
    add.add_argument("run")
    add.add_argument("--judge", default="rules", help="rules (offline, unofficial)")
    add.add_argument("--data", help="where the rows are, if not where the run card says")
    add.set_defaults(action=judge)

    add = commands.add_parser("score", help="compute scores.json and print it as a table")
    add.add_argument("run")
    add.add_argument("--json", action="store_true", help="print scores.json instead of a table")
    add.add_argument("--data", help="where the rows are, if not where the run card says")
    other = add.add_argument_group("another reading (scry)", "printed only: scores.json keeps the standard one")
    other.add_argument("--iou-threshold", type=float, help="overlap that a match needs (standard: 0.10)")
    other.add_argument("--matching", choices=("maximum", "greedy"))
    other.add_argument("--malformed-controls", choices=("failed", "abstained", "excluded"))
    add.set_defaults(action=score)

    add = commands.add_parser("merge", help="join parts of one run that were made on several machines")
    add.add_argument("run")
    add.add_argument("parts", nargs="+")
    add.set_defaults(action=merge)

    add = commands.add_parser("demo", help="evaluate the built-in systems on the sample and print the table")
    add.add_argument("--out", default="runs/demo")
    add.add_argument("--markdown", action="store_true", help="print Markdown tables")
    add.set_defaults(action=demo)


def import_(args: argparse.Namespace) -> int:
    from ..benchmarks import benchmark
    from ..benchmarks.scry import Scry
    from ..running.folder import RunFolder
    from ..running.import_run import import_run
    from ..running.rowset import RowSet

    chosen = benchmark(args.benchmark)
    if args.box_frame is not None:
        if chosen.name != "scry":
            raise UsageError(f"--box-frame is for scry, not for {chosen.name}")
        chosen = Scry(args.box_frame)
    out = RunFolder(args.out)
    missing = import_run(chosen, RowSet(chosen, args.data, strict=args.strict), args.predictions, out, args.model)
    print(f"{out.path}: run folder made; next: diffspot-hf {'judge' if chosen.judged else 'score'} {out.path}")
    if missing:
        shown = ", ".join(missing[:10]) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
        print(f"{len(missing)} rows have no prediction and are never right: {shown}", file=sys.stderr)
        return 1
    return 0


def judge(args: argparse.Namespace) -> int:
    from ..running.folder import RunFolder
    from ..running.judge_run import judge_run
    from ..running.score_run import rows_of

    out = RunFolder.existing(args.run)
    rows = rows_of(out, args.data)
    if not rows.benchmark.judged:
        raise UsageError(f"{rows.benchmark.name} needs no judge; run diffspot-hf score {out.path}")
    if args.judge != "rules":
        raise UsageError(f"unknown judge {args.judge!r}; there is: rules")
    from ..judging.rules import RulesJudge

    counts = judge_run(out, rows, RulesJudge())
    print(f"{out.judged}: {counts['judged']} judged, {counts['reused']} reused, {counts['not_judged']} without a reply")
    if counts["failed"]:
        print(f"the judge failed on {counts['failed']} rows; the same command asks it again", file=sys.stderr)
        return 1
    return 0


def score(args: argparse.Namespace) -> int:
    from ..benchmarks.scry import Scry
    from ..running.folder import RunFolder
    from ..running.score_run import rows_of, score_run

    out = RunFolder.existing(args.run)
    rows = rows_of(out, args.data)
    reading = {
        key: value
        for key, value in (
            ("iou_threshold", args.iou_threshold),
            ("method", args.matching),
            ("malformed_controls", args.malformed_controls),
        )
        if value is not None
    }
    if reading:
        if not isinstance(rows.benchmark, Scry):
            raise UsageError(f"{', '.join(reading)}: these readings are for scry, not for {rows.benchmark.name}")
        rows = rows.asked_by(rows.benchmark.with_reading(reading))
    scores = score_run(out, rows, write=not reading)
    if args.json:
        print(json.dumps(scores, indent=2, ensure_ascii=False))
    else:
        from ..report.results import tables

        print(tables([scores]))
        if reading:
            print(f"\nAnother reading, not written: {', '.join(f'{key} {value}' for key, value in reading.items())}")
    return 0


def merge(args: argparse.Namespace) -> int:
    from ..running.folder import RunFolder, merge_folders
    from ..running.score_run import rows_of

    out = RunFolder.existing(args.run)
    rows = rows_of(out)
    records = merge_folders(out, [RunFolder.existing(part) for part in args.parts], rows.ids)
    print(f"{out.path}: {len(records)} of {len(rows)} rows")
    return 0


def demo(args: argparse.Namespace) -> int:
    from ..demo import demo as run_demo

    return run_demo(Path(args.out), markdown=args.markdown)
