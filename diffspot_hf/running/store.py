"""Append-only JSONL: what was answered stays answered, whatever happens to the process.

Every writer of a run has a file of its own: ``predictions.jsonl`` for a single process, else for example
``predictions.rank-00003.jsonl``. The files are merged by id; which of two records of a row counts is decided here only.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import UsageError

Record = dict[str, Any]
FSYNC_SECONDS = 1.0
"""How much work a power cut may cost (chosen). A killed process loses nothing that was appended."""


class Store:
    """An append-only JSONL file with one writer. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written ({error.strerror or error})") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise UsageError(
                f"{path}: another process is writing this run; wait for it or choose another --out"
            ) from error
        repair_tail(path)
        self._synced = time.monotonic()

    def append(self, record: Mapping[str, Any]) -> None:
        """Adds one line; it is with the operating system when this returns, and on the disk within a second."""
        try:
            self._file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            if time.monotonic() - self._synced >= FSYNC_SECONDS:
                self.sync()
        except OSError as error:
            raise UsageError(
                f"{self.path}: cannot be written ({error.strerror or error}); what was written is kept"
            ) from error

    def sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self.sync()
        self._file.close()


def repair_tail(path: Path) -> int:
    """Cuts a torn last line (a write that was killed half-way) off the file; returns the number of bytes dropped."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        end, block = size, 1 << 16
        while end > 0:
            start = max(0, end - block)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end != size:
            file.truncate(end)
        return size - end


def read_lines(path: Path) -> list[Record]:
    """All complete records of a JSONL file; a torn last line is left out, any other broken line is a `UsageError`."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is torn or empty
        if line.strip():
            try:
                records.append(json.loads(line))
            except ValueError as error:
                raise UsageError(f"{path}, line {number}: not valid JSON ({error})") from error
    return records


def is_valid(record: Mapping[str, Any]) -> bool:
    """Whether a record holds an answer that can be scored. The one rule for writing, reading, merging and retrying."""
    return bool(record["state"] == "ok")


def is_final(record: Mapping[str, Any]) -> bool:
    """Whether a row with this record need not be asked again by the same command: everything but ``error``."""
    return bool(record["state"] != "error")


def _standing(record: Mapping[str, Any]) -> int:
    return is_valid(record) + is_final(record)


def better(old: Record | None, new: Record) -> Record:
    """The record that counts of two for one row: a failed one gives way only to a better one.

    All attempts of both are kept, in the order of time.
    """
    if old is None:
        return new
    winner = new if _standing(new) > _standing(old) else old
    attempts = list(old.get("attempts", ()))
    attempts += [attempt for attempt in new.get("attempts", ()) if attempt not in attempts]
    return winner | {"attempts": attempts}


def merged(records: Iterable[Record]) -> dict[str, Record]:
    """The records by id, one each, as `better` decides."""
    found: dict[str, Record] = {}
    for record in records:
        found[record["id"]] = better(found.get(record["id"]), record)
    return found


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces `path` as a whole: a reader, or a crash, sees the old file or the new one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise UsageError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    write_atomically(path, b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records))
