"""Answers that need no model: ``oracle``, ``always-none``, ``always-generic``, ``random``, ``always-A`` … ``always-E``.

They show what a score means: the oracle must reach 100 %, the others mark what can be had without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..types import Benchmark, Request, Response, Row

CONTROLS: tuple[str, ...] = ("oracle", "always-none", "always-generic", "random", *(f"always-{c}" for c in "ABCDE"))
ALIASES: dict[str, str] = {
    "always-no-issue": "always-none",
    "always-generic-issue": "always-generic",
    "oracle-notes": "oracle",
}


class Control:
    """The control `kind` for `benchmark`. `row_of` gives the row of an id; only the oracle looks at its truth."""

    def __init__(self, kind: str, benchmark: Benchmark, row_of: Callable[[str], Row], seed: int = 0) -> None:
        self.kind, self.benchmark, self.row_of, self.seed = kind, benchmark, row_of, seed

    def describe(self) -> Mapping[str, Any]:
        return {"id": self.kind, "backend": "control", "seed": self.seed}

    def generate(self, requests: Iterable[Request]) -> Iterator[Response]:
        for request in requests:
            yield Response(id=request.id, text=self.benchmark.scripted(self.kind, self.row_of(request.id), self.seed))
