"""The loop of a build: survey pages, plan, take pairs, and again until every cell is full or nothing is left."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tqdm import tqdm

from ...errors import UsageError
from . import report, tasks
from .corpus import CorpusPage
from .crew import Crew
from .ledger import Ledger
from .plan import NO_DIFF, Demand, Placed, Seat, plan

WAVE = 48
"""Tasks between two looks at what directions and elements have been used (fixed, so that workers change nothing)."""
SPARE_PAGES = 16
MORE_PAGES = 48


class Job:
    """One build in progress: what is wanted, what is left to find, and what every page may still give.

    `wanted` is the size of each cell ("color/easy", "no_diff").
    """

    def __init__(
        self, crew: Crew, ledger: Ledger, settings: tasks.Settings, pages: list[CorpusPage],
        wanted: dict[str, int], source_share: float, progress: bool,
    ) -> None:  # fmt: skip
        self.crew = crew
        self.ledger = ledger
        self.settings = settings
        self.pages = {page.page_id: page for page in pages}
        self.queue = in_turns(pages, settings.seed)
        self.wanted = wanted
        self.source_share = source_share
        self.need = dict(wanted)
        self.enough = max(3, min(12, math.ceil(3 * max(wanted.values(), default=0) / len(pages))))
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
            chosen, cap_now = plan(self._seats(), self._demand(), self.placed, cap)
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

    def _demand(self) -> Demand:
        sources = len({page.source for page in self.pages.values()})
        return Demand(self.wanted, self.need, sources, self.settings.seed, self.source_share)

    def _seats(self) -> list[Seat]:
        return [
            Seat(page_id, page.source, page.domain, page.own, supply, frozenset(self.ledger.surveyed[page_id]["swaps"]))
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
