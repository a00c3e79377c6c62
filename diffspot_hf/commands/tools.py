"""prepare and verify: what stands beside an evaluation."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import UsageError


def add_to(commands: Any) -> None:
    add = commands.add_parser("prepare", help="fill the datasets cache, so that load_dataset works without our import")
    add.add_argument("names", nargs="*", metavar="NAME", help="diffspot, scry_design_diff, dicobench (default: all)")
    add.set_defaults(action=prepare)


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


def has_sample(name: str) -> bool:
    """Whether a sample of the data set ships with the package."""
    from ..dataset_scripts.common import sample_folder

    return (sample_folder(name) / "test.jsonl").is_file()
