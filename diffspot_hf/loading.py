"""Rows for a run: from a name or a folder, with the pictures left encoded, and what can be said of their origin."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from .errors import UsageError
from .register import DATASETS

HELD_BYTES = 64 << 20
"""Pictures read from a mapped file before its pages are given back (our choice)."""


def load(name: str, config: str | None = None, *, streaming: bool = False, **options: Any) -> Any:
    """See `diffspot_hf.load_dataset`."""
    if name not in DATASETS:
        raise UsageError(f"unknown data set {name!r}; there are {', '.join(DATASETS)}")
    import datasets

    try:
        builder = datasets.load_dataset_builder(name, config, **options)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    if streaming:
        return builder.as_streaming_dataset(split="test")
    try:
        builder.download_and_prepare()
    except datasets.exceptions.DatasetGenerationError as error:
        if isinstance(error.__cause__, UsageError):
            raise error.__cause__ from None
        raise UsageError(f"{name}: the rows could not be read ({error.__cause__ or error})") from error
    except PermissionError as error:
        raise UsageError(f"{name}: the data set cache cannot be written ({error}); set HF_HOME") from error
    return builder.as_dataset(split="test")


def rows_for(name: str, data: str, *, strict: bool = False) -> Any:
    """The rows of `data` with undecoded pictures: a `datasets.Dataset`.

    `data` is ``sample``, ``official``, ``official@COMMIT`` (dicobench), or a folder. Rows that cannot be used are left
    out and named in the log, each time anew; with `strict` the first is an error.
    """
    import datasets

    from .dataset_scripts.common import logger

    datasets.disable_progress_bars()
    logger.disabled = os.environ.get("RANK", "0") != "0"  # one process of many says it
    config, _, commit = data.partition("@")
    try:
        if data in ("sample", "official"):
            rows = load(name, data)
        elif config == "official" and commit and name != "dicobench":
            raise UsageError(f"--data {data}: the official data of {name} is read at one commit only; use official")
        elif config == "official" and commit:
            rows = load(name, config, commit=commit)
        elif Path(data).expanduser().is_dir():
            rows = load(name, data_dir=data, strict=strict)
        else:
            raise UsageError(f"--data {data}: neither sample nor official nor an existing folder")
    finally:
        logger.disabled = False
    for column, feature in rows.features.items():
        if isinstance(feature, datasets.Image):
            rows = rows.cast_column(column, datasets.Image(decode=False))
    return rows


class MappedRows:
    """Rows of a memory-mapped data set, by number or in order; however many are read, few pages of the file stay held.

    Pages read from a mapping count as memory of this process until the mapping ends, so it is renewed now and then.
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self._held = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> dict[str, Any]:
        row: dict[str, Any] = self.rows[index]
        self._held += sum(len(row[column]["bytes"] or b"") for column in picture_columns(row))
        if self._held > HELD_BYTES:
            self.rows, self._held = pickle.loads(pickle.dumps(self.rows)), 0  # a mapped table is pickled as its path
        return row


def picture_columns(row: dict[str, Any]) -> list[str]:
    """Names of the columns that hold an undecoded picture."""
    return [column for column, value in row.items() if isinstance(value, dict) and set(value) == {"path", "bytes"}]


def row_digest(row: dict[str, Any]) -> str:
    """SHA-256 of the encoded pictures of a row: two rows with the same pictures are the same evidence."""
    digest = hashlib.sha256()
    for column in sorted(picture_columns(row)):
        digest.update(hashlib.sha256(row[column]["bytes"] or b"").digest())
    return digest.hexdigest()


def fingerprint(rows: Iterable[dict[str, Any]]) -> tuple[str, list[str]]:
    """Digest of a data set (ids, pictures, all other columns; order does not matter) and the digest of each row."""
    digests, lines = [], []
    for row in rows:
        digest = row_digest(row)
        digests.append(digest)
        pictures = picture_columns(row)
        plain = {column: value for column, value in row.items() if column not in pictures}
        lines.append(digest + json.dumps(plain, sort_keys=True, ensure_ascii=False, default=str))
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest(), digests


@cache
def sample_digests(name: str) -> frozenset[str]:
    """Digest of each row of the sample that ships with the package; empty if there is none."""
    from .dataset_scripts.common import sample_folder

    if not (sample_folder(name) / "test.jsonl").is_file():
        return frozenset()
    return frozenset(row_digest(row) for row in rows_for(name, "sample"))


def is_sample(name: str, digests: Iterable[str]) -> bool:
    """Whether any of the rows is one of the sample, whatever the configuration or folder is called."""
    return not sample_digests(name).isdisjoint(digests)
