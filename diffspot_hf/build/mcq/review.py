"""Takes what people decided on the verification page back into a data set: accepted groups stay, others fall back.

A group stays only as a whole, since its five letters balance one another: one rejected item sends all five to the
fallback list, from where they are built again by hand or dropped.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...folders import can_be_made, new_folder
from ...report.decisions import FORMAT
from ...rows import inside
from ...running.store import write_json, write_lines
from .groups import FALLBACK, REPORT, read_rows


def apply_decisions(folder: Path, export: Path, out: Path) -> dict[str, Any]:
    """Writes the accepted groups of `folder` as the new data set `out`; returns the counts.

    `export` is what the page saves in mode ``verify``. ``review/fallback.jsonl`` in `out` names each rejected item with
    the checks it failed and its note; groups with items that nobody decided are ``open`` and left out too. Where people
    rejected items and no group is left, that list is all that is written.
    """
    can_be_made(out)
    rows = _rows(folder)
    decisions = _decisions(export)
    if unknown := sorted(set(decisions) - {row["id"] for row in rows}):
        raise UsageError(f"{export}: decides on items that are not in {folder}: {', '.join(unknown[:5])}")
    verdicts: dict[str, list[str | None]] = {}
    for row in rows:
        verdicts.setdefault(row["group_id"], []).append((decisions.get(row["id"]) or {}).get("decision"))
    rejected = {name for name, given in verdicts.items() if "reject" in given}
    waiting = {name for name, given in verdicts.items() if name not in rejected and set(given) != {"accept"}}
    kept = [row for row in rows if row["group_id"] not in rejected | waiting]
    fallback = [
        {
            "id": row["id"],
            "group_id": row["group_id"],
            "instruction": row.get("instruction"),
            "failed": _failed(decision),
            "note": decision.get("note") or "",
        }
        for row in rows
        if (decision := decisions.get(row["id"]) or {}).get("decision") == "reject"
    ]
    counts = {"items": len(kept), "accepted": len(kept) // 5, "rejected": len(rejected), "open": len(waiting)}
    if not kept and not fallback:
        raise UsageError(
            f"{export}: no group is accepted in full ({counts['rejected']} rejected, {counts['open']} open)"
        )
    with new_folder(out) as made:
        if kept:
            _copy(folder, kept, made)
        write_lines(made / FALLBACK, fallback)
        write_json(made / REPORT, counts)
    return counts


def _rows(folder: Path) -> list[dict[str, Any]]:
    rows = read_rows(folder)
    for row in rows:
        if not all(isinstance(row.get(key), str) for key in ("id", "group_id", "image_1", "image_2")):
            raise UsageError(f"{folder}: a row without id, group_id, image_1 and image_2; not written by the builder")
    return rows


def _copy(folder: Path, rows: list[dict[str, Any]], out: Path) -> None:
    """`rows` and every file that they name, from `folder` to `out`."""
    files = {name: inside(folder, name) for name in _files(rows)}
    for name, path in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / name)
    if (folder / "scenes.json").is_file():
        shutil.copyfile(folder / "scenes.json", out / "scenes.json")
    write_lines(out / "test.jsonl", rows)


def _decisions(export: Path) -> dict[str, Mapping[str, Any]]:
    try:
        data = json.loads(export.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{export}: not a readable export ({error})") from error
    listed = data.get("decisions") if isinstance(data, Mapping) else None
    if not isinstance(listed, list) or data.get("format") != FORMAT or data.get("mode") != "verify":
        raise UsageError(f"{export}: not an export of the verification page (format {FORMAT!r}, mode 'verify')")
    found: dict[str, Mapping[str, Any]] = {}
    for entry in listed:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("row_id"), str):
            raise UsageError(f"{export}: a decision without row_id: {entry!r}")
        if entry.get("decision") not in ("accept", "reject", None):
            raise UsageError(
                f"{export}: {entry['row_id']} is decided as {entry['decision']!r}; accept or reject is known"
            )
        _check_entry(export, entry)
        name, before = entry["row_id"], found.get(entry["row_id"], {})
        both = before.get("decision"), entry.get("decision")
        if None not in both and both[0] != both[1]:
            raise UsageError(f"{export}: {name} is decided twice, as {both[0]!r} and as {both[1]!r}")
        if both[0] is None or both[1] is not None:
            found[name] = entry
    return found


def _check_entry(export: Path, entry: Mapping[str, Any]) -> None:
    checks = entry.get("checks")
    if not isinstance(checks, Mapping | None):
        raise UsageError(f"{export}: {entry['row_id']}: checks must be an object, found {checks!r}")
    failed = _failed(entry)
    if entry.get("decision") == "accept" and failed:
        raise UsageError(f"{export}: {entry['row_id']} is accepted, and it failed {', '.join(failed)}")


def _failed(entry: Mapping[str, Any]) -> list[str]:
    return sorted(name for name, value in (entry.get("checks") or {}).items() if value == "fail")


def _files(rows: list[dict[str, Any]]) -> set[str]:
    named = {row[f"image_{side}"] for row in rows for side in "12"}
    return named | {patch["file"] for row in rows for side in "12" for patch in row.get(f"patches_{side}") or []}
