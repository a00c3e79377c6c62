"""A second look at a data set that trusts nothing the build said: pixels by numpy, and fresh renders if asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import UsageError
from ...images import decode_rgb, pixel_digest
from .corpus import CorpusPage, read_corpus
from .ledger import read_rows

RECORD_KEYS = {"type", "element", "property", "direction", "old_value", "new_value", "template"}
MAY_BE_EMPTY = {"direction", "old_value", "new_value"}
RENDER_SECONDS = 60.0


def recheck(out: str | Path, pages: str | Path | None = None) -> list[str]:
    """What is wrong with the data set in `out`, one line each; empty when all is well.

    Every picture is read again and compared by exact inequality; rows, records and counts are held against each
    other. With the folder `pages` both sides of every pair are rendered again, each from a fresh load, and must be
    equal to the stored pictures pixel for pixel. Raises `UsageError` when there is no data set.
    """
    out = Path(out)
    rows = read_rows(out)
    if not rows:
        raise UsageError(f"{out}: holds no rows; give the folder of a finished build")
    problems = [*_whole(out, rows)]
    for row in rows:
        problems += [f"{row['id']}: {problem}" for problem in _row(out, row)]
    if pages is not None:
        problems += _rendered(out, rows, read_corpus(Path(pages)))
    return problems


def _whole(out: Path, rows: list[dict[str, Any]]) -> Iterator[str]:
    try:
        state = json.loads((out / "build.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        yield f"build.json: {error}"
        state = {}
    if state and not state.get("complete"):
        yield "build.json: the build is not complete"
    for what, names in (
        ("id", Counter(row["id"] for row in rows)),
        (
            "page, element and operator",
            Counter((r["page_id"], r["selector"], r["operator"]) for r in rows if r["task_type"] == "visual_diff"),
        ),
        ("page of a no-diff pair", Counter(row["page_id"] for row in rows if row["task_type"] == "no_diff")),
    ):
        for name, count in names.items():
            if count > 1:
                yield f"the same {what} {count} times: {name}"
    wanted = state.get("parameters", {}).get("per_cell")
    cells = Counter((row["operator"], row["difficulty"]) for row in rows if row["task_type"] == "visual_diff")
    for cell, count in cells.items():
        if wanted is not None and count > wanted:
            yield f"{'/'.join(cell)}: {count} pairs instead of {wanted}"


def _row(out: Path, row: Mapping[str, Any]) -> Iterator[str]:
    try:
        before, after = (_pixels(out / row[name]) for name in ("image_before", "image_after"))
    except (OSError, UsageError) as error:
        yield str(error)
        return
    if before.shape != after.shape:
        yield f"the pictures differ in size: {before.shape}, {after.shape}"
        return
    meta = json.loads(row["meta"])
    width, height = (round(side * meta["scale"]) for side in meta["viewport"])
    if before.shape != (height, width, 3):
        yield f"the pictures are {before.shape[1]}x{before.shape[0]}, not {width}x{height}"
    changed = (before != after).any(axis=2)
    digests = {side: pixel_digest_of(out / row[f"image_{side}"]) for side in ("before", "after")}
    if digests != meta["captures"]:
        yield "a picture is not the one that was captured"
    box = [row[f"target_bbox_{side}"] for side in "xywh"]
    if row["task_type"] == "no_diff":
        if changed.any():
            yield f"{changed.sum()} pixels differ in a no-diff pair"
        if box != [-1, -1, -1, -1] or row["mutations_text"] or row["mutation_types"] or row["mutation_dicts_json"]:
            yield "a no-diff row tells of a change"
        return
    x, y, w, h = box
    if x < 0 or y < 0 or w <= 0 or h <= 0 or x + w > width or y + h > height:
        yield f"the box {box} does not lie in the picture"
        return
    inside = int(changed[y : y + h, x : x + w].sum())
    outside = int(changed.sum()) - inside
    if not inside or outside:
        yield f"{inside} pixels change inside the box and {outside} outside"
    if (row["target_diff"], row["outside_diff"]) != (inside, outside):
        yield f"the row says {row['target_diff']} pixels inside and {row['outside_diff']} outside"
    if abs(row["pixel_diff"] - 100 * float(changed.mean())) > 1e-9:
        yield f"pixel_diff is {row['pixel_diff']}, not {100 * float(changed.mean())}"
    yield from _record(row)


def _record(row: Mapping[str, Any]) -> Iterator[str]:
    if row["mutation_types"] != [f"mutate_{row['operator']}"] or len(row["mutation_dicts_json"]) != 1:
        yield "not exactly one mutation"
        return
    record = json.loads(row["mutation_dicts_json"][0])
    if set(record) != RECORD_KEYS or record["type"] != row["operator"]:
        yield f"the mutation record has the keys {sorted(record)}"
    elif empty := [name for name in sorted(RECORD_KEYS - MAY_BE_EMPTY) if not record[name]]:
        yield f"empty in the mutation record: {', '.join(empty)}"
    if not row["ground_truth_diff"] or not row["selector"]:
        yield "no description or no selector"


def _rendered(out: Path, rows: list[dict[str, Any]], pages: list[CorpusPage]) -> Iterator[str]:
    from ..browser import Browser, PageError
    from .stage import on_stage
    from .tasks import digest

    known = {page.page_id: page for page in pages}
    options = json.loads(rows[0]["meta"])
    with Browser(viewport=tuple(options["viewport"]), scale=options["scale"]) as browser:
        for row in rows:
            meta = json.loads(row["meta"])
            page = known.get(row["page_id"])
            if page is None:
                yield f"{row['id']}: the page {row['page_id']} is not there"
                continue
            try:
                for side in ("before", "after"):
                    with on_stage(browser, page, seconds=RENDER_SECONDS, gate_name=meta["gate"]) as stage:
                        shot = stage.first
                        if side == "after" and row["task_type"] == "visual_diff":
                            stage.apply(row["selector"], row["operator"], meta["change"])
                            shot = stage.capture()
                    if digest(shot) != meta["captures"][side]:
                        yield f"{row['id']}: a fresh render of the picture {side} is another picture"
            except PageError as error:
                yield f"{row['id']}: not rendered again ({error})"


def _pixels(path: Path) -> np.ndarray[Any, Any]:
    return np.asarray(decode_rgb(path.read_bytes(), path.name))


def pixel_digest_of(path: Path) -> str:
    """Digest of the decoded pixels of the file."""
    return pixel_digest(decode_rgb(path.read_bytes(), path.name))
