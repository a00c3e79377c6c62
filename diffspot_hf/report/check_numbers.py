"""Are the numbers of a hand-written table those of the score files?

A table is checked if a comment stands right before it::

    <!-- numbers
    row Kimi K2.7: runs/kimi/scores.json
    column recall: known_issue_recall %
    column matched: matched
    -->
    | model     | recall | matched |
    | --------- | -----: | ------: |
    | Kimi K2.7 |   38.2 |     213 |

``row`` gives the score file of a row by its first cell, ``column`` the place of a column's figure in it (keys joined by
dots) and ``%`` that it is printed as a percentage. Every number of the table must have both; a cell without a digit is
not checked, a cell beyond the header is wrong. Numbers are compared at the precision they are printed with. Only blank
lines may stand between a mark and its table.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any

from ..errors import UsageError

_NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")
_MARK = re.compile(r"<!--\s*numbers\s*\n(?P<lines>.*?)-->", re.DOTALL)
_LINE = re.compile(r"(?P<kind>row|column)\s+(?P<name>.+?)\s*:\s+(?P<target>\S+)\s*(?P<percent>%?)")


@dataclass
class _Mark:
    rows: dict[str, str] = field(default_factory=dict)
    columns: dict[str, tuple[str, bool]] = field(default_factory=dict)


def check_numbers(file: Path) -> tuple[int, list[str]]:
    """How many numbers were compared, and what is wrong with each that differs or has no source."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read ({error})") from error
    compared, problems = 0, []
    marks = list(_MARK.finditer(text))
    if not marks:
        raise UsageError(f"{file}: no table is marked with its source (<!-- numbers … -->)")
    for found in marks:
        first_line = text.count("\n", 0, found.end()) + 1
        mark_at = f"{file}, line {text.count(chr(10), 0, found.start()) + 1}"
        mark = _parse(found["lines"], mark_at)
        if not text[found.end() :].lstrip().startswith("|"):
            raise UsageError(f"{mark_at}: no table follows this mark; only blank lines may stand between them")
        for line, row, column, cell in _cells(text[found.end() :], first_line):
            where = f"{file}, line {line}, {row} / {column}"
            problem = _compare(cell, row, column, mark, file.parent)
            compared += problem is not _SKIPPED
            if problem is not None and problem is not _SKIPPED:
                problems.append(f"{where}: {problem}")
    return compared, problems


_SKIPPED = "no number"
_BEYOND = "beyond the header"


def _parse(lines: str, where: str) -> _Mark:
    mark = _Mark()
    for line in filter(None, map(str.strip, lines.splitlines())):
        found = _LINE.fullmatch(line)
        if found is None:
            raise UsageError(f"{where}: {line!r} is neither 'row NAME: FILE' nor 'column NAME: KEY [%]'")
        if found["kind"] == "row":
            mark.rows[found["name"]] = found["target"]
        else:
            mark.columns[found["name"]] = (found["target"], bool(found["percent"]))
    return mark


def _cells(text: str, first_line: int) -> Iterator[tuple[int, str, str, str]]:
    """Line number, row name, column name and text of each cell of the table that `text` begins with."""
    header: list[str] | None = None
    for offset, line in enumerate(text.splitlines()):
        if not line.strip().startswith("|"):
            if header is None and not line.strip():
                continue
            return
        inner = line.strip().removeprefix("|").removesuffix("|")
        cells = [cell.strip().strip("*`") for cell in inner.split("|")]
        if header is None:
            header = cells
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            for place, cell in enumerate(cells[1:], start=1):
                column = header[place] if place < len(header) else _BEYOND
                yield first_line + offset, cells[0], column, cell


def _compare(cell: str, row: str, column: str, mark: _Mark, folder: Path) -> str | None:
    numbers = _NUMBER.findall(cell)
    if column == _BEYOND:
        return f"{cell or 'an empty cell'} stands in no column: the row has more cells than the header"
    if not numbers:
        return _SKIPPED
    if row not in mark.rows or column not in mark.columns:
        return f"{cell} has no source ({'row' if row not in mark.rows else 'column'} is not marked)"
    if len(numbers) > 1:
        return f"{cell}: one number a cell can be compared"
    key, percent = mark.columns[column]
    value = _lookup(folder / mark.rows[row], key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"{mark.rows[row]} has no number at {key}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{mark.rows[row]} has {value} at {key}, which is no finite number"
    stored = _differs(numbers[0].replace(",", "").replace("−", "-"), repr(value), percent)
    return None if stored is None else f"printed {numbers[0]}, {mark.rows[row]} has {stored} at {key}"


def _differs(text: str, value: str, percent: bool) -> str | None:
    """`value` (a hundredfold if `percent`) as text if `text` is not what it rounds to, else None."""
    with localcontext() as context:
        context.prec = len(text) + len(value) + 400  # holds any float (up to 309 digits) with the decimals of `text`
        printed, exact = Decimal(text), Decimal(value) * (100 if percent else 1)
        step = Decimal(1).scaleb(int(printed.as_tuple().exponent))
        rounded = [exact.quantize(step, rounding=how) for how in (ROUND_HALF_UP, ROUND_HALF_EVEN)]
        return None if printed in rounded else f"{exact.normalize():f}"


def _lookup(file: Path, key: str) -> Any:
    try:
        value = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file}: cannot be read ({error})") from error
    for part in key.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
