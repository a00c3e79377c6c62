"""Web pairs from a folder of pages: survey, plan, take, and again until every cell is full or nothing is left."""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...errors import UsageError
from ..browser import LOAD_SECONDS, VIEWPORT
from . import corpus, report, tasks
from .corpus import CorpusPage
from .crew import Crew
from .ledger import Ledger
from .plan import NO_DIFF, Placed, Seat, plan
from .scales import OPERATORS
from .takes import cells_of

WAVE = 48
"""Tasks between two looks at what directions and elements have been used (fixed, so that workers change nothing)."""
SPARE_PAGES = 16
MORE_PAGES = 48


def build(
    pages: str | Path,
    out: str | Path,
    *,
    per_cell: int = 1,
    no_diff: int = 4,
    seed: int = 1,
    operators: Sequence[str] | None = None,
    gate: str = "strict",
    allow_partial: bool = False,
    workers: int = 1,
    viewport: tuple[int, int] = VIEWPORT,
    scale: float = 1.0,
    progress: bool = True,
) -> dict[str, Any]:
    """The report of a data set built into the folder `out` from the folder `pages`.

    `per_cell` pairs for each operator and tier, and `no_diff` pairs without a change. Rows are in ``test.jsonl``,
    pictures in ``images/``, the report in ``report.json`` and ``report.md``; ``build.json`` says whether it is done.
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
            "viewport": list(viewport), "scale": scale, "pages": len(pages_found),
            "pages_sha256": corpus.digest(pages_found), "browser": browser["version"], "fonts_sha256": fonts,
        }  # fmt: skip
        settings = tasks.Settings(Path(out), seed, gate, names, tuple(viewport), scale)
        with Ledger(Path(out), parameters) as ledger:
            if ledger.is_complete:
                return report.read(Path(out))
            job = _Job(crew, ledger, settings, pages_found, per_cell, no_diff, progress)
            job.run()
            made = report.make(ledger.rows, job.wanted, pages_found, ledger.surveyed, ledger.finished)
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


class _Job:
    """One build in progress: what is wanted, what is left to find, and what every page may still give."""

    def __init__(
        self, crew: Crew, ledger: Ledger, settings: tasks.Settings, pages: list[CorpusPage],
        per_cell: int, no_diff: int, progress: bool,
    ) -> None:  # fmt: skip
        self.crew = crew
        self.ledger = ledger
        self.settings = settings
        self.pages = {page.page_id: page for page in pages}
        self.queue = in_turns(pages, settings.seed)
        self.wanted = {f"{o}/{t}": per_cell for o, t in cells_of(settings.operators)} | {NO_DIFF: no_diff}
        self.wanted = {cell: count for cell, count in self.wanted.items() if count}
        self.need = dict(self.wanted)
        self.enough = max(3, min(12, math.ceil(3 * per_cell / len(pages))))
        self.supply: dict[str, dict[str, int]] = {}
        self.ways: dict[str, Counter[str]] = {}
        self.placed = Placed()
        self.taken = 0
        self.used_ways: Counter[tuple[str, str]] = Counter()
        self.used: dict[str, dict[str, set[str]]] = {}
        self.named: dict[tuple[str, str], set[str]] = {}
        self.bar = tqdm if progress else (lambda items, **_: items)

    def run(self) -> None:
        """Nothing: `need` is met, or the pages have no more to give."""
        self._survey(sum(self.wanted.values()) * 2 + SPARE_PAGES)
        cap = math.ceil(sum(self.wanted.values()) / len(self.pages)) if self.pages else 1
        while any(self.need.values()):
            chosen, cap_now = plan(self._seats(), self.wanted, self.need, self.placed, self.settings.seed, cap)
            if (len(chosen) < sum(self.need.values()) or cap_now > 1) and self.queue:
                self._survey(MORE_PAGES)
                continue
            if not chosen:
                return
            cap = cap_now
            self._take(chosen)

    def _survey(self, count: int) -> None:
        batch, self.queue = self.queue[:count], self.queue[count:]
        new = [page for page in batch if page.page_id not in self.ledger.surveyed]
        todo = [tasks.Survey(self.settings, page, self.enough) for page in new]
        for found in self.bar(self.crew.map(tasks.survey, todo), total=len(todo), desc="pages surveyed", unit="page"):
            self.ledger.add_survey(found)
        for page in batch:
            found = self.ledger.surveyed[page.page_id]
            if not found["dropped"]:
                self.supply[page.page_id] = {cell: sum(ways.values()) for cell, ways in found["supply"].items()}
                self.supply[page.page_id][NO_DIFF] = 1
                for cell, ways in found["supply"].items():
                    self.ways.setdefault(cell, Counter()).update(ways)

    def _seats(self) -> list[Seat]:
        return [
            Seat(page.page_id, page.source, page.domain, page.own, supply)
            for page_id, supply in self.supply.items()
            if (page := self.pages[page_id])
        ]

    def _take(self, chosen: list[tuple[str, str]]) -> None:
        by_page: dict[str, list[str]] = {}
        for page_id, cell in chosen:
            by_page.setdefault(page_id, []).append(cell)
        order = [page.page_id for page in in_turns([self.pages[p] for p in by_page], self.settings.seed)]
        waves = [order[at : at + WAVE] for at in range(0, len(order), WAVE)]
        with tqdm(total=len(chosen), desc="pairs taken", unit="pair", disable=self.bar is not tqdm) as bar:
            for wave in waves:
                todo = [self._task(page_id, by_page[page_id]) for page_id in wave]
                for task, result in self._results(todo):
                    self._book(task, result)
                    bar.update(len(task.cells) + task.no_diff)

    def _results(self, todo: list[tasks.Shoot]) -> Iterator[tuple[tasks.Shoot, dict[str, Any]]]:
        """Each task with its result: from the diary as far as it goes, then fresh ones."""
        old = self.ledger.finished[self.taken : self.taken + len(todo)]
        self.taken += len(todo)
        for task, result in zip(todo, old, strict=False):
            if result["key"] != task.key:
                raise UsageError(f"{self.ledger.out}: was begun by another version; choose another folder")
            yield task, result
        new = todo[len(old) :]
        for task, result in zip(new, self.crew.map(tasks.shoot, new), strict=True):
            self.ledger.add_task(task.key, result)
            yield task, result

    def _task(self, page_id: str, cells: list[str]) -> tasks.Shoot:
        page, wishes = self.pages[page_id], []
        for cell in cells:
            if cell != NO_DIFF:
                operator, tier = cell.split("/")
                ways = sorted(self.ways[cell], key=lambda way: (self.used_ways[operator, way], _dice(page_id + way)))
                self.used_ways[operator, ways[0]] += 1
                wishes.append(((operator, tier), ways[0]))
        names = {wish[0][0] for wish in wishes}
        used = {name: sorted(self.used.get(page_id, {}).get(name, ())) for name in names}
        stale = {name: sorted(self.named.get((page.source, name), ())) for name in names}
        first = self.ledger.surveyed[page_id]["first"]
        return tasks.Shoot(self.settings, page, tuple(wishes), NO_DIFF in cells, used, stale, first)

    def _book(self, task: tasks.Shoot, result: dict[str, Any]) -> None:
        page = task.page
        supply = self.supply[page.page_id]
        seat = Seat(page.page_id, page.source, page.domain, page.own, supply)
        wished = Counter(f"{o}/{t}" for (o, t), _ in task.cells) + Counter({NO_DIFF: int(task.no_diff)})
        for (operator, _), way in task.cells:
            self.used_ways[operator, way] -= 1
        got: Counter[str] = Counter()
        for row in result["rows"]:
            cell = report.cell_of(row)
            got[cell] += 1
            self.need[cell] -= 1
            self.placed.add(seat, cell)
            if cell != NO_DIFF:
                self.used_ways[row["operator"], report.meta_of(row)["direction"]] += 1
                self.used.setdefault(page.page_id, {}).setdefault(row["operator"], set()).add(row["selector"])
                self.named.setdefault((page.source, row["operator"]), set()).add(report.element_of(row))
        for cell, count in wished.items():
            supply[cell] = max(0, supply[cell] - got[cell]) if got[cell] == count else 0
        if result["dropped"]:
            del self.supply[page.page_id]


def in_turns(pages: Sequence[CorpusPage], seed: int) -> list[CorpusPage]:
    """The pages shuffled by the seed, but so that domains, and within them sources, take turns."""

    def turns(items: list[CorpusPage], *keys: str) -> list[CorpusPage]:
        if not keys:
            return sorted(items, key=lambda page: _dice(f"{seed}/{page.page_id}"))
        groups: dict[str, list[CorpusPage]] = {}
        for page in items:
            groups.setdefault(getattr(page, keys[0]), []).append(page)
        lines = [turns(group, *keys[1:]) for _, group in sorted(groups.items(), key=lambda g: _dice(f"{seed}/{g[0]}"))]
        return [line[n] for n in range(max(map(len, lines), default=0)) for line in lines if n < len(line)]

    return turns(list(pages), "domain", "source")


def _dice(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
