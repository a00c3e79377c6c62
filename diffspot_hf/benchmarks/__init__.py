"""The benchmarks, one file each. To add one: write the file, add its line here."""

from __future__ import annotations

import importlib

from ..errors import UsageError
from ..types import Benchmark

BENCHMARKS: dict[str, str] = {
    "diffspot": "diffspot_hf.benchmarks.diffspot:DiffSpot",
    "scry": "diffspot_hf.benchmarks.scry:Scry",
    "dicobench": "diffspot_hf.benchmarks.dicobench:DiCoBench",
}
ALIASES: dict[str, str] = {"scry_design_diff": "scry"}


def benchmark(name: str) -> Benchmark:
    """The benchmark called `name` (or by an alias). Raises `UsageError` naming those there are."""
    target = BENCHMARKS.get(ALIASES.get(name, name))
    if target is None:
        raise UsageError(f"unknown benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    module, _, attribute = target.partition(":")
    made: Benchmark = getattr(importlib.import_module(module), attribute)()
    return made
