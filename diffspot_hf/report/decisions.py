"""The files in which people's decisions travel: the queue as CSV, and what comes back as JSON of the page or as CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..running.store import write_atomically, write_json
from .tables import clean

FORMAT = "diffspot-hf/decisions"
DECISIONS = {"audit": ("real", "not_a_defect", "unsure"), "controls": ("clean", "defect", "unsure")}
_WRITTEN = {"real_defect": "real"}
"""What people write in a table for a decision, besides its name."""
_COLUMNS = ("row_id", "prediction_index", "labels", "note", "box_a", "box_b", "about", "decision")
_FORMULA = ("=", "+", "-", "@", "|", "%")


def about(issue: Mapping[str, Any]) -> str:
    """A short digest of a predicted issue, which tells whether a decision is about this one.

    >>> about({"labels": ["Color"], "note": "", "box_a": None, "box_b": None})
    '9833ab7c31e8'
    """
    content = {key: issue.get(key) for key in ("labels", "note", "box_a", "box_b")}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def write_csv(entries: Sequence[Mapping[str, Any]], file: Path) -> None:
    """The queue as CSV, its last column left for the decision. No cell starts a formula or holds control characters."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for entry in entries:
        writer.writerow([safe_cell(entry.get(column, "")) for column in _COLUMNS])
    write_atomically(file, text.getvalue().encode("utf-8"))


def write_nothing(mode: str, folder: Path) -> Path:
    """Path of a decision file without entries, for a run that leaves people nothing to decide (a page needs rows)."""
    file = folder / f"no-{mode}-decisions.json"
    write_json(file, {"format": FORMAT, "version": 1, "mode": mode, "decisions": []})
    return file


def safe_cell(value: Any) -> str:
    """`value` as text that a spreadsheet shows and does not evaluate.

    >>> safe_cell("=1+1"), safe_cell(["a", "b"]), safe_cell(None)
    ("'=1+1", 'a, b', '')
    """
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(str, value))
    elif isinstance(value, Mapping):
        value = json.dumps(value)
    text = clean(value).strip()
    return "'" + text if text[:1] in _FORMULA else text


def read_decisions(file: Path) -> dict[str, Any]:
    """``{"mode", "decisions", "places"}`` of an export of the audit page, or of the CSV with decisions filled in.

    Each decision has ``row_id``, ``decision``, in mode audit ``prediction_index``, and, where the file says it,
    ``about``; its place is the entry, of a CSV the line. Lines of a CSV without a decision are left out. Raises
    `UsageError` with the place.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: not a readable decision file ({error})") from error
    mode, entries = _of_csv(file, text) if file.suffix.lower() == ".csv" else _of_json(file, text)
    for place, entry in entries:
        if problem := _problem(mode, entry):
            raise UsageError(f"{file}, {place}: {problem}")
    return {"mode": mode, "decisions": [entry for _, entry in entries], "places": [place for place, _ in entries]}


def _of_json(file: Path, text: str) -> tuple[str, list[tuple[str, Any]]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not a readable decision file ({error})") from error
    mode = data.get("mode") if isinstance(data, dict) and data.get("format") == FORMAT else None
    if not isinstance(mode, str) or mode not in DECISIONS:
        raise UsageError(f"{file}: not an export of the audit page (format {FORMAT!r}, mode audit or controls)")
    entries = data.get("decisions")
    if not isinstance(entries, list):
        raise UsageError(f"{file}: decisions is {shown(entries)}, not a list of entries")
    return mode, [(f"entry {number}", entry) for number, entry in enumerate(entries, start=1)]


def _of_csv(file: Path, text: str) -> tuple[str, list[tuple[str, Any]]]:
    """A filled-in queue, as spreadsheets save it: comma, semicolon or tab between cells."""
    header = text.split("\n", 1)[0]
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count))
    missing = {"row_id", "prediction_index", "decision"} - set(reader.fieldnames or ())
    if missing:
        raise UsageError(f"{file}: not a queue of audit export, it has no column {', '.join(sorted(missing))}")
    entries: list[tuple[str, Any]] = []
    try:
        for line in reader:
            word = "_".join((line["decision"] or "").casefold().split())
            if not word:
                continue
            index = (line["prediction_index"] or "").strip()
            entry = {
                "row_id": _plain(line["row_id"] or "") or None,
                "prediction_index": int(index) if index.isdecimal() else index or None,
                "decision": _WRITTEN.get(word, word),
            }
            entries.append((f"line {reader.line_num}", entry | ({"about": line["about"]} if line.get("about") else {})))
    except csv.Error as error:
        raise UsageError(f"{file}, line {reader.line_num}: {error}") from error
    return "audit", entries


def _plain(cell: str) -> str:
    """The text of which `safe_cell` made `cell`."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in _FORMULA else cell


def _problem(mode: str, entry: Any) -> str | None:
    """What is wrong with an entry of a decision file, None if nothing is."""
    if not isinstance(entry, dict):
        return f"{shown(entry)} is no object"
    row_id, index, decision = (entry.get(key) for key in ("row_id", "prediction_index", "decision"))
    if not isinstance(row_id, str) or not row_id:
        return f"row_id is {shown(row_id)}, not the id of a row"
    if mode == "audit" and (type(index) is not int or index < 0):
        return f"prediction_index is {shown(index)}, not a whole number from 0"
    if mode == "controls" and index is not None:
        return "prediction_index is given, but a control has none"
    if decision not in DECISIONS[mode]:
        return f"decision is {shown(decision)}, not one of {', '.join(DECISIONS[mode])}"
    return None


def shown(value: Any) -> str:
    """`value` for a message, on one line and short.

    >>> shown("a"), shown(None), shown(["a"])
    ("'a'", 'missing', 'a list')
    """
    if value is None:
        return "missing"
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
