"""Makes Scry data sets out of people's annotations, and small stratified pilots out of data sets.

Source of the rules: the Scry paper, section on the data set: completed screens count, annotations need an explicit tag
and a usable box, a completed screen without one is a control. Bucket cuts are ours and parameters.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..rows import inside, iter_jsonl
from ..running.store import write_atomically, write_json, write_lines

FORMAT = "diffspot-hf/annotations"
BUCKETS = ("no-tagged", "single", "multi", "dense")


def from_annotations(
    export: Path, images: Path, out: Path, *, dense_from: int = 4, strict: bool = False
) -> dict[str, Any]:
    """Writes the data set `out` (``test.jsonl`` and ``images/``) and returns a report of what was kept and why not.

    `export` is the JSON file that the annotation page exports; the picture paths in it are relative to `images`. A
    screen that cannot be used is named in the report (with `strict`: the first one is an error).
    """
    _must_be_new(out)
    screens = _screens(export)
    refused: list[str] = []
    counts: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for number, screen in enumerate(screens):
        try:
            row = _row(screen, number, images, out, dense_from, counts)
        except UsageError as error:
            if strict:
                raise
            refused.append(f"screen {number} (id {_id(screen)!r}): {error}")
            continue
        if row is not None and any(row["id"] == other["id"] for other in rows):
            raise UsageError(f"{export}: id {row['id']!r} stands twice")
        if row is not None:
            rows.append(row)
    if not rows:
        raise UsageError(f"{export}: no completed screen can be used" + (f"; {refused[0]}" if refused else ""))
    report = {
        "rows": len(rows),
        "buckets": {bucket: sum(row["bucket"] == bucket for row in rows) for bucket in BUCKETS},
        "issues": sum(len(row["issues"]) for row in rows),
        "not_completed": counts["not completed"],
        "annotations_without_tag": counts["without tag"],
        "annotations_without_box": counts["without box"],
        "refused": refused,
        "dense_from": dense_from,
    }
    write_lines(out / "test.jsonl", rows)
    write_json(out / "build.json", report)
    return report


def _screens(export: Path) -> list[Any]:
    try:
        data = json.loads(export.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{export}: not a readable export ({error})") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("screens"), list):
        raise UsageError(f"{export}: not an export of the annotation page (format {FORMAT!r} with a list of screens)")
    screens: list[Any] = data["screens"]
    return screens


def _row(
    screen: Any, number: int, images: Path, out: Path, dense_from: int, counts: Counter[str]
) -> dict[str, Any] | None:
    from ..dataset_scripts.scry_design_diff import bucket

    if not isinstance(screen, Mapping) or not isinstance(screen.get("id"), str) or not screen["id"]:
        raise UsageError("a screen needs an id")
    if not screen.get("completed"):
        counts["not completed"] += 1
        return None
    issues = [issue for note in screen.get("annotations") or [] if (issue := _issue(note, counts))]
    paths = {side: _copy(images, screen.get(side), out) for side in ("image_a", "image_b")}
    return {
        "id": screen["id"],
        **paths,
        "bucket": bucket(len(issues), dense_from=dense_from),
        "issues": issues,
        "meta": json.dumps({"made_from": "annotations", "screen": number}),
    }


def _issue(annotation: Any, counts: Counter[str]) -> dict[str, Any] | None:
    """The annotation as an issue, None if it has no explicit tag or no usable box."""
    from ..scoring.boxes import read_box
    from ..scoring.tags import read_labels

    if not isinstance(annotation, Mapping):
        raise UsageError("an annotation is no object")
    labels = read_labels(annotation.get("labels"))
    boxes = {side: read_box(annotation.get(side))[0] for side in ("box_a", "box_b")}
    if not labels:
        counts["without tag"] += 1
    elif not any(boxes.values()):
        counts["without box"] += 1
    else:
        return {"labels": labels, "note": str(annotation.get("note") or ""), **boxes}
    return None


def _copy(images: Path, relative: Any, out: Path) -> str:
    """Copies one picture below `out` under the digest of its bytes and returns the relative path."""
    import hashlib

    source = inside(images, relative)
    data = source.read_bytes()
    name = f"images/{hashlib.sha256(data).hexdigest()[:16]}{source.suffix.lower()}"
    if not (out / name).exists():
        write_atomically(out / name, data)
    return name


def pilot(
    data: Path, out: Path, *, per_bucket: int = 15, seed: int = 0, manifest: Path | None = None
) -> dict[str, Any]:
    """Writes a stratified sample of the data set `data` to `out` and returns its manifest.

    `per_bucket` screens are drawn from each bucket with `seed`; a bucket that has fewer is an error that names it. The
    draw depends on the ids alone, not on the order of the rows.
    """
    import hashlib

    if per_bucket < 1:
        raise UsageError(f"--per-bucket {per_bucket}: at least one screen a bucket is needed")
    _must_be_new(out)
    source = data / "test.jsonl"
    rows = {str(row.get("id")): row for _, row in iter_jsonl(source)}
    chosen: list[str] = []
    for bucket in BUCKETS:
        members = sorted(i for i, row in rows.items() if (row.get("bucket") or row.get("split")) == bucket)
        if len(members) < per_bucket:
            raise UsageError(f"{data}: bucket {bucket} has {len(members)} screens, {per_bucket} are asked for")
        chosen += sorted(random.Random(f"{seed}:{bucket}").sample(members, per_bucket))
    kept = [rows[i] | {side: _copy(data, rows[i][side], out) for side in ("image_a", "image_b")} for i in chosen]
    write_lines(out / "test.jsonl", kept)
    made = {
        "source": {"file": source.name, "sha256": hashlib.sha256(source.read_bytes()).hexdigest(), "rows": len(rows)},
        "seed": seed,
        "per_bucket": per_bucket,
        "rows": len(kept),
        "issues": sum(len(row.get("issues") or []) for row in kept),
        "ids": chosen,
        "sha256": hashlib.sha256((out / "test.jsonl").read_bytes()).hexdigest(),
    }
    write_json(manifest or out / "manifest.json", made)
    return made


def _must_be_new(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out}: exists and is not an empty folder; choose another --out")


def _id(screen: Any) -> Any:
    return screen.get("id") if isinstance(screen, Mapping) else None


def buckets_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Number of rows in each bucket, all four named."""
    found = Counter(str(row["bucket"]) for row in rows)
    return {bucket: found[bucket] for bucket in BUCKETS}
