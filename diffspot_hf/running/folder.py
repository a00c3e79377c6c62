"""A run on disk: names of its files, the union of what its writers left, and the merge."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .store import Record, Store, merged, read_lines, repair_tail, write_lines


class RunFolder:
    """``runs/<name>/`` with `run.json`, `predictions.jsonl`, `judged.jsonl`, `scores.json`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self.card_file = self.path / "run.json"
        self.predictions = self.path / "predictions.jsonl"
        self.judged = self.path / "judged.jsonl"
        self.scores = self.path / "scores.json"

    @classmethod
    def existing(cls, path: str | Path) -> RunFolder:
        """The folder of a run that was begun; raises `UsageError` if there is none."""
        folder = cls(path)
        if not folder.card_file.is_file():
            raise UsageError(f"{folder.path}: no run here (run.json is missing); make one with run or import")
        return folder

    def card(self) -> dict[str, Any]:
        try:
            card: dict[str, Any] = json.loads(self.card_file.read_bytes())
        except (OSError, ValueError) as error:
            raise UsageError(f"{self.card_file}: cannot be read ({error})") from error
        return card

    def discard_unanswered(self) -> None:
        """Removes the files of a run that holds no answer at all, and its folder; any other run is left as it is."""
        if self.records():
            return
        for file in (self.card_file, self.predictions, *self.rank_files()):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def rank_file(self, rank: int, world: int) -> Path:
        return self.predictions if world == 1 else self.path / f"predictions.rank-{rank:05d}.jsonl"

    def rank_files(self) -> list[Path]:
        return sorted(self.path.glob("predictions.rank-*.jsonl"))

    def records(self) -> dict[str, Record]:
        """The record that counts of each id, over all writers' files."""
        files = [self.predictions, *self.rank_files()]
        return merged(record for file in files for record in read_lines(file))

    def judgements(self) -> dict[str, Record]:
        return {record["id"]: record for record in read_lines(self.judged)}

    def merge(self, order: Sequence[str]) -> dict[str, Record]:
        """Makes one `predictions.jsonl` with one row an id, in the order of the data, and removes the ranks' files.

        Killed in between, the next call finds the same records again; nothing is lost or counted twice.
        """
        with Store(self.predictions):  # holds the lock: no other process may append meanwhile
            for file in self.rank_files():
                repair_tail(file)
            records = self.records()
            place = {identifier: index for index, identifier in enumerate(order)}
            rows = sorted(records.values(), key=lambda record: place.get(record["id"], len(place)))
            if self.rank_files() or rows != read_lines(self.predictions):
                write_lines(self.predictions, rows)
            for file in self.rank_files():
                file.unlink()
        return records


def merge_folders(target: RunFolder, others: Iterable[RunFolder], order: Sequence[str]) -> dict[str, Record]:
    """Copies the records of `others` (parts of the same run made elsewhere) into `target` and merges them."""
    from .run_card import differences

    card = target.card()
    for number, other in enumerate(others):
        if differing := differences(card, other.card()):
            raise UsageError(f"{other.path} is not a part of {target.path}: they differ in {', '.join(differing)}")
        write_lines(target.path / f"predictions.rank-9{number:04d}.jsonl", other.records().values())
    return target.merge(order)
