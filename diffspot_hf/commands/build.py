"""pages and build: from other people's pages, screens and photos to pairs with a known truth."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import UsageError
from . import mcq


def add_to(commands: Any) -> None:
    _add_pages(commands.add_parser("pages", help="fetch and freeze web pages").add_subparsers(required=True))
    _add_build(commands.add_parser("build", help="make pairs with a known truth").add_subparsers(required=True))


def _add_pages(actions: Any) -> None:
    add = actions.add_parser("fetch", help="fetch the pinned template packages through npm")
    add.add_argument("names", nargs="*", metavar="NAME", help="packages (default, and 'templates': all)")
    add.add_argument("--out", default="work/fetched")
    add.set_defaults(action=fetch)

    add = actions.add_parser("freeze", help="make self-contained, script-free copies of pages")
    add.add_argument("sources", nargs="+", metavar="SRC", help="fetched packages, a folder of HTML, or a loopback URL")
    add.add_argument("--out", required=True)
    add.add_argument("--names", nargs="*", default=(), help="only these of a set of fetched packages")
    add.add_argument("--workers", type=int, default=1, help="browsers at work")
    add.set_defaults(action=freeze)

    add = actions.add_parser("curate", help="say what a folder of frozen pages holds, and which domains it lacks")
    add.add_argument("folder", type=Path)
    add.set_defaults(action=curate)


def _add_build(actions: Any) -> None:
    add = actions.add_parser("diffspot", help="pairs of web page screenshots")
    add.add_argument("--pages", required=True, help="folder of frozen pages, or of anyone's HTML")
    add.add_argument("--out", required=True)
    add.add_argument("--per-cell", type=int, default=1, help="pairs for each operator and tier")
    add.add_argument("--no-diff", type=int, default=4, help="pairs without a change")
    add.add_argument("--seed", type=int, default=1)
    add.add_argument("--operators", nargs="+", help="some of the 13 (default: all)")
    add.add_argument("--gate", default="strict", choices=("strict", "container"))
    add.add_argument("--allow-partial", action="store_true", help="deliver cells that cannot be filled at their size")
    add.add_argument("--workers", type=int, default=1, help="browsers at work")
    add.add_argument("--viewport", type=_size, default=(1280, 800), metavar="WxH")
    add.add_argument("--scale", type=float, default=1.0, help="device pixels per CSS pixel")
    add.set_defaults(action=diffspot)

    add = actions.add_parser("check", help="recheck every row of a built data set from its pixels alone")
    add.add_argument("folder", type=Path)
    add.set_defaults(action=check)

    add = actions.add_parser("scry", help="pairs of mobile screens, from annotations or synthetic")
    add.add_argument("--out", required=True, type=Path)
    add.add_argument("--annotations", type=Path, help="JSON exported by the annotation page")
    add.add_argument("--images", type=Path, help="folder of the pictures that the annotations name")
    add.add_argument("--synthetic", action="store_true", help="the exhaustive set: real screens, known mutations")
    add.add_argument("--per-bucket", type=int, default=10, help="screens a bucket of the synthetic set")
    add.add_argument("--dense-from", type=int, default=4, help="issues from which a screen is dense")
    add.add_argument("--seed", type=int, default=1)
    add.add_argument("--strict", action="store_true", help="stop at the first screen that cannot be used")
    add.set_defaults(action=scry)

    add = actions.add_parser("scry-pilot", help="a stratified, seeded sample of a Scry data set")
    add.add_argument("--data", required=True, type=Path)
    add.add_argument("--out", required=True, type=Path)
    add.add_argument("--per-bucket", type=int, default=15)
    add.add_argument("--seed", type=int, default=0)
    add.add_argument("--manifest", type=Path, help="where the manifest goes (default: manifest.json in --out)")
    add.add_argument("--strict", action="store_true", help="stop at the first row that cannot be used")
    add.set_defaults(action=scry_pilot)

    mcq.add_to(actions)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r}: expected WIDTHxHEIGHT, for example 1280x800")
    return int(width), int(height)


def fetch(args: argparse.Namespace) -> int:
    from ..build.pages.fetch import fetch as fetch_pages

    names = [name for name in args.names if name != "templates"]
    found = fetch_pages(names, args.out, progress=lambda line: print(line, file=sys.stderr))
    print(f"{args.out}: {len(found)} packages; next: diffspot-hf pages freeze {args.out} --out DIR")
    return 0


def freeze(args: argparse.Namespace) -> int:
    from tqdm import tqdm

    from ..build.pages.freeze import freeze as freeze_pages

    with tqdm(desc="freeze", unit="page") as bar:

        def progress(done: int, total: int, line: str) -> None:
            bar.total = total
            bar.set_postfix_str(line[-50:], refresh=False)
            bar.update(done - bar.n)

        report = freeze_pages(args.sources, args.out, names=args.names, workers=args.workers, progress=progress)
    print(f"{args.out}: {report['kept']} pages kept")
    for reason, count in sorted(report["dropped"].items()):
        print(f"dropped, {reason}: {count}")
    return 0 if report["kept"] else 1


def curate(args: argparse.Namespace) -> int:
    from collections import Counter

    from ..build.pages.domains import without_pages
    from ..build.web.corpus import read_corpus

    pages = read_corpus(args.folder)
    for title, key in (("domain", "domain"), ("source", "source"), ("language", "language")):
        counted = Counter(str(getattr(page, key)) for page in pages)
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in counted.most_common()))
    missing = without_pages(page.domain for page in pages)
    print(f"{len(pages)} pages; domains without pages: {', '.join(missing) or 'none'}")
    return 0


def diffspot(args: argparse.Namespace) -> int:
    from ..build.web import build

    report = build(
        args.pages,
        args.out,
        per_cell=args.per_cell,
        no_diff=args.no_diff,
        seed=args.seed,
        operators=args.operators,
        gate=args.gate,
        allow_partial=args.allow_partial,
        workers=args.workers,
        viewport=args.viewport,
        scale=args.scale,
    )
    print(f"{args.out}: {report['rows']} pairs; what was rejected and why stands in {args.out}/report.md")
    for missing in report["missing"]:
        print(f"missing: {missing}")
    return 0


def check(args: argparse.Namespace) -> int:
    row = _first_row(args.folder)
    if "options" in row:
        return mcq.check_items(args.folder)
    if "issues" in row:
        from ..build.mobile import recheck as recheck_screens

        if '"exhaustive": true' not in str(row.get("meta")):
            raise UsageError(f"{args.folder}: screens that people annotated; no pixel proves what they marked")
        problems = recheck_screens(args.folder)["problems"]
    else:
        from ..build.web import recheck

        problems = recheck(args.folder)
    for problem in problems:
        print(problem)
    print(f"{args.folder}: {len(problems)} problems")
    return 1 if problems else 0


def _first_row(folder: Path) -> dict[str, Any]:
    """The first row of a built data set. Raises `UsageError` where there is none."""
    from ..rows import iter_jsonl

    file = folder / "test.jsonl"
    if not file.is_file():
        raise UsageError(f"{folder}: no test.jsonl here; give the folder of a finished build")
    for _, row in iter_jsonl(file):
        return row
    raise UsageError(f"{file}: holds no rows; give the folder of a finished build")


def scry(args: argparse.Namespace) -> int:
    if args.synthetic == bool(args.annotations):
        raise UsageError("build scry needs either --synthetic or --annotations FILE with --images DIR")
    from ..build.scry import from_annotations
    from ..folders import can_be_made

    if args.synthetic:
        from ..build.mobile import build

        can_be_made(args.out)
        report = build(args.out, per_bucket=args.per_bucket, seed=args.seed)
        print(f"{args.out}: {report['rows']} screens")
        return 0
    if args.images is None:
        raise UsageError("--annotations needs --images, the folder of the pictures they name")
    report = from_annotations(args.annotations, args.images, args.out, dense_from=args.dense_from, strict=args.strict)
    for line in report["refused"]:
        print(f"refused: {line}", file=sys.stderr)
    for identifier in report["controls_with_unusable_annotations"]:
        print(f"a control although it was annotated, as no annotation can be used: id {identifier!r}", file=sys.stderr)
    buckets = ", ".join(f"{bucket} {count}" for bucket, count in report["buckets"].items())
    print(f"{args.out}: {report['rows']} screens ({buckets}), {report['issues']} issues")
    print(
        f"left out: {report['not_completed']} screens not completed, {len(report['refused'])} refused; annotations "
        f"{report['annotations_without_tag']} without tag, {report['annotations_without_box']} without box"
    )
    return 0


def scry_pilot(args: argparse.Namespace) -> int:
    from ..build.scry import pilot

    made = pilot(
        args.data, args.out, per_bucket=args.per_bucket, seed=args.seed, manifest=args.manifest, strict=args.strict
    )
    for line in made["refused"]:
        print(f"refused: {line}", file=sys.stderr)
    print(f"{args.out}: {made['rows']} screens, {made['issues']} issues, SHA-256 {made['sha256'][:16]}")
    return 0
