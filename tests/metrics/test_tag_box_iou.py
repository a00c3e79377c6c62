from __future__ import annotations

import evaluate
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffspot_hf.scoring.iou_scores import THRESHOLDS, score_overlap
from diffspot_hf.scoring.matching import match_issues


@pytest.fixture(scope="module")
def metric(request):
    return evaluate.load(str(request.config.rootpath / "metrics/tag_box_iou"))


def issue(width, *labels):
    return {"labels": list(labels or ("other",)), "box_a": {"x": 0.0, "y": 0.0, "w": width, "h": 1.0}, "box_b": None}


def test_mean_and_quartiles_of_known_overlaps(metric):
    predictions = [[issue(width)] for width in (0.2, 0.4, 0.6, 0.8, 1.0)]
    scores = metric.compute(predictions=predictions, references=[[issue(1.0)]] * 5)
    assert scores["mean_iou"] == pytest.approx(0.6)
    assert scores["quartiles"] == pytest.approx([0.4, 0.6, 0.8])
    assert [scores["recall_at"][f"{t:.1f}"]["numerator"] for t in THRESHOLDS] == [5, 5, 4, 4, 3, 3, 2, 2, 1]


def test_nothing_matched(metric):
    scores = metric.compute(predictions=[[], [issue(1.0, "Typography")]], references=[[issue(1.0)], [issue(1.0)]])
    assert (scores["mean_iou"], scores["quartiles"], scores["matched"]) == (0.0, [None] * 3, 0)
    assert all(figure["value"] == 0.0 for figure in scores["recall_at"].values())


def test_one_by_one_is_as_at_once(metric):
    for width in (0.5, 1.0):
        metric.add(prediction=[issue(width)], reference=[issue(1.0)])
    metric.add(prediction=None, reference=[issue(1.0)])
    scores = metric.compute()
    assert (scores["mean_iou"], scores["matched"], scores["human"], scores["n_total"]) == (0.75, 2, 3, 3)


def test_a_row_that_was_not_read_has_no_boxes(metric):
    scores = metric.compute(predictions=[[issue(1.0)]], references=[[issue(1.0)]], states=["unparsed"])
    assert scores["matched"] == 0


@pytest.mark.parametrize("x", [0.1, 0.3, 1 / 3, 0.57, 0.7])
def test_no_figure_is_above_one(metric, x):
    box = {"x": x, "y": x / 3, "w": 0.3 - x / 7, "h": x / 9}
    rows = [[{"labels": ["other"], "box_a": box}]]
    scores = metric.compute(predictions=rows, references=rows)
    assert max(scores["mean_iou"], *scores["quartiles"]) <= 1
    assert scores["mean_iou"] == pytest.approx(1)


def test_options(metric):
    given = {"predictions": [[issue(0.3)]], "references": [[issue(1.0)]]}
    assert metric.compute(**given, iou_threshold=0.5)["matched"] == 0
    assert metric.compute(**given, method="greedy")["matched"] == 1


rows = st.lists(
    st.builds(issue, st.sampled_from([0.1, 0.15, 0.3, 0.55, 0.7, 1.0]), st.sampled_from(["a", "b"])), max_size=4
)


@given(rows, rows)
def test_each_recall_is_the_matching_at_its_threshold_and_they_fall(predicted, human):
    scores = score_overlap([predicted], [human])
    counts = [scores["recall_at"][f"{t:.1f}"]["numerator"] for t in THRESHOLDS]
    assert counts == [len(match_issues(predicted, human, iou_threshold=t)) for t in THRESHOLDS]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == scores["matched"]
