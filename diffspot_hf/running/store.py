"""Append-only JSONL: what was answered stays answered, whatever happens to the process.

Every writer of a run has a file of its own: ``predictions.jsonl`` for the first process, for the others for example
``predictions.rank-00003.jsonl``. The files are merged by id; which of two records of a row counts is decided here only.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ..errors import UsageError
from ..types import STATES

Record = dict[str, Any]
FSYNC_SECONDS = 1.0
"""How much work a power cut may cost (chosen). A killed process loses nothing that was appended."""


class Store:
    """An append-only JSONL file with one writer, who holds a lock on it. Use it as a context manager.

    A file that nobody may write (a disk that is read-only) can be opened all the same, as long as nothing is appended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.appended = 0
        self._unwritable: OSError | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _locked(path)
        except OSError as error:
            self._unwritable = error
            if not path.is_file():
                self.require_writable()
            self._file = path.open("rb")
        self._synced = time.monotonic()

    @property
    def is_writable(self) -> bool:
        return self._unwritable is None

    def require_writable(self) -> None:
        """Raises `UsageError` if nothing can be appended."""
        if (error := self._unwritable) is not None:
            raise UsageError(f"{self.path}: cannot be written ({error.strerror or error})") from error

    def append(self, record: Mapping[str, Any]) -> None:
        """Adds one line; it is with the operating system when this returns, and on the disk within a second."""
        self.require_writable()
        try:
            if not self.appended:
                repair_tail(self.path)
            self._file.write(json_line(record))
            self._file.flush()
            self.appended += 1
            if time.monotonic() - self._synced >= FSYNC_SECONDS:
                self.sync()
        except OSError as error:
            raise UsageError(
                f"{self.path}: cannot be written ({error.strerror or error}); what was written is kept"
            ) from error

    def replace(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Puts `records` in the place of all lines at once; in between nobody else can take the file."""
        self.require_writable()
        with _taking_the_place_of(self.path, b"".join(map(json_line, records))) as part:
            new = _locked(part)  # locked before it has the name that others look for
        self._file.close()
        self._file = new

    def sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Also lets go of the lock."""
        with contextlib.suppress(OSError):
            self.sync()
        self._file.close()


def _locked(path: Path) -> IO[bytes]:
    """`path` opened for appending and locked; raises `UsageError` where another process holds it."""
    while True:
        file = path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return file
        except BlockingIOError as error:
            file.close()
            raise UsageError(
                f"{path}: another process is writing this run; wait for it or choose another --out"
            ) from error
        file.close()  # it was replaced or removed between opening and locking


def is_torn(path: Path) -> bool:
    """Whether the last line of the file is not whole."""
    return path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0


def repair_tail(path: Path) -> int:
    """Cuts a torn last line (a write that was killed half-way) off the file; returns the number of bytes dropped."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    with path.open("rb") as file:
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
        os.truncate(path, end)
    return size - end


def read_lines(path: Path, lacks: Callable[[Record], str | None] = lambda record: None) -> list[Record]:
    """All complete records of a JSONL file; a torn last line is left out, any other broken line is a `UsageError`.

    `lacks` names what a record would need to be one of its kind.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    records = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is torn or empty
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number}: not valid JSON ({error})") from error
            if lacking := lacks(record) if isinstance(record, dict) else "a JSON object":
                raise UsageError(f"{path}, line {number}: not a record of a run, which needs {lacking}")
            records.append(record)
    return records


def answer_lacks(record: Record) -> str | None:
    """What a record needs that a line of ``predictions.jsonl`` is made of; None where nothing is missing."""
    if not isinstance(record.get("id"), str):
        return "an id"
    if record.get("state") not in STATES:
        return f"a state ({', '.join(STATES)})"
    if "prediction" not in record:
        return "a prediction"
    attempts = record.get("attempts", [])
    return None if isinstance(attempts, list) and all(isinstance(a, dict) for a in attempts) else "a list of attempts"


def verdict_lacks(record: Record) -> str | None:
    """The same for a line of ``judged.jsonl``."""
    return next((f"{name} (text)" for name in ("id", "judge_state") if not isinstance(record.get(name), str)), None)


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


def json_line(record: Mapping[str, Any]) -> bytes:
    """One line of JSON in UTF-8. Half an emoji, which UTF-8 cannot hold, is written as JSON escapes it.

    >>> json_line({"reply": "\\ud83d"})
    b'{"reply": "\\\\ud83d"}\\n'
    """
    return _utf8(json.dumps(record, ensure_ascii=False)) + b"\n"


def _utf8(text: str) -> bytes:
    return text.encode(errors="backslashreplace")  # of lone surrogates Python's and JSON's escapes are the same


@contextlib.contextmanager
def _taking_the_place_of(path: Path, data: bytes) -> Iterator[Path]:
    """A file beside `path` that holds `data`, on the disk, and becomes `path` when the block is left."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield part
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise UsageError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces `path` as a whole: a reader, or a crash, sees the old file or the new one."""
    with _taking_the_place_of(path, data):
        pass


def write_json(path: Path, value: Any) -> None:
    """Writes `value`, unless that is what `path` holds already: it may lie on a disk that is read-only."""
    data = _utf8(json.dumps(value, indent=2, ensure_ascii=False)) + b"\n"
    if not path.is_file() or path.read_bytes() != data:
        write_atomically(path, data)


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    write_atomically(path, b"".join(map(json_line, records)))
