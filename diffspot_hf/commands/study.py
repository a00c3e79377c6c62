"""annotate, audit, manifest, check-numbers: what people do around a run, and what keeps a study honest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..rows import Refuse, stop

if TYPE_CHECKING:
    from ..running.folder import RunFolder
    from ..running.rowset import RowSet


def add_to(commands: Any) -> None:
    add = commands.add_parser("page", help="a page for people: annotate screens, verify or answer DiCoBench items")
    add.add_argument("mode", choices=("annotate", "verify", "answer"))
    add.add_argument("--data", required=True, help="folder with rows (annotate), or as for run (verify, answer)")
    add.add_argument("--out", required=True, type=Path)
    add.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    add.add_argument("--prefill", action="store_true", help="annotate: start from the issues that the rows have")
    add.set_defaults(action=page)

    audit = commands.add_parser("audit", help="let people decide what the annotations cannot").add_subparsers(
        required=True
    )
    add = audit.add_parser("export", help="the unmatched predictions of a Scry run, as a page and a CSV")
    add.add_argument("run")
    add.add_argument("--out", required=True, type=Path)
    add.add_argument("--mode", default="audit", choices=("audit", "controls"))
    add.add_argument("--data", help="where the rows are, if not where the run card says")
    add.set_defaults(action=audit_export)
    add = audit.add_parser("summarize", help="adjusted precision and specificity from decisions")
    add.add_argument(
        "--decisions", required=True, nargs="+", type=Path, help="exports of the page, or queue.csv filled in"
    )
    add.add_argument("--run", help="the run the decisions are about; without it only they are counted")
    add.add_argument("--data", help="where the rows are, if not where the run card says")
    add.add_argument("--out", type=Path, default=Path("audit-summary.json"))
    add.add_argument("--markdown", type=Path)
    add.set_defaults(action=audit_summarize)

    manifest = commands.add_parser("manifest", help="what a study consists of, by bytes").add_subparsers(required=True)
    add = manifest.add_parser("make", help="list files, scores and data with their digests")
    add.add_argument("paths", nargs="+", type=Path)
    add.add_argument("--out", type=Path, default=Path("study_manifest.json"))
    add.add_argument("--markdown", type=Path)
    add.set_defaults(action=manifest_make)
    add = manifest.add_parser("check", help="name every file that changed, vanished or appeared")
    add.add_argument("manifest", type=Path)
    add.set_defaults(action=manifest_check)

    add = commands.add_parser("check-numbers", help="compare marked Markdown tables with their score files")
    add.add_argument("files", nargs="+", type=Path)
    add.set_defaults(action=numbers)


def page(args: argparse.Namespace) -> int:
    from ..benchmarks import benchmark
    from ..report.pages import write_page
    from ..running.rowset import RowSet

    if args.mode == "annotate":
        refused: list[str] = []
        screens = _screens(Path(args.data), stop if args.strict else lambda error: refused.append(str(error)))
        try:
            written = write_page("annotate", screens, args.out, prefill=args.prefill)
        finally:
            for line in refused:
                print(f"refused: {line}", file=sys.stderr)
    else:
        rows = RowSet(benchmark("dicobench"), args.data, strict=args.strict)
        written = write_page(args.mode, (rows.row(identifier) for identifier in rows.ids), args.out)
    reader = {"annotate": "build scry", "verify": "build dicobench review", "answer": "import"}[args.mode]
    print(f"{written}: open it in a browser; diffspot-hf {reader} reads what it exports")
    return 0


def _screens(folder: Path, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """The rows of a folder's JSONL files; pictures keep the path by which the rows name them.

    Rows that cannot be shown are given to `refuse`, each as an error that names file, line and reason.
    """
    from ..dataset_scripts.common import find_manifests, read_identifier
    from ..images import decode_rgb
    from ..rows import inside, iter_jsonl

    seen: dict[str, int] = {}
    for manifest in find_manifests(folder):
        for number, row in iter_jsonl(manifest, refuse):
            try:
                row["id"] = read_identifier(row.get("id"))
                if row["id"] in seen:
                    raise UsageError(f"id {row['id']!r} stands twice, first in line {seen[row['id']]}")
                for side in ("image_a", "image_b"):
                    data = inside(manifest.parent, row.get(side) or "").read_bytes()
                    decode_rgb(data, side)
                    row[side] = {"path": row[side], "bytes": data}
            except (UsageError, OSError) as error:
                refuse(UsageError(f"{manifest}, line {number}: {error}"))
                continue
            seen[row["id"]] = number
            yield row


def audit_export(args: argparse.Namespace) -> int:
    from ..report.audit import queue
    from ..report.decisions import write_csv, write_nothing
    from ..report.pages import write_page

    out, rows = _scry_run(args)
    entries = queue(out, rows) if args.mode == "audit" else []
    if args.mode == "audit":
        write_csv(entries, args.out / "queue.csv")
        wanted = {entry["row_id"] for entry in entries}
    else:
        wanted = {row["id"] for row in rows.plain if not row["issues"]}
    if not wanted:
        nothing = write_nothing(args.mode, args.out)
        missing = "prediction without an annotated issue" if args.mode == "audit" else "control"
        print(f"{out.path} has no {missing}: there is nothing to audit; {nothing} is the decision file that says so")
        return 0
    shown = [_page_row(rows.row(i), [e for e in entries if e["row_id"] == i]) for i in rows.ids if i in wanted]
    page = write_page(args.mode, shown, args.out)
    print(f"{page}: {len(entries) or len(shown)} entries to decide; open it in a browser and export the decisions")
    return 0


def _scry_run(args: argparse.Namespace) -> tuple[RunFolder, RowSet]:
    """The run that is audited, and its rows."""
    from ..running.folder import RunFolder
    from ..running.score_run import rows_of

    out = RunFolder.existing(args.run)
    rows = rows_of(out, args.data)
    if rows.benchmark.name != "scry":
        raise UsageError(f"{out.path} is a run of {rows.benchmark.name}; only scry runs are audited")
    return out, rows


def _page_row(row: dict[str, Any], predictions: list[dict[str, Any]]) -> dict[str, Any]:
    return row | {"predictions": predictions}


def audit_summarize(args: argparse.Namespace) -> int:
    from ..report.audit import audited, markdown, summarize, write_summary

    run = audited(*_scry_run(args)) if args.run else None
    summary = summarize(args.decisions, run)
    write_summary(summary, args.out, args.markdown)
    print(markdown(summary))
    return 0


def manifest_make(args: argparse.Namespace) -> int:
    from ..report.manifest import make

    made = make(args.paths, args.out, args.markdown)
    print(f"{args.out}: {len(made['files'])} files, {len(made['runs'])} runs")
    return 0


def manifest_check(args: argparse.Namespace) -> int:
    from ..report.manifest import check

    problems = check(args.manifest)
    for problem in problems:
        print(problem)
    print(f"{args.manifest}: {f'{len(problems)} differences' if problems else 'nothing changed'}")
    return 1 if problems else 0


def numbers(args: argparse.Namespace) -> int:
    from ..report.check_numbers import check_numbers

    wrong = 0
    for file in args.files:
        compared, problems = check_numbers(file)
        wrong += len(problems)
        for problem in problems:
            print(problem)
        print(f"{file}: {compared} numbers compared, {len(problems)} wrong")
    return 1 if wrong else 0
