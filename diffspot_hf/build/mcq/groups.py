"""Groups of five: four edits and one pair without a cue, the same four options and E, each letter right exactly once.

So the letters are balanced in every group and over every set of groups, and a constant answer scores 20 %.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...rows import iter_jsonl
from ...running.store import write_atomically, write_json, write_lines
from .items import check_choice
from .patches import RGB, cut
from .regions import Box
from .tasks import LETTERS, NONE, NOTHING, QUESTION, Task

REPORT, FALLBACK, SIGNED = "build.json", "review/fallback.jsonl", "review/signed.jsonl"


@dataclass(frozen=True)
class Variant:
    """One member of a group. `edited` is the picture `side` (1 or 2) after the edit, `changed` the box of its changed
    pixels; both None where nothing is edited. `cue_1` and `cue_2` say where to look (xywh_px)."""

    statement: str
    instruction: str | None
    side: int
    edited: RGB | None
    changed: Box | None
    fraction: float
    cue_1: Box
    cue_2: Box
    claim: Mapping[str, Any] = field(default_factory=dict)
    truth: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Two base pictures (encoded, with a file name each), four variants and the one without a cue (`none`)."""

    task: Task
    base_1: tuple[str, bytes]
    base_2: tuple[str, bytes]
    variants: Sequence[Variant]
    none: Variant


class NothingBuilt(UsageError):
    """You meet it when no group could be made; `refused` says why, and so does ``build.json``."""

    def __init__(self, message: str, refused: Sequence[str]) -> None:
        super().__init__(message)
        self.refused = list(refused)


class SetWriter:
    """Writes groups into a new data folder: ``test.jsonl``, `pictures`, and ``review/queue.jsonl`` for people."""

    def __init__(self, out: Path, seed: int = 0, pictures: str = "pictures") -> None:
        if out.exists() and not _free(out):
            raise UsageError(f"{out}: exists and is not an empty folder; choose another --out")
        self.out, self.seed, self.pictures = out, seed, pictures
        self.rows: list[dict[str, Any]] = []
        self._groups: dict[tuple[str, str], int] = {}

    def add(self, group: Group) -> list[dict[str, Any]]:
        """Appends the five rows of `group` and returns them. Raises `UsageError` when its options exclude nothing."""
        task = group.task
        number = self._groups[task.key] = self._groups.get(task.key, 0) + 1
        name = f"{task.track}-{task.name}-{number:03d}"
        draw = random.Random(f"{self.seed}:{name}")
        variants = list(group.variants)
        if len(variants) != len(LETTERS) - 1:
            raise UsageError(f"{name}: a group has four edits, found {len(variants)}")
        draw.shuffle(variants)
        variants.append(group.none)
        options = [variant.statement for variant in variants[:-1]] + [NOTHING[task.key]]
        check_choice(options, NONE)
        bases = [self._base(*group.base_1), self._base(*group.base_2)]
        places = list(range(len(variants)))
        draw.shuffle(places)  # so that the number in an id says nothing about the letter
        rows = []
        for place, index in enumerate(places, start=1):
            variant = variants[index]
            patches = self._patches(variant)
            rows.append(
                {
                    "id": f"{name}-{place}",
                    "track": task.track,
                    "task": task.name,
                    "image_1": bases[0],
                    "image_2": bases[1],
                    **({f"patches_{variant.side}": patches} if patches else {}),
                    "question": QUESTION[task.key],
                    "options": options,
                    "answer": LETTERS[index],
                    "group_id": name,
                    "bbox_1": variant.cue_1.as_dict(),
                    "bbox_2": variant.cue_2.as_dict(),
                    "edit_area_fraction": variant.fraction,
                    "instruction": variant.instruction,
                    "claims": [dict(v.claim) for v in variants],
                    **({"truth": dict(variant.truth)} if variant.truth else {}),
                }
            )
        self.rows += rows
        return rows

    def finish(self, report: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Writes the rows, the queue for people and ``build.json``; returns the report with counts.

        The ``fallback`` of the report, if it has one, is written for people as well. Where no group was made, report
        and fallback are all that is written, and `NothingBuilt` is raised.
        """
        if "fallback" in report:
            write_lines(self.out / FALLBACK, report["fallback"])
        if not self.rows:
            write_json(self.out / REPORT, {**report, "items": 0, "groups": 0})
            refused = report.get("refused", [])
            raise NothingBuilt(
                f"no group of five could be made; the {len(refused)} refusals are in {self.out / REPORT}", refused
            )
        write_lines(self.out / "test.jsonl", self.rows)
        write_lines(self.out / "review" / "queue.jsonl", [queue_line(row) for row in self.rows])
        for name, content in (extra or {}).items():
            write_json(self.out / name, content)
        letters = {letter: sum(row["answer"] == letter for row in self.rows) for letter in LETTERS}
        made = {**report, "items": len(self.rows), "groups": len(self.rows) // len(LETTERS), "letters": letters}
        write_json(self.out / REPORT, made)
        return made

    def _base(self, name: str, data: bytes) -> str:
        path = self.out / self.pictures / name
        if path.exists() and path.read_bytes() != data:
            raise UsageError(f"two different base pictures are called {name}")
        if not path.exists():
            write_atomically(path, data)
        return f"{self.pictures}/{name}"

    def _patches(self, variant: Variant) -> list[dict[str, Any]]:
        if variant.edited is None or variant.changed is None:
            return []
        data = cut(variant.edited, variant.changed)
        name = f"{self.pictures}/patches/{hashlib.sha256(data).hexdigest()[:16]}.webp"
        write_atomically(self.out / name, data)
        return [{"file": name, "x": variant.changed.x, "y": variant.changed.y}]


def _free(out: Path) -> bool:
    """Whether `out` is an empty folder, or holds nothing but what a build that made no group left there."""
    if not out.is_dir():
        return False
    files = {str(path.relative_to(out)) for path in out.rglob("*") if not path.is_dir()}
    if not files:
        return not any(out.iterdir())
    if REPORT not in files or not files <= {REPORT, FALLBACK}:
        return False
    try:
        report = json.loads((out / REPORT).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(report, dict) and report.get("groups") == 0


def queue_line(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a person who checks the item is asked; every question is open until answered."""
    questions = ["text_fidelity", "naturalness", "exclusivity", "scale"]
    if row["track"] == "commonality":
        questions.append("deducibility")
    return {"id": row["id"], "group_id": row["group_id"], "checks": dict.fromkeys(questions), "verdict": None}


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a built folder as they stand in its manifest."""
    return [row for _, row in iter_jsonl(folder / "test.jsonl")]
