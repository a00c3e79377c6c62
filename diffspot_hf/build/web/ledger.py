"""The output folder of a build: append-only rows, a diary to resume by, and the files that say it is done."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import IO, Any

from ...errors import UsageError
from .takes import canonical

FORMAT = 1


class Ledger:
    """`out` and what was written into it so far. A context manager: one build at a time per folder.

    `surveyed` maps page ids to survey results; `finished` lists the tasks done, in order, each with its rows. Both are
    what an interrupted build of the same `parameters` left. Raises `UsageError` when the folder is another build's.
    """

    def __init__(self, out: Path, parameters: dict[str, Any]) -> None:
        self.out = out
        self.parameters = parameters
        self.surveyed: dict[str, dict[str, Any]] = {}
        self.finished: list[dict[str, Any]] = []
        self.rows: list[dict[str, Any]] = []
        self._lock: IO[str] | None = None

    def __enter__(self) -> Ledger:
        try:
            (self.out / ".work").mkdir(parents=True, exist_ok=True)
            (self.out / "images").mkdir(exist_ok=True)
            self._lock = (self.out / ".work" / "lock").open("w")
        except OSError as error:
            raise UsageError(f"{self.out}: cannot be written ({error.strerror}); choose another folder") from error
        self._claim()
        try:
            self._resume()
        except BaseException:
            self._lock.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()
        if self.is_complete:
            shutil.rmtree(self.out / ".work", ignore_errors=True)

    def _claim(self) -> None:
        with contextlib.suppress(ImportError):
            import fcntl

            assert self._lock is not None
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._lock.close()
                raise UsageError(f"{self.out}: another build is writing here; wait for it or choose another") from error

    @property
    def state(self) -> dict[str, Any] | None:
        """What ``build.json`` holds, or None."""
        try:
            found: dict[str, Any] = json.loads((self.out / "build.json").read_text("utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise UsageError(f"{self.out / 'build.json'}: broken ({error}); choose another folder") from error
        return found

    @property
    def is_complete(self) -> bool:
        state = self.state
        return bool(state and state.get("complete"))

    def _resume(self) -> None:
        state = self.state
        if state is None:
            if (self.out / "test.jsonl").exists():
                raise UsageError(f"{self.out}: holds a test.jsonl that no build wrote; choose another folder")
            self.mark(complete=False)
            state = self.state or {}
        if state.get("parameters") != self.parameters:
            names = sorted(
                name
                for name in {*self.parameters, *state.get("parameters", {})}
                if state.get("parameters", {}).get(name) != self.parameters.get(name)
            )
            raise UsageError(f"{self.out}: was built with another {', '.join(names)}; choose another folder")
        for found in self._repaired("survey.jsonl"):
            self.surveyed[found["page_id"]] = found
        tasks = self._repaired("tasks.jsonl")
        if not state.get("complete"):
            self._cut(self.out / "test.jsonl", tasks[-1]["end"] if tasks else 0)
        self.rows = read_rows(self.out)
        at = 0
        for task in tasks:
            count = task.pop("count")
            self.finished.append(task | {"rows": self.rows[at : at + count]})
            at += count

    def _repaired(self, name: str) -> list[dict[str, Any]]:
        """The whole lines of a diary; a torn last line is cut off."""
        path = self.out / ".work" / name
        if not path.exists():
            return []
        lines, good = [], 0
        for line in path.read_bytes().splitlines(keepends=True):
            try:
                found = json.loads(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            lines.append(found)
            good += len(line)
        self._cut(path, good)
        return lines

    @staticmethod
    def _cut(path: Path, size: int) -> None:
        if path.exists() and path.stat().st_size > size:
            os.truncate(path, size)

    def add_survey(self, found: dict[str, Any]) -> None:
        self.surveyed[found["page_id"]] = found
        self._append(self.out / ".work" / "survey.jsonl", [found])

    def add_task(self, key: list[Any], result: dict[str, Any]) -> None:
        """Nothing: the rows are in ``test.jsonl``, and only then the task is in the diary."""
        rows = result["rows"]
        end = self._append(self.out / "test.jsonl", rows)
        rest = {name: value for name, value in result.items() if name != "rows"}
        self._append(self.out / ".work" / "tasks.jsonl", [{"key": key, "count": len(rows), "end": end, **rest}])
        self.rows += rows
        self.finished.append({"key": key, **result})

    def _append(self, path: Path, records: list[dict[str, Any]]) -> int:
        """Size of the file after `records` were added; on failure it is what it was."""
        size = path.stat().st_size if path.exists() else 0
        data = "".join(f"{canonical(record)}\n" for record in records).encode()
        try:
            with path.open("ab") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._cut(path, size)
            raise UsageError(
                f"{path}: cannot be written ({error.strerror}); make room and run the same again"
            ) from error
        return size + len(data)

    def tidy(self) -> None:
        """Nothing: ``images/`` holds what the rows name and no more; an interrupted build may have left others."""
        named = {row[side] for row in self.rows for side in ("image_before", "image_after")}
        for path in (self.out / "images").iterdir():
            if f"images/{path.name}" not in named:
                path.unlink(missing_ok=True)

    def mark(self, *, complete: bool, **more: Any) -> None:
        """Nothing: ``build.json`` says what this build is and whether it is finished."""
        from .rows import write_whole

        state = {"format": FORMAT, "complete": complete, "parameters": self.parameters, **more}
        write_whole(self.out / "build.json", (json.dumps(state, indent=2, ensure_ascii=False) + "\n").encode())


def read_rows(out: Path) -> list[dict[str, Any]]:
    """The rows of a build folder. Raises `UsageError` when a line is no row."""
    path, found = out / "test.jsonl", []
    if not path.exists():
        return []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: not a row ({error})") from error
    return found
