"""Speed of the web-pair builder on a folder of frozen pages: seconds a page and a pair, and where they go.

    python benches/build.py --pages DIR [--count 10] [--workers 1]

Prints one JSON object. Numbers depend on the machine; compare runs of the same one only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

from diffspot_hf.build.browser import Browser, PageError
from diffspot_hf.build.web import build
from diffspot_hf.build.web.corpus import read_corpus
from diffspot_hf.build.web.job import in_turns
from diffspot_hf.build.web.rows import save_picture
from diffspot_hf.build.web.scales import OPERATORS
from diffspot_hf.build.web.stage import on_stage
from diffspot_hf.build.web.takes import Director, cells_of, supply


def steps(pages: Path, count: int) -> dict[str, float]:
    """Median milliseconds of each step over the first `count` usable pages."""
    seen: dict[str, list[float]] = {}

    def clock(name: str, since: float) -> float:
        now = time.perf_counter()
        seen.setdefault(name, []).append(1000 * (now - since))
        return now

    cells = list(cells_of(list(OPERATORS)))
    used = 0
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        for page in in_turns(read_corpus(pages), seed=1):
            if used == count:
                break
            try:
                at = time.perf_counter()
                with on_stage(browser, page, seconds=120) as stage:
                    at = clock("load, two captures, page filters", at)
                    director = Director(stage, seed=1)
                    at = clock("scan", at)
                    supply(director, list(OPERATORS), 3)
                    at = clock("dry runs of all 39 cells", at)
                    tried = sum(director.tally.tried.values())
                    takes = director.take([(cell, "") for cell in cells], {})
                    at = clock("39 pairs taken", at)
                    seen.setdefault("pairs kept", []).append(len(takes))
                    seen.setdefault("dry runs", []).append(tried)
                    stage.capture()
                    at = clock("capture", at)
                    save_picture(Path(folder), stage.first)
                    clock("encode and write", at)
                used += 1
            except PageError as error:
                print(f"{page.page_id}: {error}")
    return {name: round(statistics.median(values), 1) for name, values in seen.items()}


def whole(pages: Path, workers: int) -> dict[str, float]:
    """Seconds and pairs of a whole build with one pair a cell."""
    with tempfile.TemporaryDirectory() as folder:
        since = time.perf_counter()
        report = build(pages, Path(folder) / "out", no_diff=9, workers=workers, allow_partial=True, progress=False)
        return {"seconds": round(time.perf_counter() - since, 1), "pairs": report["rows"], **report["pages"]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    found = {"milliseconds_median": steps(options.pages, options.count), "build": whole(options.pages, options.workers)}
    print(json.dumps(found, indent=2))
