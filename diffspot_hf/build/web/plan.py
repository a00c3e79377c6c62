"""Which page gives which pair: cells filled evenly over pages, domains and sources, by flow where greed gets stuck.

Pure functions of their arguments: the same survey, needs and seed give the same plan.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

NO_DIFF = "no_diff"
"""The pairs without a change are planned like one more cell."""

SOURCE_SHARE = 0.30
OWN_SHARE = 1 / 3


Assignment = list[tuple[str, str]]
"""Page ids and cells, one entry a pair."""


@dataclass(frozen=True)
class Seat:
    """A page as the plan sees it; `supply` says how many pairs of each cell it may still give.

    `swaps` are the cells that it can give by class swap; such pairs are rarer, so they are taken first.
    """

    page_id: str
    source: str
    domain: str
    own: bool
    supply: Mapping[str, int]
    swaps: frozenset[str] = frozenset()


@dataclass
class Placed:
    """What is given away already: pairs by page, by (cell, source), by (cell, domain), and by domain."""

    by_page: Counter[str] = field(default_factory=Counter)
    by_source: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_domain: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, seat: Seat, cell: str, count: int = 1) -> None:
        self.by_page[seat.page_id] += count
        self.by_source[cell, seat.source] += count
        self.by_domain[cell, seat.domain] += count
        self.by_source["", seat.source] += count
        self.by_domain["", seat.domain] += count


def most_of_source(total: int, sources: int, own: bool, share: float = SOURCE_SHARE) -> int:
    """How many pairs of a cell of `total` one source may give.

    `share` of them, a third for a project's own pages; with too few sources for that, an even share; at least one.

    >>> most_of_source(100, 9, own=False), most_of_source(100, 9, own=True), most_of_source(1, 9, own=False)
    (30, 33, 1)
    >>> most_of_source(100, 2, own=False), most_of_source(9, 1, own=False)
    (50, 9)
    """
    share = max(OWN_SHARE if own else share, 1 / max(1, sources))
    exact = share * total
    return max(1, math.ceil(exact - 1e-9) if sources * share <= 1 else math.floor(exact + 1e-9))


@dataclass(frozen=True)
class Demand:
    """What is wanted: `total` is the size of each full cell, `need` what still lacks of it.

    No source gives more than `share` of a cell or of the whole; `sources` is how many the corpus has.
    """

    total: Mapping[str, int]
    need: Mapping[str, int]
    sources: int
    seed: int = 1
    share: float = SOURCE_SHARE

    def most(self, cell: str, own: bool) -> int:
        """How many pairs of `cell` ("" for all of them) one source may give."""
        size = self.total[cell] if cell else sum(self.total.values())
        return most_of_source(size, self.sources, own, self.share)


def plan(
    seats: Sequence[Seat], demand: Demand, placed: Placed, least_cap: int = 1
) -> tuple[list[tuple[str, str]], int]:
    """Pairs for what `demand` still lacks, and the number of pairs a page that this takes.

    `placed` is what earlier rounds gave. The cap is the smallest from `least_cap` up with which as much is filled as
    with any; what cannot be filled is left out.
    """
    best = _assign(seats, demand, placed, cap=10**9)
    cap = least_cap
    while best:
        found = _assign(seats, demand, placed, cap)
        if len(found) >= len(best):
            return found, cap
        cap += 1
    return [], least_cap


def _assign(seats: Sequence[Seat], demand: Demand, placed: Placed, cap: int) -> Assignment:
    seed, need = demand.seed, demand.need
    flow = _Flow(seats, demand, placed, cap)
    order = {seat.page_id: n for n, seat in enumerate(sorted(seats, key=lambda s: _dice(seed, s.page_id)))}
    scarcity = {cell: sum(seat.supply.get(cell, 0) > 0 for seat in seats) / n for cell, n in need.items() if n}
    open_cells = {cell: need[cell] for cell in sorted(scarcity, key=lambda c: (scarcity[c], c))}
    domains, totals, sources = Counter(placed.by_domain), Counter(placed.by_page), Counter(placed.by_source)
    # Rarest cell first, and within a cell the page that spreads best.
    for cell, missing in list(open_cells.items()):
        givers = [seat for seat in seats if seat.supply.get(cell, 0) > 0]
        while missing:
            free = [seat for seat in givers if flow.can(cell, seat)]
            if not free:
                break
            seat = min(
                free,
                key=lambda s: (
                    totals[s.page_id], flow.used[cell, s.page_id], domains[cell, s.domain],
                    sources[cell, s.source], cell not in s.swaps, domains["", s.domain], sources["", s.source],
                    order[s.page_id],
                ),
            )  # fmt: skip
            flow.give(cell, seat)
            totals[seat.page_id] += 1
            for key in (cell, ""):
                domains[key, seat.domain] += 1
                sources[key, seat.source] += 1
            missing -= 1
        open_cells[cell] = missing
    for cell, missing in open_cells.items():
        while missing and flow.augment(cell):
            missing -= 1
    return sorted((page, cell) for (cell, page), n in flow.used.items() for _ in range(n))


class _Flow:
    """cells → sources of a cell → pages, with a cap at each step; `used` counts pairs by (cell, page id)."""

    def __init__(self, seats: Sequence[Seat], demand: Demand, placed: Placed, cap: int) -> None:
        self.seats = {seat.page_id: seat for seat in seats}
        owners = {seat.source: seat.own for seat in seats}
        # Under the empty name: what a source may give over all cells.
        self.room = {
            (cell, source): demand.most(cell, own) - placed.by_source[cell, source]
            for cell in ("", *demand.total)
            for source, own in sorted(owners.items())
        }
        self.left = {seat.page_id: cap - placed.by_page[seat.page_id] for seat in seats}
        self.used: Counter[tuple[str, str]] = Counter()
        self.givers: dict[str, list[Seat]] = {}
        for seat in seats:
            for cell, n in seat.supply.items():
                if n > 0:
                    self.givers.setdefault(cell, []).append(seat)

    def can(self, cell: str, seat: Seat) -> bool:
        return (
            self.left[seat.page_id] > 0 and self.room[cell, seat.source] > 0 and self.room["", seat.source] > 0
            and self.used[cell, seat.page_id] < seat.supply.get(cell, 0)
        )  # fmt: skip

    def give(self, cell: str, seat: Seat, count: int = 1) -> None:
        self.used[cell, seat.page_id] += count
        self.left[seat.page_id] -= count
        self.room[cell, seat.source] -= count
        self.room["", seat.source] -= count

    def augment(self, cell: str) -> bool:
        """Whether one more pair of `cell` could be placed, moving others to other pages where needed."""
        start = ("cell", cell, "")
        came: dict[tuple[str, str, str], tuple[str, str, str]] = {start: start}
        queue = deque([start])
        while queue:
            at = queue.popleft()
            for to in self._from(at):
                if to in came:
                    continue
                came[to] = at
                if to[0] == "page" and self.left[to[1]] > 0 and self.room["", self.seats[to[1]].source] > 0:
                    self._walk(to, came)
                    return True
                queue.append(to)
        return False

    def _from(self, at: tuple[str, str, str]) -> Iterator[tuple[str, str, str]]:
        kind, name, source = at
        if kind == "cell":
            for group in sorted({seat.source for seat in self.givers.get(name, [])}):
                if self.room[name, group] > 0:
                    yield "group", name, group
        elif kind == "group":
            for seat in self.givers.get(name, []):
                if seat.source == source and self.used[name, seat.page_id] < seat.supply[name]:
                    yield "page", seat.page_id, ""
            yield "cell", name, ""  # a pair of this cell and source may move to another source
        else:
            seat = self.seats[name]
            for cell in seat.supply:
                if self.used[cell, name] > 0:
                    yield "group", cell, seat.source

    def _walk(self, end: tuple[str, str, str], came: Mapping[tuple[str, str, str], tuple[str, str, str]]) -> None:
        at = end
        # Only the last page of the walk gives one pair more than before; those passed through give another instead.
        self.left[at[1]] -= 1
        self.room["", self.seats[at[1]].source] -= 1
        while came[at] != at:
            before = came[at]
            if (before[0], at[0]) == ("group", "page"):
                self.used[before[1], at[1]] += 1
            elif (before[0], at[0]) == ("page", "group"):
                self.used[at[1], before[1]] -= 1
            elif (before[0], at[0]) == ("cell", "group"):
                self.room[at[1], at[2]] -= 1
            else:
                self.room[before[1], before[2]] += 1
            at = before


def _dice(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}/{text}".encode()).hexdigest()
