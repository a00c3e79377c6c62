"""A second opinion on a synthetic set, from its pictures alone: no browser, no code shared with making the boxes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ...images import decode_rgb
from ...rows import inside, iter_jsonl
from .controls import disagreement
from .stage import MIN_FIT
from .synthetic import BUCKETS


def recheck(folder: str | Path) -> dict[str, Any]:
    """``{"rows", "issues", "controls", "problems"}`` of the set in `folder`; it is sound when ``problems`` is empty.

    Proven for each row: no pixel outside the boxes of its issues differs; each issue has changed pixels inside its own
    boxes, and one of these fits them; boxes of two issues do not meet; the number of issues fits the bucket; a control
    is identical, or differs only as its declared kind allows.
    """
    root = Path(folder)
    problems: list[str] = []
    counts: Counter[str] = Counter()
    for _, row in iter_jsonl(root / "test.jsonl"):
        counts["rows"] += 1
        counts["issues"] += len(row["issues"])
        a, b = (_pixels(root, row[column]) for column in ("image_a", "image_b"))
        if a.shape != b.shape:
            problems.append(f"{row['id']}: the pictures differ in size, {a.shape} and {b.shape}")
            continue
        fewest, most = BUCKETS[row["bucket"]]
        if not fewest <= len(row["issues"]) <= most:
            problems.append(f"{row['id']}: {len(row['issues'])} issues in bucket {row['bucket']}")
        found = _control(row, a, b) if row["bucket"] == "no-tagged" else _issues(row, a, b)
        counts["controls"] += row["bucket"] == "no-tagged"
        problems.extend(f"{row['id']}: {problem}" for problem in found)
    return {key: counts[key] for key in ("rows", "issues", "controls")} | {"problems": problems}


def _pixels(root: Path, relative: str) -> Any:
    path = inside(root, relative)
    return np.asarray(decode_rgb(path.read_bytes(), relative))


def _control(row: dict[str, Any], a: Any, b: Any) -> list[str]:
    declared = json.loads(row["meta"])["harmless"]
    problem = disagreement(declared["kind"] if declared else "identical", a, b)
    return [problem] if problem else []


def _issues(row: dict[str, Any], a: Any, b: Any) -> list[str]:
    changed = (a != b).any(axis=2)
    height, width = changed.shape
    owner = np.zeros(changed.shape, dtype=np.uint8)
    problems = []
    for number, issue in enumerate(row["issues"], start=1):
        own = np.zeros_like(changed)
        fits = []
        for box in (issue["box_a"], issue["box_b"]):
            if box is None:
                continue
            left, top = round(box["x"] * width), round(box["y"] * height)
            right, bottom = round((box["x"] + box["w"]) * width), round((box["y"] + box["h"]) * height)
            if not (0 <= left < right <= width and 0 <= top < bottom <= height):
                problems.append(f"issue {number}: box {box} is empty or leaves the picture")
            own[max(top, 0) : bottom, max(left, 0) : right] = True
            fits.append((left, top, right, bottom))
        if not (own & changed).any():
            problems.append(f"issue {number}: no pixel differs inside its boxes")
        elif (fit := max(_iou(box, _around(own & changed)) for box in fits)) < MIN_FIT:
            problems.append(f"issue {number}: its boxes fit the pixels that differ with an IoU of {fit:.2f} only")
        if owner[own].any():
            problems.append(f"issue {number}: its boxes meet those of issue {owner[own].max()}")
        owner[own] = number
    if outside := int(np.count_nonzero(changed & (owner == 0))):
        problems.append(f"{outside} pixels outside all boxes differ")
    return problems


def _around(changed: Any) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def _iou(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> float:
    across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = max(across, 0) * max(down, 0)
    both = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
    return float(shared / (both - shared))
