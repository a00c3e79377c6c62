"""Pairs of one page: candidates found on its layout, captured, gated, and kept once the page proved to be undone."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from . import gate, naming
from .change import Change, Facts
from .scales import OPERATORS, Tier
from .stage import Stage
from .variants import changes, observed

Cell = tuple[str, Tier]
"""An operator and a tier: one of the 39 kinds of pairs."""

CHECK_EVERY = 12
"""Changes between two looks at whether the page is still what it was."""
TRIES = 6
"""Captures that one page may spend on one pair before the pair is looked for elsewhere."""
MOST_ELEMENTS = 60
"""Elements of a page that are tried on the layout for one cell."""
AT_ONCE = 6
"""Elements that are tried on the layout in one go."""


@dataclass(frozen=True)
class Candidate:
    """A change that the layout does not speak against; `effect` is what the dry run saw of it."""

    facts: Facts
    change: Change
    effect: dict[str, Any]


@dataclass(frozen=True)
class Take:
    """A kept pair: the page before and after, as captured PNG bytes, and the boxes (``xywh_px``, device pixels)."""

    facts: Facts
    change: Change
    effect: dict[str, Any]
    before: bytes
    after: bytes
    box: gate.Box
    own_box: gate.Box
    difference: gate.Difference


@dataclass
class Tally:
    """Counts by operator: what was tried and kept, and why the rest was not."""

    tried: Counter[str] = field(default_factory=Counter)
    captured: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        for name in ("tried", "captured", "kept", "rejected"):
            getattr(self, name).update(getattr(other, name))

    def as_json(self) -> dict[str, Any]:
        rejected: dict[str, dict[str, int]] = {}
        for (operator, reason), count in sorted(self.rejected.items()):
            rejected.setdefault(operator, {})[reason] = count
        return {
            "tried": dict(sorted(self.tried.items())),
            "captured": dict(sorted(self.captured.items())),
            "kept": dict(sorted(self.kept.items())),
            "rejected": rejected,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Tally:
        rejected = Counter({(o, r): n for o, reasons in data["rejected"].items() for r, n in reasons.items()})
        return cls(Counter(data["tried"]), Counter(data["captured"]), Counter(data["kept"]), rejected)


class Director:
    """Finds and takes pairs on one stage. Everything random comes from `seed`, the page and the cell."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.seed = seed
        self.tally = Tally()
        found = stage.scan()
        self.facts: list[Facts] = found["facts"]
        self.unfit: dict[str, int] = found["unfit"]
        if stage.capture() != stage.first:
            stage.clean()

    def candidates(
        self, cell: Cell, *, way: str = "", used: Iterable[str] = (), stale: Iterable[str] = ()
    ) -> Iterator[Candidate]:
        """Candidates in seeded order, each on another element, those of the direction `way` first.

        Elements whose selector is in `used` are left out, those whose name is in `stale` come last. The layout is
        asked as far as candidates are drawn.
        """
        queue = self._eligible(cell, set(used), set(stale))
        if way:
            found = list(queue)
            wanted = [(facts, [c for c in every if c.balance == way]) for facts, every in found]
            queue = iter(wanted + [(facts, [c for c in every if c.balance != way]) for facts, every in found])
        seen: set[str] = set()
        while batch := list(itertools.islice(queue, AT_ONCE)):
            fresh = [(facts, found) for facts, found in batch if found and facts["selector"] not in seen]
            for candidate in self._dry_run(cell[0], fresh):
                if candidate.facts["selector"] not in seen:
                    seen.add(candidate.facts["selector"])
                    yield candidate

    def _eligible(self, cell: Cell, left_out: Set[str], last: Set[str]) -> Iterator[tuple[Facts, list[Change]]]:
        operator, tier = cell
        order = [f for f in self.facts if f["selector"] not in left_out and naming.is_nameable(f["name"])]
        random.Random(f"{self.seed}/{self.stage.page.page_id}/{operator}/{tier}").shuffle(order)
        order.sort(key=lambda facts: naming.phrase(facts["name"]) in last)
        count = 0
        for facts in order:
            rng = random.Random(f"{self.seed}/{self.stage.page.page_id}/{operator}/{tier}/{facts['selector']}")
            if found := changes(facts, operator, tier, self.stage.facts, rng):
                yield facts, found
                count += 1
            if count == MOST_ELEMENTS:
                return

    def _dry_run(self, operator: str, batch: Sequence[tuple[Facts, list[Change]]]) -> Iterator[Candidate]:
        result = self.stage.dry_run(operator, [(facts["i"], found) for facts, found in batch], len(batch))
        self.tally.tried[operator] += result["tried"]
        for reason, count in result["reasons"].items():
            self.tally.rejected[operator, reason] += count
        for effect in result["passed"]:
            facts, found = batch[effect["job"]]
            change = observed(found[effect["change"]], effect["before"], effect["said"])
            if change is None:
                self.tally.rejected[operator, "step too small to see"] += 1
            else:
                yield Candidate(facts, change, effect)

    def take(
        self,
        cells: Sequence[tuple[Cell, str]],
        used: dict[str, set[str]],
        stale: Mapping[str, Sequence[str]] | None = None,
    ) -> list[Take]:
        """Pairs for `cells` (cell and wished direction), as many of them as the page gives.

        No element serves an operator twice; `used` holds the selectors by operator that earlier pairs took.
        """
        kept: list[Take] = []
        pending: list[tuple[Take, Cell]] = []
        done = 0
        for cell, way in cells:
            operator = cell[0]
            taken = used.setdefault(operator, set())
            found = self.candidates(cell, way=way, used=taken, stale=(stale or {}).get(operator, ()))
            for candidate in itertools.islice(found, TRIES):
                done += 1
                take = self.attempt(candidate)
                if take is None and not self.stage.is_clean():
                    # What an earlier change left behind lies outside of this one's box.
                    kept, pending = kept + self._settle(pending), []
                    take = self.attempt(candidate)
                if take is None:
                    continue
                taken.add(candidate.facts["selector"])
                pending.append((take, cell))
                break
            if done >= CHECK_EVERY:
                kept += self._settle(pending)
                pending, done = [], 0
        return kept + self._settle(pending)

    def _settle(self, pending: list[tuple[Take, Cell]]) -> list[Take]:
        """The pairs since the last good check. If the page is not what it was, each is tried again by itself."""
        if self.stage.is_clean():
            return [take for take, _ in pending]
        self.stage.clean()
        kept = []
        for take, cell in pending:
            again = self.attempt(Candidate(take.facts, take.change, take.effect))
            if self.stage.is_clean():
                kept += [again] if again else []
            else:
                self.tally.rejected[cell[0], "not undone"] += 1
                self.tally.kept[cell[0]] -= 1 if again else 0
                self.stage.clean()
        return kept

    def attempt(self, candidate: Candidate) -> Take | None:
        """The pair of one candidate if it passes the gate; the page is undone afterwards, which is not checked here."""
        operator, stage = candidate.change.operator, self.stage
        self.tally.captured[operator] += 1
        done = stage.apply(candidate.facts["selector"], operator, candidate.change.script())
        try:
            shot = stage.capture() if done["kept"] else b""
        finally:
            stage.undo()
        if not done["kept"]:
            return self._reject(operator, "selector lost")
        scale = stage.browser.scale
        box = gate.scaled(done["box"], scale)
        if shot == stage.first:
            return self._reject(operator, "no pixel changes")
        difference = gate.difference(stage.picture, gate.decode(shot), box)
        if difference.reason:
            return self._reject(operator, difference.reason)
        self.tally.kept[operator] += 1
        own = gate.scaled(done["own"], scale)
        return Take(candidate.facts, candidate.change, candidate.effect, stage.first, shot, box, own, difference)

    def _reject(self, operator: str, reason: str) -> None:
        self.tally.rejected[operator, reason] += 1


def supply(director: Director, operators: Sequence[str], enough: int) -> tuple[dict[str, dict[str, int]], list[str]]:
    """For every cell ("color/easy") how many elements of the page could serve it, by direction, up to `enough`.

    Second, the cells that could be served by a class swap.
    """
    found: dict[str, dict[str, int]] = {}
    swaps: list[str] = []
    for cell in cells_of(operators):
        name = "/".join(cell)
        candidates = list(itertools.islice(director.candidates(cell), enough))
        if candidates:
            found[name] = dict(sorted(Counter(one.change.balance for one in candidates).items()))
        if any(one.change.swap for one in candidates):
            swaps.append(name)
    return found, swaps


def cells_of(operators: Sequence[str]) -> Iterator[Cell]:
    """The cells of `operators` in the order of the table, tier by tier."""
    for name in OPERATORS:
        if name in operators:
            for tier in OPERATORS[name].sizes:
                yield name, tier


def canonical(data: Any) -> str:
    """`data` as one line of JSON with sorted keys, so that equal data is an equal line."""
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
