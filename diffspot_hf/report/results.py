"""One table for any run: picks the benchmark's own layout."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from .diffspot import health_line


def tables(scores: Sequence[dict[str, Any]], *, published: bool = True, markdown: bool = False) -> str:
    """The result tables of runs of one benchmark, with the state of their replies below."""
    name = scores[0]["benchmark"]
    layout = importlib.import_module(f"diffspot_hf.report.{name}")
    text: str = layout.tables(scores, published=published, markdown=markdown)
    states = "\n".join(f"{score['model']}: {health_line(score['health'])}" for score in scores)
    return f"{text}\n\n{states}"
