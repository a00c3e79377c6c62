"""The result tables that the papers print, as CSV: facts to stand beside your own run, never recomputed here."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """The rows of ``<name>.csv`` (for example ``diffspot_results``), each a dict by column.

    >>> table("diffspot_results")[0]["model"]
    'gemini-3.1-pro'
    """
    path = Path(__file__).with_name(f"{name}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        return tuple(csv.DictReader(lines))
