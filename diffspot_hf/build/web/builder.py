"""Web pairs from a folder of pages: the one call that builds a data set."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ..browser import LOAD_SECONDS, VIEWPORT
from . import corpus, report, tasks
from .crew import Crew
from .job import Job
from .ledger import Ledger
from .plan import NO_DIFF, SOURCE_SHARE
from .scales import OPERATORS
from .takes import cells_of


def build(
    pages: str | Path,
    out: str | Path,
    *,
    per_cell: int = 1,
    no_diff: int = 4,
    seed: int = 1,
    operators: Sequence[str] | None = None,
    gate: str = "strict",
    source_share: float = SOURCE_SHARE,
    allow_partial: bool = False,
    workers: int = 1,
    viewport: tuple[int, int] = VIEWPORT,
    scale: float = 1.0,
    progress: bool = True,
) -> dict[str, Any]:
    """The report of a data set built into the folder `out` from the folder `pages`.

    `per_cell` pairs for each operator and tier, and `no_diff` pairs without a change. Rows are in ``test.jsonl``,
    pictures in ``images/``, the report in ``report.json`` and ``report.md``; ``build.json`` says whether it is done.
    No source gives more than `source_share` of a cell or of the whole, a corpus of too few sources aside.
    The same call again continues an interrupted build; the same seed gives the same rows, with any number of workers.

    Raises `UsageError` for wrong options and folders, for a disk that is full, and for cells that the pages cannot fill
    unless `allow_partial`.
    """
    names = _checked(per_cell, no_diff, operators, gate, workers)
    pages_found = corpus.read_corpus(Path(pages))
    options = {"viewport": tuple(viewport), "scale": scale, "page_seconds": LOAD_SECONDS}
    started = time.monotonic()
    with Crew(workers, options) as crew:
        browser = crew.browser.describe()
        fonts = browser["fonts"].get("sha256", "")
        parameters = {
            "per_cell": per_cell, "no_diff": no_diff, "seed": seed, "operators": list(names), "gate": gate,
            "source_share": source_share, "viewport": list(viewport), "scale": scale, "pages": len(pages_found),
            "pages_sha256": corpus.digest(pages_found), "browser": browser["version"], "fonts_sha256": fonts,
        }  # fmt: skip
        settings = tasks.Settings(Path(out), seed, gate, names, tuple(viewport), scale)
        with Ledger(Path(out), parameters) as ledger:
            if ledger.is_complete:
                return report.read(Path(out))
            wanted = {f"{o}/{t}": per_cell for o, t in cells_of(names) if per_cell} | (
                {NO_DIFF: no_diff} if no_diff else {}
            )
            Job(crew, ledger, settings, pages_found, wanted, source_share, progress).run()
            made = report.make(ledger.rows, wanted, pages_found, ledger.surveyed, ledger.finished)
            made["seconds"] = round(time.monotonic() - started, 1)
            report.write(Path(out), made)
            if made["missing"] and not allow_partial:
                raise UsageError(f"{report.what_is_missing(made)}; give more pages, or allow a partial data set")
            ledger.tidy()
            ledger.mark(complete=True, browser=browser, rows=len(ledger.rows), missing=made["missing"])
            return made


def _checked(per_cell: int, no_diff: int, operators: Sequence[str] | None, gate: str, workers: int) -> tuple[str, ...]:
    if unknown := [name for name in operators or () if name not in OPERATORS]:
        raise UsageError(f"unknown operator {', '.join(unknown)}; there are {', '.join(OPERATORS)}")
    if gate not in ("strict", "container"):
        raise UsageError(f"unknown gate {gate!r}; there are strict and container")
    if per_cell < 0 or no_diff < 0 or workers < 1:
        raise UsageError("pairs per cell and no-diff pairs must be at least 0, workers at least 1")
    return tuple(name for name in OPERATORS if operators is None or name in operators)
