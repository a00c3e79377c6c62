"""Makes a run folder from predictions that were made elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..loading import picture_columns
from ..rows import iter_jsonl
from ..scoring.boxes import number
from ..types import Benchmark, ImageSeen, Picture, Response
from .folder import RunFolder
from .rowset import RowSet
from .run_card import make_card
from .store import Record, write_json, write_lines


def import_run(benchmark: Benchmark, rows: RowSet, predictions: Path, out: RunFolder, model: str | None) -> list[str]:
    """Writes the run folder `out` and returns the ids that have no prediction; there is no record of them.

    Each line of `predictions` has an ``id`` and a ``prediction`` or ``raw_response`` (a string, or any JSON value); it
    may have ``model``, ``prompt_version``, ``finish_reason``, ``seconds``, ``timed_out``, ``time_limit`` (of people who
    answered against a clock) and ``images`` (sizes as a record of ours has them). Unknown and repeated ids and lines
    without a reply are refused, all of them named, before anything is written.
    """
    if out.path.exists() and any(out.path.iterdir()):
        raise UsageError(f"{out.path}: exists and is not empty; choose another --out")
    given, names, problems = _read(predictions, rows)
    name = model or next(iter(names), "imported")
    records: list[Record] = []
    for identifier in [identifier for identifier in rows.ids if identifier in given]:
        try:
            records.append(_record(benchmark, rows.row(identifier), given[identifier], name))
        except UsageError as error:
            problems.append(f"id {identifier}: {error}")
    if problems:
        shown = "; ".join(problems[:10]) + (f"; and {len(problems) - 10} more" if len(problems) > 10 else "")
        raise UsageError(f"{predictions}: {shown}")
    if model is None and len(names) > 1:
        raise UsageError(f"{predictions}: rows of several models ({', '.join(sorted(names))}); say which with --model")
    limits = {json.dumps(line["time_limit"]) for line in given.values() if "time_limit" in line}
    card = make_card(
        benchmark,
        data=rows.describe(),
        model={"id": name, "backend": "imported"},
        prompt=benchmark.prompt,
        generation={"time_limit": sorted(map(json.loads, limits), key=str)} if limits else {},
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
    for at, line in iter_jsonl(path):
        identifier = line.get("id")
        if not isinstance(identifier, str):
            problems.append(f"line {at} has no id")
        elif identifier in given:
            problems.append(f"id {identifier} stands in lines {lines[identifier]} and {at}")
        elif identifier not in rows:
            problems.append(f"line {at}: id {identifier} is not in the data")
        elif line.get("raw_response") is None and line.get("prediction") is None:
            problems.append(f"line {at} (id {identifier}) has neither prediction nor raw_response")
        else:
            given[identifier], lines[identifier] = line, at
            if isinstance(line.get("model"), str):
                names.add(line["model"])
    return given, names, problems


def _record(benchmark: Benchmark, row: dict[str, Any], line: Mapping[str, Any], name: str) -> Record:
    reply = line["raw_response"] if line.get("raw_response") is not None else line["prediction"]
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    finish = str(line.get("finish_reason") or "stop")
    stored = _stored_images(line)
    in_pixels = "px" in str(benchmark.settings.get("box_frame"))  # only then are the sizes of the pictures needed
    response = Response(
        id=row["id"],
        text=text,
        finish_reason=finish,  # type: ignore[arg-type]
        images=stored or (_shown_images(row) if in_pixels else ()),
    )
    prediction = benchmark.read(row, response)
    return {
        "id": row["id"],
        "split": "test",
        "model": name,
        "prompt_version": str(line.get("prompt_version") or "unknown"),
        "raw_response": text,
        "prediction": prediction.value,
        "state": prediction.state,
        "finish_reason": finish,
        "error": None,
        "attempts": [],
        "usage": {},
        "images": [asdict(image) for image in stored],
        "notes": dict(prediction.notes) | {key: line[key] for key in ("timed_out", "time_limit") if key in line},
        "seconds": seconds if (seconds := number(line.get("seconds"))) is not None else 0.0,
    }


def _stored_images(line: Mapping[str, Any]) -> tuple[ImageSeen, ...]:
    """What the line says of the pictures as the model saw them, () if it says nothing."""
    names = {field.name for field in fields(ImageSeen)}
    try:
        return tuple(ImageSeen(**{k: v for k, v in one.items() if k in names}) for one in line.get("images") or ())
    except (TypeError, AttributeError) as error:
        raise UsageError(f"images: {error}") from error


def _shown_images(row: Mapping[str, Any]) -> tuple[ImageSeen, ...]:
    """The pictures of the row as they are; how a model processed them is not known."""
    seen = []
    for column in picture_columns(dict(row)):
        width, height = Picture(row[column]["bytes"], column).rgb.size
        seen.append(ImageSeen(width, height, hashlib.sha256(row[column]["bytes"]).hexdigest()))
    return tuple(seen)
