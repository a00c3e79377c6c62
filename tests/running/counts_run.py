"""Runs over 0 to 17 rows one after the other, for a launcher of several processes: ``counts_run.py DATA OUT``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.processes import Processes
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run


def main() -> None:
    from slow_run import Slow  # beside this script, which is no module of a package

    data, out = sys.argv[1:3]
    chosen = benchmark("diffspot")
    processes = Processes.from_environment()
    for n in range(18):
        rows = RowSet(chosen, data, limit=max(n, 1))
        rows.ids = rows.ids[:n]
        folder = RunFolder(Path(out, str(n)))
        run(chosen, rows, Slow(f"{out}/log-{n}", 0), folder, Settings(prompt=chosen.prompt, progress=False), processes)
    processes.close()


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
