"""DiffSpot: pairs of web page screenshots with at most one verified change.

As a module this is the builder behind ``load_dataset("diffspot")``; as a program it writes a Parquet copy::

    python dataset_scripts/diffspot.py --data-dir DIR --out DIR
"""

from __future__ import annotations

from typing import Any

from datasets import Features, Image, List, Value

from diffspot_hf.dataset_scripts.common import PairBuilder, configurations, convert

TEXT, INT, FLOAT = Value("string"), Value("int64"), Value("float64")

FEATURES = Features(
    {
        "id": TEXT,
        "image_before": Image(),
        "image_after": Image(),
        "user_query": TEXT,
        "ground_truth_diff": TEXT,
        "mutations_text": List(TEXT),
        "mutation_types": List(TEXT),
        "mutation_dicts_json": List(TEXT),
        "task_type": TEXT,
        "difficulty": TEXT,
        "domain": TEXT,
        "pixel_diff": FLOAT,
        "target_diff": FLOAT,
        "outside_diff": FLOAT,
        "target_bbox_x": INT,
        "target_bbox_y": INT,
        "target_bbox_w": INT,
        "target_bbox_h": INT,
        # ours
        "page_id": TEXT,
        "operator": TEXT,
        "family": TEXT,
        "mechanism": TEXT,
        "selector": TEXT,
        "magnitude": TEXT,
        "meta": TEXT,
    }
)
"""The official 18 columns, then ours. `pixel_diff` is the share of changed pixels of the picture in percent,
`target_diff` and `outside_diff` are changed pixels inside and outside the box, the box is xywh_px in the screenshot.
`meta` is a JSON object that a model never sees."""

README = """---
configs:
- config_name: default
  data_files:
  - split: test
    path: data/test-*.parquet
task_categories: [image-to-text, visual-question-answering]
tags: [visual-change-detection, spot-the-difference, web-ui]
---

# DiffSpot pairs

{rows} pairs of web page screenshots, written by `dataset_scripts/diffspot.py` of diffspot-hf.
`task_type` is `visual_diff` (exactly one change, inside the box `target_bbox_*`) or `no_diff` (two identical renders).
"""

_DEFAULTS: dict[str, Any] = {
    "user_query": "",
    "ground_truth_diff": "",
    "mutations_text": [],
    "mutation_types": [],
    "mutation_dicts_json": [],
    "domain": "other",
    "target_bbox_x": -1,
    "target_bbox_y": -1,
    "target_bbox_w": -1,
    "target_bbox_h": -1,
}


class Diffspot(PairBuilder):
    """Pairs of web page screenshots; each differs by exactly one CSS or text change, or not at all."""

    BUILDER_CONFIGS = configurations("the authors' 4,400 pairs")
    BENCHMARK = "diffspot"
    FEATURES = FEATURES
    PICTURES = ("image_before", "image_after")
    REQUIRED = ("id", "image_before", "image_after", "task_type", "difficulty")
    OFFICIAL = ("tencent/DiffSpot", "c6dd79d5e1c0cbb4e7ca234c9f53c418a75e30ce")
    LICENSE = "MIT"
    HOMEPAGE = "https://arxiv.org/abs/2605.29615"

    def complete(self, row: dict[str, Any]) -> dict[str, Any]:
        from diffspot_hf.scoring.operators import FAMILY, bare_operator

        filled = _DEFAULTS | {column: value for column, value in row.items() if value is not None}
        if not filled.get("operator") and filled["mutation_types"]:
            filled["operator"] = bare_operator(filled["mutation_types"][0])
        if not filled.get("family") and filled.get("operator"):
            filled["family"] = FAMILY.get(filled["operator"])
        return filled


if __name__ == "__main__":
    raise SystemExit(convert(Diffspot, README))
