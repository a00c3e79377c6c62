"""The demonstration: systems that need no download, on the samples that ship with the package."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

from .benchmarks import benchmark
from .models import load_model
from .options import ModelOptions
from .report.results import tables
from .running.folder import RunFolder
from .running.judge_run import judge_run
from .running.rowset import RowSet
from .running.runner import Settings
from .running.runner import run as run_rows
from .running.score_run import score_run
from .types import Benchmark

SYSTEMS = ("pixel-diff", "tiny-vlm", "always-none", "random", "oracle")
TOKENS = 16
"""Length of a reply of the random weights (chosen): they prove the path, and never say anything that counts."""
NEEDS = {"pixel-diff": "cv2", "tiny-vlm": "transformers"}
BENCHMARKS = ("diffspot", "scry", "dicobench")


def demo(out: Path, *, markdown: bool = False) -> int:
    """Runs, judges and scores each system on each sample and prints the tables; returns the exit code."""
    began, failed = time.monotonic(), 0
    for name in BENCHMARKS:
        chosen = benchmark(name)
        rows = RowSet(chosen, "sample")
        print(f"{chosen.name}: {len(rows)} pairs of the sample", file=sys.stderr)
        scores = []
        for system in SYSTEMS:
            module = NEEDS.get(system)
            if module is not None and importlib.util.find_spec(module) is None:
                print(f"  {system}: left out, {module} is not installed", file=sys.stderr)
                continue
            score, unanswered = _evaluate(system, chosen, rows, RunFolder(out / chosen.name / system))
            failed += unanswered
            scores.append(score)
        print(f"\n{chosen.name}, sample of {len(rows)} pairs\n\n{tables(scores, markdown=markdown)}", flush=True)
    print(f"\nDone in {time.monotonic() - began:.0f} s; the runs are in {out}", file=sys.stderr)
    return 1 if failed else 0


def _evaluate(system: str, chosen: Benchmark, rows: RowSet, out: RunFolder) -> tuple[dict[str, Any], int]:
    options = ModelOptions(batch_size=4, max_new_tokens=TOKENS)
    model = load_model(system, chosen, rows.truth, options)
    settings = Settings(prompt=chosen.prompt, generation={"max_new_tokens": TOKENS, "seed": 0, "temperature": 0})
    summary = run_rows(chosen, rows, model, out, settings)
    if chosen.judged:
        from .judging.rules import RulesJudge

        judge_run(out, rows, RulesJudge(), progress=False)
    return score_run(out, rows), summary.n_unanswered
