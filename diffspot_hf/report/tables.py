"""Plain tables: the same cells as text for a terminal or as Markdown."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def render(header: Sequence[str], rows: Sequence[Sequence[str]], *, markdown: bool = False) -> str:
    """The table as lines of text; the first column is left-aligned, the others right-aligned.

    >>> print(render(["model", "recall"], [["oracle", "100.0"]]))
    model   recall
    oracle   100.0
    """
    cells = [[clean(cell) for cell in row] for row in [header, *rows]]
    widths = [max(_width(row[i]) for row in cells) for i in range(len(header))]
    lines = [[_pad(cell, widths[i], left=i == 0) for i, cell in enumerate(row)] for row in cells]
    if not markdown:
        return "\n".join("  ".join(line).rstrip() for line in lines)
    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return "\n".join("| " + " | ".join(line) + " |" for line in [lines[0], rule, *lines[1:]])


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal, ``–`` if there is none.

    >>> percent(0.4725), percent(None)
    ('47.2', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}"


def clean(text: object) -> str:
    """`text` on one line without control characters, so that nothing in data or replies reaches the terminal raw."""
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c for c in str(text))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _pad(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text
