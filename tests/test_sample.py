"""The web sample that ships: every pair proved from its pixels, without any code of the builder."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from diffspot_hf.loading import load, sample_digests
from diffspot_hf.scoring.operators import FAMILY, TIERS

KEYS = {"type", "element", "property", "direction", "old_value", "new_value", "template"}


@pytest.fixture(scope="module")
def rows():
    return list(load("diffspot"))


def changed(row):
    """Which pixels differ in any channel, shape (height, width)."""
    before, after = (np.asarray(row[column].convert("RGB")) for column in ("image_before", "image_after"))
    return (before != after).any(axis=-1)


def test_it_has_every_cell_once_and_nine_pairs_without_a_change(rows):
    cells = Counter((row["operator"], row["difficulty"]) for row in rows if row["task_type"] == "visual_diff")
    assert cells == {(operator, tier): 1 for operator in FAMILY for tier in TIERS}
    assert sum(row["task_type"] == "no_diff" for row in rows) == 9


def test_it_is_spread_over_pages_domains_and_mechanisms(rows):
    assert len({row["page_id"] for row in rows}) >= 24
    assert len({row["domain"] for row in rows}) >= 8
    assert sum(row["mechanism"] == "class_swap" for row in rows) >= 8


def test_every_changed_pixel_lies_inside_its_box(rows):
    for row in rows:
        mask = changed(row)
        assert mask.shape == (800, 1280)
        if row["task_type"] == "no_diff":
            assert not mask.any(), row["id"]
            continue
        x, y, w, h = (row[f"target_bbox_{side}"] for side in "xywh")
        inside = mask[y : y + h, x : x + w].sum()
        assert inside == mask.sum() == row["target_diff"] > 0, row["id"]
        assert row["outside_diff"] == 0
        assert row["pixel_diff"] == pytest.approx(100 * mask.mean(), abs=1e-3)


def test_the_columns_are_what_a_loader_of_the_official_data_expects(rows):
    for row in rows:
        lists = [row["mutations_text"], row["mutation_types"], row["mutation_dicts_json"]]
        has_diff = row["task_type"] == "visual_diff"
        assert [len(values) for values in lists] == [int(has_diff)] * 3
        assert row["difficulty"] in (TIERS if has_diff else ("no_diff",))
        if not has_diff:
            assert [row[f"target_bbox_{side}"] for side in "xywh"] == [-1] * 4
            assert row["pixel_diff"] == row["outside_diff"] == 0
            meta = json.loads(row["meta"])
            assert meta["loads"] == 2
            assert meta["captures"]["before"] == meta["captures"]["after"]
            continue
        record = json.loads(row["mutation_dicts_json"][0])
        assert set(record) == KEYS
        assert all(record[key] for key in KEYS - {"direction", "old_value", "new_value"})
        assert row["mutation_types"] == [f"mutate_{record['type']}"]
        assert row["operator"] == record["type"]
        assert row["ground_truth_diff"]


def test_the_sample_knows_itself(rows):
    assert len(sample_digests("diffspot")) == len(rows) - _shared(rows)


def _shared(rows):
    """Rows whose two pictures are those of another row."""
    pairs = [(row["image_before"].tobytes(), row["image_after"].tobytes()) for row in rows]
    return len(pairs) - len(set(pairs))


def test_it_is_small_enough_for_the_wheel(repo):
    files = (repo / "diffspot_hf" / "data" / "diffspot").rglob("*")
    assert sum(file.stat().st_size for file in files if file.is_file()) <= 10_000_000
