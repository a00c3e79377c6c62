"""Reading manifests and the pictures they name, without ever leaving the folder that the user pointed at.

A manifest is a JSONL file (UTF-8, one object a line) whose picture paths are relative to its own folder.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .errors import UsageError

Refuse = Callable[[UsageError], None]
"""What is done with a row that cannot be used: `stop`, or note it and go on."""


def stop(error: UsageError) -> None:
    """Raises `error`: the first bad row ends the reading."""
    raise error


def iter_jsonl(path: Path, refuse: Refuse = stop) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each object of a JSONL file with its line number (from 1).

    A byte-order mark, CRLF line ends and empty lines are harmless. A line that is no JSON object is given to `refuse`
    as a `UsageError` naming file and line. ``.gz`` files are unpacked on the fly.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            for number, raw in enumerate(file, start=1):
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                if not raw.strip():
                    continue
                try:
                    row = json.loads(raw)
                except (ValueError, RecursionError) as error:
                    refuse(UsageError(f"{path}, line {number}: not valid JSON ({error})"))
                    continue
                if isinstance(row, dict):
                    yield number, row
                else:
                    kind = type(row).__name__
                    refuse(UsageError(f"{path}, line {number}: expected a JSON object, found {kind}"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error


def inside(root: Path, relative: str) -> Path:
    """The existing file `relative` below `root`; raises `UsageError` for everything that would leave the folder.

    Absolute paths, URLs, ``..``, NUL bytes and symbolic links that point outside `root` are refused before anything
    is opened.
    """
    if not isinstance(relative, str) or not relative:
        raise UsageError(f"{relative!r}: a path relative to the manifest is expected")
    if "\x00" in relative or "://" in relative or relative.startswith(("file:", "data:", "\\")):
        raise UsageError(f"{relative!r}: only plain relative paths are read, no URLs")
    candidate = Path(relative)
    if candidate.is_absolute():
        raise UsageError(f"{relative!r}: absolute paths are refused, give one relative to the manifest")
    base = root.resolve()
    try:
        resolved = (base / candidate).resolve()
        if not resolved.is_relative_to(base):
            raise UsageError(f"{relative!r}: leaves the data folder {root}")
        if not resolved.is_file():
            raise UsageError(f"{relative!r}: no such file below {root}")
    except (OSError, RuntimeError, UnicodeError) as error:  # a loop of links, a name that no file can have
        raise UsageError(f"{relative!r}: {error}") from error
    return resolved


def read_picture(root: Path, relative: str) -> dict[str, Any]:
    """``{"path", "bytes"}`` of one picture below `root`, as the `datasets` Image feature stores it."""
    path = inside(root, relative)
    return {"path": path.name, "bytes": path.read_bytes()}
