"""Judges the free-text replies of a run: `predictions.jsonl` → `judged.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from ..errors import UsageError
from ..types import Judge, Row
from .folder import RunFolder
from .recovery import is_recovered, raw_of
from .rowset import RowSet
from .run_card import sha256
from .store import Record, write_json, write_lines


def judge_run(out: RunFolder, rows: RowSet, judge: Judge, *, progress: bool = True) -> dict[str, int]:
    """Writes one verdict a row and returns how many rows were judged, reused, not judged and failed.

    Equal replies to equal truths are judged once. Rows without a readable reply are not judged: they are never a true
    positive or a true negative, and their `judge_state` says why. A judge that fails on a row leaves its verdict
    missing; the next call asks again. Of a recovered row the truncated reply it replaced is judged too (``raw``).
    """
    records, earlier = out.records(), out.judgements()
    seen: dict[str, dict[str, Any]] = {}
    counts = {"judged": 0, "reused": 0, "not_judged": 0, "failed": 0}

    def judged_as(row: Row, record: Record | None, old: Record | None) -> tuple[str, Record]:
        """How it went, as a name in `counts`, and the entry for `record`; `old` is the entry there was."""
        if record is None or record["state"] not in ("ok", "truncated"):
            return "not_judged", _entry(row, judge.name, state=record["state"] if record else "error")
        evidence = evidence_of(judge.name, row, record)
        if old is not None and old.get("evidence") == evidence:
            return "reused", old
        if evidence not in seen:
            try:
                seen[evidence] = _verdict(judge, row, record["prediction"])
            except Exception as error:  # whatever a judge may raise: one verdict is missing, the others are not lost
                reason = (str(error) or repr(error)).splitlines()[0]
                return "failed", _entry(row, judge.name, record["state"]) | {"judge_state": f"error: {reason}"}
        return "judged", _entry(row, judge.name, record["state"], seen[evidence]) | {"evidence": evidence}

    judged: list[Record] = []
    for row in tqdm(rows.plain, desc=f"judge · {judge.name}", unit="row", disable=not progress):
        record, old = records.get(row["id"]), earlier.get(row["id"])
        how, entry = judged_as(row, record, old)
        counts[how] += 1
        if record is not None and is_recovered(record) and raw_of(record)["state"] == "truncated":
            how, raw = judged_as(row, raw_of(record), (old or {}).get("raw"))
            counts["failed"] += how == "failed"
            entry = entry | {"raw": raw}
        judged.append(entry)
    write_lines(out.judged, judged)
    write_json(out.card_file, out.card() | {"judge": {"name": judge.name, "official": False}})
    return counts


def evidence_of(judge: str, row: Row, record: Record) -> str:
    """What a verdict of `judge` on `record` depends on, as one digest."""
    return sha256(json.dumps([judge, _mutation(row), row["ground_truth_diff"], record["prediction"]]))


def unjudged(rows: RowSet, records: Mapping[str, Record], judged: Mapping[str, Record]) -> list[str]:
    """The ids whose reply can be judged and has no verdict, or one on another reply."""
    found = []
    for row in rows.plain:
        record, entry = records.get(row["id"]), judged.get(row["id"], {})
        if record is None or record["state"] not in ("ok", "truncated"):
            continue
        failed = str(entry.get("judge_state", "")).startswith("error")
        if not failed and entry.get("evidence") != evidence_of(str(entry.get("judge")), row, record):
            found.append(row["id"])
    return found


def _verdict(judge: Judge, row: Row, reply: str) -> dict[str, Any]:
    has_diff = row["task_type"] != "no_diff"
    return judge.judge(
        mutation=_mutation(row) if has_diff else None,
        ground_truth_diff=row["ground_truth_diff"] if has_diff else "",
        reply=reply,
    )


def _entry(row: Row, judge: str, state: str, label: Mapping[str, Any] | None = None) -> Record:
    """The official fields of a judged row. A pair without a change needs a complete reply to be a true negative."""
    has_diff = row["task_type"] != "no_diff"
    verdicts = [mutation["verdict"] for mutation in label["mutations"]] if label else []
    return {
        "id": row["id"],
        "split": "test",
        "operator": row.get("operator") if has_diff else None,
        "is_true_positive": "correct" in verdicts if has_diff else None,
        "is_true_negative": (label is not None and not label["hallucinations"] and state == "ok")
        if not has_diff
        else None,
        "judge": judge,
        "judge_label": dict(label) if label else None,
        "judge_state": "ok" if label else f"not judged: {state}",
    }


def _mutation(row: Row) -> dict[str, Any] | None:
    """The row's first mutation record (seven keys), None on a pair without a change."""
    if not row["mutation_dicts_json"]:
        return None
    try:
        mutation: dict[str, Any] = json.loads(row["mutation_dicts_json"][0])
    except ValueError as error:
        raise UsageError(f"row {row['id']}: mutation_dicts_json holds no JSON ({error})") from error
    return mutation
