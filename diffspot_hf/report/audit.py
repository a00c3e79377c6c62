"""Auditing what the annotations cannot tell: are unmatched predictions real defects, are the controls clean?

`export` writes the queue of a Scry run for people (a page for the browser and a CSV), `summarize` turns their decisions
into adjusted precision and specificity with intervals.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..running.folder import RunFolder
from ..running.rowset import RowSet
from ..running.store import write_atomically, write_json
from ..scoring.matching import match_issues
from ..scoring.rates import rate
from .tables import clean, percent, render

FORMAT = "diffspot-hf/decisions"
DECISIONS = {"audit": ("real", "not_a_defect", "unsure"), "controls": ("clean", "defect", "unsure")}
_COLUMNS = ("row_id", "prediction_index", "labels", "note", "box_a", "box_b", "decision")


def queue(out: RunFolder, rows: RowSet, *, iou_threshold: float = 0.10) -> list[dict[str, Any]]:
    """Each predicted issue of the run that matches no annotated one, in the order of the data."""
    records = out.records()
    found: list[dict[str, Any]] = []
    for row in rows.plain:
        predicted = issues_of(records.get(row["id"]))
        matched = {i for i, _ in match_issues(predicted, row["issues"], iou_threshold=iou_threshold)}
        for index, issue in enumerate(predicted):
            if index not in matched:
                found.append({"row_id": row["id"], "prediction_index": index, **issue})
    return found


def issues_of(record: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The issues that a stored record predicts; none unless it was read."""
    if record is None or record["state"] not in ("ok", "truncated"):
        return []
    return list(record["prediction"] or [])


def write_csv(entries: Sequence[Mapping[str, Any]], file: Path) -> None:
    """The queue as CSV. No cell can start a formula, none holds control characters."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for entry in entries:
        writer.writerow([safe_cell(entry.get(column, "")) for column in _COLUMNS])
    write_atomically(file, text.getvalue().encode("utf-8"))


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
    return "'" + text if text[:1] in ("=", "+", "-", "@", "|", "%") else text


def summarize(decisions: Iterable[Path], run_scores: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Adjusted figures from decision files, each a rate with numerator, denominator and 95 % Wilson interval.

    With the scores of the run: ``adjusted_precision`` counts real defects among the decided unmatched predictions as
    right; ``audited_specificity`` is over controls that people found clean. Undecided and unsure entries are counted
    and left out of the rates.
    """
    audit: dict[tuple[str, int], str] = {}
    controls: dict[str, str] = {}
    for file in decisions:
        data = read_decisions(file)
        for entry in data["decisions"]:
            if data["mode"] == "audit":
                audit[(entry["row_id"], entry["prediction_index"])] = entry["decision"]
            else:
                controls[entry["row_id"]] = entry["decision"]
    counted = Counter(audit.values())
    decided = counted["real"] + counted["not_a_defect"]
    summary: dict[str, Any] = {
        "unmatched": {"decided": len(audit), **{d: counted[d] for d in DECISIONS["audit"]}},
        "real_among_decided": rate(counted["real"], decided),
        "controls": {"decided": len(controls), **{d: Counter(controls.values())[d] for d in DECISIONS["controls"]}},
    }
    if run_scores is not None:
        matched = run_scores["matched"]
        flagged = set(run_scores.get("flagged_control_ids", ()))
        clean_controls = [i for i, decision in controls.items() if decision == "clean"]
        summary["model"] = run_scores["model"]
        summary["adjusted_precision"] = rate(matched + counted["real"], matched + decided)
        summary["audited_specificity"] = rate(sum(i not in flagged for i in clean_controls), len(clean_controls))
    return summary


def read_decisions(file: Path) -> dict[str, Any]:
    """A decision file of the audit page, checked."""
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not a readable decision file ({error})") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("mode") not in DECISIONS:
        raise UsageError(f"{file}: not an export of the audit page (format {FORMAT!r}, mode audit or controls)")
    allowed = DECISIONS[data["mode"]]
    needed = ("row_id", "prediction_index") if data["mode"] == "audit" else ("row_id",)
    for number, entry in enumerate(data.get("decisions") or []):
        if not isinstance(entry, dict) or any(key not in entry for key in needed):
            raise UsageError(f"{file}: decision {number} has no {' or no '.join(needed)}")
        if entry.get("decision") not in allowed:
            raise UsageError(f"{file}: decision {number} is {entry.get('decision')!r}, not one of {', '.join(allowed)}")
    return data | {"decisions": data.get("decisions") or []}


def markdown(summary: Mapping[str, Any]) -> str:
    """The summary as a small report."""
    names = ("real_among_decided", "adjusted_precision", "audited_specificity")
    rows = []
    for name in names:
        if name in summary:
            found = summary[name]
            low, high = found["ci95"] or (None, None)
            share = f"{found['numerator']}/{found['denominator']}"
            rows.append([name.replace("_", " "), percent(found["value"]), share, f"{percent(low)} to {percent(high)}"])
    table = render(["figure", "percent", "count", "95 % interval"], rows, markdown=True)
    unmatched, controls = summary["unmatched"], summary["controls"]
    return (
        f"# Audit summary\n\n{table}\n\n"
        f"Unmatched predictions decided: {unmatched['decided']} (real {unmatched['real']}, not a defect "
        f"{unmatched['not_a_defect']}, unsure {unmatched['unsure']}).\n"
        f"Controls decided: {controls['decided']} (clean {controls['clean']}, defect {controls['defect']}, unsure "
        f"{controls['unsure']}).\n"
    )


def write_summary(summary: Mapping[str, Any], json_file: Path, markdown_file: Path | None) -> None:
    write_json(json_file, summary)
    if markdown_file is not None:
        write_atomically(markdown_file, markdown(summary).encode())
