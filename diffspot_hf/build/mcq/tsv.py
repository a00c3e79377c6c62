"""Writes items as the TSV file that VLMEvalKit reads for multiple choice questions."""

from __future__ import annotations

import base64
import csv
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import UsageError
from .tasks import LETTERS

COLUMNS = ("index", "image", "question", *LETTERS, "answer", "category", "l2-category", "split", "id")
"""`image` is a list literal of base64 texts, `category` the task and `l2-category` the track; `id` is ours."""


def write_tsv(rows: Iterable[Mapping[str, Any]], out: Path) -> int:
    """Writes `rows` (pictures as ``{"path", "bytes"}``) to the new file `out`, one at a time; returns their number.

    Task names repeat on the two tracks, so `category` carries both. Columns that give the answer away are left out.
    """
    if out.exists():
        raise UsageError(f"{out}: exists; choose another --tsv")
    partial = out.with_name(f".{out.name}.part")
    count = 0
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            for count, row in enumerate(rows, start=1):
                writer.writerow(_line(row, count - 1))
        os.replace(partial, out)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written ({error.strerror or error})") from error
    finally:
        partial.unlink(missing_ok=True)
    return count


def _line(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    pictures = [base64.b64encode(row[column]["bytes"]).decode("ascii") for column in ("image_1", "image_2")]
    return {
        "index": index,
        "image": str(pictures),
        "question": row["question"],
        **dict(zip(LETTERS, row["options"], strict=True)),
        "answer": row["answer"],
        "category": f"{row['track']} {row['task']}",
        "l2-category": row["track"],
        "split": "test",
        "id": row["id"],
    }
