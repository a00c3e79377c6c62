from __future__ import annotations

import copy
import doctest
import json

import evaluate
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffspot_hf.errors import UsageError
from diffspot_hf.scoring.issue_scores import score_issues

HEADLINE = ("known_issue_recall", "diagnostic_precision", "issue_f1", "diff_screen_recall", "no_diff_specificity")


@pytest.fixture(scope="module")
def metric(request):
    return evaluate.load(str(request.config.rootpath / "metrics/known_issue_recall"))


def issue(*labels, at=0.0):
    return {"labels": list(labels), "box_a": {"x": at, "y": 0.1, "w": 0.1, "h": 0.1}, "box_b": None}


ROWS = [[issue("Typography"), issue("Icon/Nav", at=0.3)], [issue("other")], []]


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou", "dicobench_accuracy"])
def test_examples_of_the_description_run(name, repo):
    module = evaluate.load(str(repo / "metrics" / name))
    examples = doctest.DocTestParser().get_doctest(module.inputs_description, {}, name, None, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou", "dicobench_accuracy"])
def test_the_code_of_the_card_runs(name, repo):
    card = (repo / "metrics" / name / "README.md").read_text(encoding="utf-8")
    for block in card.split("```python\n")[1:]:
        exec(block.split("```")[0], {})


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        (ROWS, [1.0, 1.0, 1.0, 1.0, 1.0]),
        ([[], [], []], [0.0, 0.0, 0.0, 0.0, 1.0]),
        ([[{"labels": ["other"]}]] * 3, [0.0, 0.0, 0.0, 0.0, 0.0]),
    ],
    ids=["oracle", "always none", "always generic"],
)
def test_static_controls(metric, predictions, expected):
    scores = metric.compute(predictions=predictions, references=ROWS)
    assert [scores[name] for name in HEADLINE] == expected


def test_equals_the_core_to_the_last_digit(metric):
    third = [{"labels": ["Typography"], "box_a": {"x": 1 / 3, "y": 0.1, "w": 1 / 7, "h": 0.1}, "box_b": None}]
    predictions = [third, ROWS[1] + third, []]
    got = metric.compute(predictions=predictions, references=ROWS, buckets=["multi", "single", "no-tagged"])
    assert got == score_issues(predictions, ROWS, buckets=["multi", "single", "no-tagged"])


def test_one_by_one_in_batches_and_at_once_are_the_same(metric):
    states, buckets = ["ok", "truncated", "unparsed"], ["a", "b", None]
    once = metric.compute(predictions=ROWS, references=ROWS, states=states, buckets=buckets)
    for row, state, bucket in zip(ROWS, states, buckets, strict=True):
        metric.add(prediction=row, reference=row, state=state, bucket=bucket)
    assert metric.compute() == once
    metric.add_batch(predictions=ROWS[:2], references=ROWS[:2], states=states[:2], buckets=buckets[:2])
    metric.add_batch(predictions=ROWS[2:], references=ROWS[2:], states=states[2:], buckets=buckets[2:])
    assert metric.compute() == once


def test_missing_keys_extra_keys_and_missing_rows(metric):
    predictions = [
        [{"label": "typography", "note": "x", "score": 1, "box_a": ROWS[0][0]["box_a"] | {"z": 1}}],
        None,
        None,
    ]
    scores = metric.compute(predictions=predictions, references=ROWS)
    assert (scores["matched"], scores["predicted"], scores["health"]["missing"]) == (1, 1, 2)
    assert scores["coverage"]["value"] == pytest.approx(1 / 3)
    assert scores["no_diff_specificity"] == 0.0
    metric.add(prediction=None, reference=[])
    assert metric.compute()["health"]["missing"] == 1


def test_options_are_keywords_of_compute(metric):
    references = [[], []]
    for reading, value in {"failed": 0.5, "abstained": 1.0, "excluded": 1.0}.items():
        scores = metric.compute(
            predictions=[[], []], references=references, states=["ok", "empty"], malformed_controls=reading
        )
        assert scores["no_diff_specificity"] == value
    far = [[issue("other", at=0.05)]]
    assert metric.compute(predictions=far, references=[[issue("other")]], iou_threshold=0.5)["matched"] == 0
    assert metric.compute(predictions=far, references=[[issue("other")]], method="greedy")["matched"] == 1


def test_inputs_are_left_as_they_were(metric):
    predictions, references = copy.deepcopy(ROWS), copy.deepcopy(ROWS)
    metric.compute(predictions=predictions, references=references)
    assert predictions == references == ROWS


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([["x"], [], []], "an issue is 'x'"),
        (["text", [], []], "a row is 'text'"),
        ([[{"box_a": [1]}], [], []], "a box is"),
    ],
)
def test_what_is_no_issue_is_refused_in_one_line(metric, predictions, message):
    with pytest.raises(UsageError, match=message):
        metric.compute(predictions=predictions, references=ROWS)


def test_columns_of_unequal_length_are_refused(metric):
    with pytest.raises(UsageError, match="3 rows but 1 states"):
        metric.compute(predictions=ROWS, references=ROWS, states=["ok"])
    with pytest.raises(ValueError, match="Mismatch"):
        metric.compute(predictions=ROWS, references=ROWS[:2])


def test_combines_with_another_metric(repo):
    both = evaluate.combine([str(repo / "metrics" / name) for name in ("known_issue_recall", "tag_box_iou")])
    scores = both.compute(predictions=ROWS, references=ROWS)
    assert (scores["known_issue_recall"], scores["mean_iou"]) == (1.0, pytest.approx(1.0))


def test_results_are_plain_json(metric):
    scores = metric.compute(predictions=ROWS, references=ROWS)
    assert json.loads(json.dumps(scores))["known_issue_recall"] == 1.0


sides = st.sampled_from([0.0, 0.1, 0.25, 1 / 3])
boxes = st.none() | st.fixed_dictionaries(dict.fromkeys("xywh", sides))
rows = st.lists(
    st.fixed_dictionaries(
        {"labels": st.lists(st.sampled_from(["other", "Typography"]), max_size=2)}, optional={"box_a": boxes}
    ),
    max_size=3,
)


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_shuffled_rows_give_the_same_figures(repo_metric, pairs, rng):
    before = repo_metric.compute(predictions=[p for p, _ in pairs], references=[r for _, r in pairs])
    rng.shuffle(pairs)
    assert repo_metric.compute(predictions=[p for p, _ in pairs], references=[r for _, r in pairs]) == before


@pytest.fixture(scope="module")
def repo_metric(metric):
    return metric
