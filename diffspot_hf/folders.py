"""New folders of data, which are there in whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import UsageError


def can_be_made(out: Path) -> None:
    """Raises `UsageError` if `out` holds something or its parent cannot be written; before any work is done."""
    try:
        if os.path.lexists(out) and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(f"{out}: exists and is not an empty folder; choose another --out")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror or error})") from error
    must_take_files(out.parent, out)


def must_take_files(folder: Path, target: Path) -> None:
    """Raises `UsageError` naming `target` if nothing can be made in `folder`, or where that would be made."""
    try:
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        with tempfile.TemporaryDirectory(dir=folder, prefix=".diffspot-hf-"):
            pass
    except OSError as error:
        raise UsageError(f"{target}: cannot be written ({error.strerror or error})") from error


@contextlib.contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder beside `out` that takes its place in the end; after a failure nothing is left of it."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as work:
            folder = Path(work, "set")
            folder.mkdir()
            yield folder
            if out.exists():
                out.rmdir()
            folder.rename(out)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror or error})") from error
