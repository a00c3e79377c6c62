"""What a worker does with one page: survey it, take pairs from it, or render it twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...images import pixel_digest
from ..browser import Browser, PageError
from . import gate, rows
from .corpus import CorpusPage
from .stage import capture_twice, on_stage
from .takes import Cell, Director, Tally, supply

SURVEY_SECONDS = 60.0
SECONDS_A_PAIR = 5.0
"""Time limits for one page, on top of each other (our choice; a page takes about a second, a pair a tenth)."""


@dataclass(frozen=True)
class Settings:
    """What all tasks of a build share."""

    out: Path
    seed: int
    gate: str
    operators: tuple[str, ...]
    viewport: tuple[int, int]
    scale: float

    @property
    def common(self) -> dict[str, Any]:
        """What the `meta` of every row says of the build."""
        return {
            "viewport": list(self.viewport),
            "scale": self.scale,
            "gate": self.gate,
            "seed": self.seed,
            "prepared": [],
        }


@dataclass(frozen=True)
class Survey:
    """Find out what `page` could give: for each cell up to `enough` elements."""

    settings: Settings
    page: CorpusPage
    enough: int


@dataclass(frozen=True)
class Shoot:
    """Take pairs of `cells` (each with a wished direction) from `page`, or render it twice with ``no_diff``.

    By operator, `used` are selectors that earlier pairs of the page took, and `stale` elements by name that pairs of
    its source took; they come last, for pages of one source share their navigation. `first` is the digest of the
    page's picture in the survey.
    """

    settings: Settings
    page: CorpusPage
    cells: tuple[tuple[Cell, str], ...]
    no_diff: bool
    used: dict[str, Sequence[str]] = field(default_factory=dict)
    stale: dict[str, Sequence[str]] = field(default_factory=dict)
    first: str = ""

    @property
    def key(self) -> list[Any]:
        """What makes this task the same as another, for resuming."""
        return [self.page.page_id, [[*cell, way] for cell, way in self.cells], self.no_diff]


def survey(browser: Browser, task: Survey) -> dict[str, Any]:
    """What the survey keeps of one page: ``{page_id, dropped, detail, refused, first, supply, swaps, unfit, tally}``.

    `refused` counts what the page asked for and did not get: requests to the network, files outside its folder, …
    """
    settings = task.settings
    found: dict[str, Any] = {"page_id": task.page.page_id, "dropped": "", "detail": ""}
    before = Counter(browser.blocked)
    try:
        with on_stage(browser, task.page, seconds=SURVEY_SECONDS, gate_name=settings.gate) as stage:
            director = Director(stage, settings.seed)
            found["first"] = digest(stage.first)
            found["supply"], found["swaps"] = supply(director, settings.operators, task.enough)
            found["unfit"] = director.unfit
            found["tally"] = director.tally.as_json()
    except PageError as error:
        found = {"page_id": task.page.page_id, "dropped": error.reason, "detail": error.detail[:300]}
    return found | {"refused": dict(sorted((browser.blocked - before).items()))}


def shoot(browser: Browser, task: Shoot) -> dict[str, Any]:
    """The rows that one page gave: ``{page_id, dropped, rows, tally}``; their pictures are stored."""
    settings, page = task.settings, task.page
    result: dict[str, Any] = {"page_id": page.page_id, "dropped": "", "detail": "", "rows": []}
    tally = Tally()
    try:
        if task.cells:
            seconds = SURVEY_SECONDS + SECONDS_A_PAIR * len(task.cells)
            with on_stage(browser, page, seconds=seconds, gate_name=settings.gate) as stage:
                if task.first and digest(stage.first) != task.first:
                    raise PageError("two loads differ")
                director = Director(stage, settings.seed)
                tally = director.tally
                takes = director.take(task.cells, {name: set(s) for name, s in task.used.items()}, task.stale)
            for take in takes:
                result["rows"].append(rows.has_diff_row(settings.out, page, take, settings.viewport, settings.common))
        if task.no_diff:
            first, second = capture_twice(browser, page, seconds=SURVEY_SECONDS)
            if first == second or digest(first) == digest(second):
                result["rows"].append(rows.no_diff_row(settings.out, page, first, second, settings.common))
            else:
                raise PageError("two loads differ")
    except PageError as error:
        result |= {"dropped": error.reason, "detail": error.detail[:300]}
    result["tally"] = tally.as_json()
    return result


def digest(png: bytes) -> str:
    """Digest of the pixels of a capture."""
    from PIL import Image

    return pixel_digest(Image.fromarray(gate.decode(png)))
