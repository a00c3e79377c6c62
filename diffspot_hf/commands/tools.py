"""prepare and verify: what stands beside an evaluation."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..errors import UsageError


def add_to(commands: Any) -> None:
    add = commands.add_parser("prepare", help="fill the datasets cache, so that load_dataset works without our import")
    add.add_argument("names", nargs="*", metavar="NAME", help="diffspot, scry_design_diff, dicobench (default: all)")
    add.set_defaults(action=prepare)

    add = commands.add_parser("verify", help="ask random rows of a run again, one by one, and compare")
    add.add_argument("run")
    add.add_argument("--rows", type=int, default=20)
    add.add_argument("--seed", type=int, help="which rows (default: random)")
    add.add_argument("--json", action="store_true")
    add.set_defaults(action=verify)


def prepare(args: argparse.Namespace) -> int:
    from ..loading import load
    from ..register import DATASETS

    names = args.names or [name for name in DATASETS if has_sample(name)]
    for name in names:
        if name in DATASETS and not has_sample(name):
            raise UsageError(f"{name}: this version ships no sample of it")
        rows = load(name, "sample")
        print(f'{name}: {len(rows)} rows; load_dataset("{name}", "sample") now works in any process')
    return 0


def verify(args: argparse.Namespace) -> int:
    from ..models import load_model
    from ..running.folder import RunFolder
    from ..running.score_run import rows_of
    from ..running.verify import as_asked, verify_run

    if args.rows < 1:
        raise UsageError(f"--rows {args.rows}: at least one row is needed")
    out = RunFolder.existing(args.run)
    chosen, name, options = as_asked(out)
    rows = rows_of(out).asked_by(chosen)
    model = load_model(name, chosen, rows.truth, options)
    found = verify_run(out, rows, model, n=args.rows, seed=args.seed)
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        print(f"{found['rows']} rows asked again (seed {found['seed']}): {found['agreement']:.1%} answered as before")
        print(
            f"mean reply length {found['mean_length_then']:.0f} then, {found['mean_length_now']:.0f} now (characters)"
        )
        print(f"repeated against new requests: {found['repeat_time_ratio']:.2f} of the time")
        if found["left_out"]:
            print(f"{found['left_out']} rows that another server answered were left out")
        if found["cache_suspected"]:
            print("repeated requests are answered too fast: a cache seems to stand in between")
        if found["differing"]:
            print(f"answered differently: {', '.join(found['differing'])}")
    return 0 if found["passed"] else 1


def has_sample(name: str) -> bool:
    """Whether a sample of the data set ships with the package."""
    from ..dataset_scripts.common import sample_folder

    return (sample_folder(name) / "test.jsonl").is_file()
