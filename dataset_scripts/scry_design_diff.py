"""Scry Design Diff: pairs of mobile screens (reference, implementation) with the defects between them.

As a module this is the builder behind ``load_dataset("scry_design_diff")``; as a program it writes a Parquet copy::

    python dataset_scripts/scry_design_diff.py --data-dir DIR --out DIR
"""

from __future__ import annotations

import json
import math
from typing import Any

from datasets import Features, Image, List, Value

from diffspot_hf.dataset_scripts.common import PairBuilder, configurations, convert
from diffspot_hf.errors import UsageError
from diffspot_hf.scoring.tags import read_labels

TEXT, FLOAT = Value("string"), Value("float64")
BOX = {"x": FLOAT, "y": FLOAT, "w": FLOAT, "h": FLOAT}
FEATURES = Features(
    {
        "id": TEXT,
        "image_a": Image(),
        "image_b": Image(),
        "bucket": TEXT,
        "issues": List({"labels": List(TEXT), "note": TEXT, "box_a": BOX, "box_b": BOX}),
        "meta": TEXT,
    }
)
"""`image_a` is the reference, `image_b` the implementation. Boxes are xywh_norm: fractions of the picture of their
side, `x, y` the top-left corner; null where an issue has no box on that side. An issue has at least one tag and one
box; a row with an empty list is a control. `bucket` is the density of issues, or any other group of the rows.
`meta` is a JSON object that a model never sees."""

BUCKETS = ("no-tagged", "single", "multi", "dense")

README = """---
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test-*.parquet
task_categories: [image-to-text, visual-question-answering]
tags: [visual-change-detection, mobile-ui, design-review]
---

# Scry Design Diff pairs

{rows} pairs of a reference screen (`image_a`) and its implementation (`image_b`), written by
`dataset_scripts/scry_design_diff.py` of diffspot-hf. `issues` holds the defects with tags and boxes (fractions of the
picture, top-left corner).

Unless `meta` says `"exhaustive": true`, the issues are known positives: people marked what they saw, and a real defect
may be unmarked. Recall of known issues is then the figure to read; precision is diagnostic until unmatched reports were
audited, and so is specificity, since a control is a screen on which nothing was marked, not one that was audited clean.
"""


class ScryDesignDiff(PairBuilder):
    """Pairs of mobile screens with tagged and boxed differences."""

    BUILDER_CONFIGS = configurations("the authors' rows, which are not public")
    BENCHMARK = "scry_design_diff"
    FEATURES = FEATURES
    PICTURES = ("image_a", "image_b")
    REQUIRED = ("id", "image_a", "image_b", "issues")
    HOMEPAGE = "https://blog.scrymore.com/paper/"

    def _official(self, dl_manager: Any) -> Any:
        raise UsageError("scry_design_diff: the authors' rows are not public; pass data_dir= with rows of your own")

    def complete(self, row: dict[str, Any]) -> dict[str, Any]:
        return complete(row)


def complete(row: dict[str, Any]) -> dict[str, Any]:
    """`row` with its issues checked and read, its bucket (``split`` is an alias) and its meta as text."""
    issues = row["issues"]
    if not isinstance(issues, list):
        raise UsageError(f"issues must be a list, found {type(issues).__name__}")
    row["issues"] = [_issue(issue, number) for number, issue in enumerate(issues)]
    row["bucket"] = row.get("bucket") or row.get("split") or bucket(len(issues))
    if row.get("meta") is not None and not isinstance(row["meta"], str):
        row["meta"] = json.dumps(row["meta"], ensure_ascii=False)
    return row


def bucket(n_issues: int, *, dense_from: int = 4) -> str:
    """The density bucket of a screen with `n_issues` (the cuts are ours: the paper's are not known).

    >>> [bucket(n) for n in (0, 1, 2, 3, 4, 9)]
    ['no-tagged', 'single', 'multi', 'multi', 'dense', 'dense']
    """
    if n_issues < 2:
        return BUCKETS[n_issues]
    return "dense" if n_issues >= dense_from else "multi"


def _issue(issue: Any, number: int) -> dict[str, Any]:
    if not isinstance(issue, dict):
        raise UsageError(f"issue {number} is no object")
    labels = issue.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise UsageError(f"issue {number}: labels must be a list of strings")
    labels = read_labels(labels)  # as those of a reply, so that the same tag is the same tag on both sides
    boxes = {side: _box(issue.get(side), f"issue {number}, {side}") for side in ("box_a", "box_b")}
    if not labels or not any(boxes.values()):
        lacking = "no box on either side" if labels else "no tag"
        raise UsageError(f"issue {number} has {lacking}, so no report could ever match it")
    return {"labels": labels, "note": str(issue.get("note") or ""), **boxes}


def _box(box: Any, where: str) -> dict[str, float] | None:
    if box is None:
        return None
    try:
        if any(isinstance(box[key], (bool, str)) for key in BOX):
            raise TypeError("not a number")
        values = {key: float(box[key]) for key in BOX}
    except (TypeError, KeyError, ValueError, OverflowError) as error:
        raise UsageError(f"{where}: a box has the numbers x, y, w, h") from error
    if not all(math.isfinite(value) for value in values.values()):
        raise UsageError(f"{where}: a box has finite numbers, found {values}")
    if values["w"] <= 0 or values["h"] <= 0:
        raise UsageError(f"{where}: width and height must be positive, found {values}")
    if min(values["x"], values["y"]) < 0 or max(values["x"] + values["w"], values["y"] + values["h"]) > 1 + 1e-9:
        raise UsageError(f"{where}: a box is given in fractions of the picture (0 to 1), found {values}")
    return values


if __name__ == "__main__":
    raise SystemExit(convert(ScryDesignDiff, README))
