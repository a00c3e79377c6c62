"""Makes a run folder from predictions that were made elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..rows import iter_jsonl
from ..types import Benchmark, Response
from .folder import RunFolder
from .rowset import RowSet
from .run_card import make_card
from .store import Record, write_json, write_lines


def import_run(benchmark: Benchmark, rows: RowSet, predictions: Path, out: RunFolder, model: str | None) -> list[str]:
    """Writes the run folder `out` and returns the ids that have no prediction (they are in state ``error``).

    Each line of `predictions` has an ``id`` and a ``prediction`` or ``raw_response`` (a string, or any JSON value).
    Unknown and repeated ids and lines without a reply are refused, all of them named, before anything is written.
    """
    if out.path.exists() and any(out.path.iterdir()):
        raise UsageError(f"{out.path}: exists and is not empty; choose another --out")
    given, names, problems = _read(predictions, rows)
    if problems:
        shown = "; ".join(problems[:10]) + (f"; and {len(problems) - 10} more" if len(problems) > 10 else "")
        raise UsageError(f"{predictions}: {shown}")
    if model is None and len(names) > 1:
        raise UsageError(f"{predictions}: rows of several models ({', '.join(sorted(names))}); say which with --model")
    name = model or next(iter(names), "imported")
    records = [_record(benchmark, rows, identifier, given.get(identifier), name) for identifier in rows.ids]
    card = make_card(
        benchmark,
        data=rows.describe(),
        model={"id": name, "backend": "imported"},
        prompt=benchmark.prompt,
        generation={},
    )
    card["prompt"] = {"version": "unknown", "sha256": "", "text": None}
    write_lines(out.predictions, records)
    write_json(out.card_file, card)
    return [identifier for identifier in rows.ids if identifier not in given]


def _read(path: Path, rows: RowSet) -> tuple[dict[str, Mapping[str, Any]], set[str], list[str]]:
    given: dict[str, Mapping[str, Any]] = {}
    lines: dict[str, int] = {}
    names: set[str] = set()
    problems: list[str] = []
    for number, line in iter_jsonl(path):
        identifier = line.get("id")
        if not isinstance(identifier, str):
            problems.append(f"line {number} has no id")
        elif identifier in given:
            problems.append(f"id {identifier} stands in lines {lines[identifier]} and {number}")
        elif identifier not in rows:
            problems.append(f"line {number}: id {identifier} is not in the data")
        elif line.get("raw_response") is None and line.get("prediction") is None:
            problems.append(f"line {number} (id {identifier}) has neither prediction nor raw_response")
        else:
            given[identifier], lines[identifier] = line, number
            if isinstance(line.get("model"), str):
                names.add(line["model"])
    return given, names, problems


def _record(benchmark: Benchmark, rows: RowSet, identifier: str, line: Mapping[str, Any] | None, name: str) -> Record:
    if line is None:
        text, finish = "", "error"
    else:
        reply = line["raw_response"] if line.get("raw_response") is not None else line["prediction"]
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        finish = str(line.get("finish_reason") or "stop")
    response = Response(id=identifier, text=text, finish_reason=finish)  # type: ignore[arg-type]
    prediction = benchmark.read(rows.truth(identifier), response)
    return {
        "id": identifier,
        "split": "test",
        "model": name,
        "prompt_version": str((line or {}).get("prompt_version") or "unknown"),
        "raw_response": text,
        "prediction": prediction.value,
        "state": prediction.state,
        "finish_reason": finish,
        "error": "no prediction was given for this row" if line is None else None,
        "attempts": [],
        "usage": {},
        "images": [],
        "notes": dict(prediction.notes),
        "seconds": 0.0,
    }
