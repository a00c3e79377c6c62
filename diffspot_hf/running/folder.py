"""A run on disk: names of its files, the union of what its writers left, and the merge."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from .run_card import card_lacks, joined
from .store import Record, Store, answer_lacks, is_torn, merged, read_lines, verdict_lacks, write_json


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
            card: Any = json.loads(self.card_file.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{self.card_file}: cannot be read ({error})") from error
        if lacking := card_lacks(card):
            raise UsageError(f"{self.card_file}: not the card of a run, which needs {lacking}")
        return dict(card)

    def is_vacant(self) -> bool:
        """Whether a run can begin here: nothing is in the folder but what one that was killed at once may leave."""
        return not self.path.is_dir() or all(
            file.name.endswith(".part") or (file == self.predictions and not file.stat().st_size)
            for file in self.path.iterdir()
        )

    def discard_unanswered(self) -> None:
        """Removes the files of a run that holds no answer at all, and its folder; any other run is left as it is."""
        if self.records():
            return
        for file in (self.card_file, self.predictions, *self.rank_files()):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def file_of(self, rank: int) -> Path:
        """Where the process of this rank stores its answers."""
        return self.predictions if rank == 0 else self.path / f"predictions.rank-{rank:05d}.jsonl"

    def rank_files(self) -> list[Path]:
        return sorted(self.path.glob("predictions.rank-*.jsonl"))

    def records(self) -> dict[str, Record]:
        """The record that counts of each id, over all writers' files."""
        ranks = [read_lines(file, answer_lacks) for file in self.rank_files()]
        main = read_lines(self.predictions, answer_lacks)  # read last: a merge goes on by filling it first
        return merged(record for records in (main, *ranks) for record in records)

    def judgements(self) -> dict[str, Record]:
        return {record["id"]: record for record in read_lines(self.judged, verdict_lacks)}

    def taken(self, order: Sequence[str], parts: Iterable[RunFolder] = ()) -> Store:
        """The store of `predictions.jsonl`, locked, with all answers in it (see `merge_into`).

        Another process that writes here is a `UsageError`; then nothing was touched. What cannot be written to is left
        as it is.
        """
        with self._locked_ranks():  # before `predictions.jsonl`, as locking makes the file
            store = Store(self.predictions)
        try:
            if store.is_writable:
                self.merge_into(store, order, parts)
        except BaseException:
            store.close()
            raise
        return store

    def merge(self, order: Sequence[str], parts: Iterable[RunFolder] = ()) -> dict[str, Record]:
        """`merge_into` by a process that holds nothing yet; returns the records."""
        with self.taken(order, parts) as store:
            store.require_writable()
            return self.records()

    def merge_into(self, store: Store, order: Sequence[str], parts: Iterable[RunFolder] = ()) -> None:
        """Makes `predictions.jsonl` one row an id, in the order of the data, and removes the ranks' files.

        `parts` are other folders of the same run whose records are joined to those here. Killed in between, the next
        call finds the same records again; nothing is lost or counted twice.
        """
        with self._locked_ranks() as files:
            found = merged(r for folder in (self, *parts) for r in folder.records().values())
            place = {identifier: index for index, identifier in enumerate(order)}
            rows = sorted(found.values(), key=lambda record: place.get(record["id"], len(place)))
            if is_torn(self.predictions) or rows != read_lines(self.predictions):
                store.replace(rows)
            for file in files:
                file.unlink()

    @contextlib.contextmanager
    def _locked_ranks(self) -> Iterator[list[Path]]:
        """The ranks' files, none of which another process is writing."""
        with contextlib.ExitStack() as locks:
            files = self.rank_files()
            for file in files:
                locks.enter_context(Store(file))
            yield files


def merge_folders(target: RunFolder, others: Sequence[RunFolder], order: Sequence[str]) -> dict[str, Record]:
    """Joins the records of `others` (parts of the same run made elsewhere) to those of `target` and merges them."""
    card = target.card()
    for other in others:
        card = joined(card, other.card(), f"{other.path} is not a part of {target.path}")
    records = target.merge(order, others)
    write_json(target.card_file, card)
    return records
