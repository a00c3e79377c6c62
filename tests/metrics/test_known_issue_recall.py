from __future__ import annotations

import copy
import doctest
import json

import evaluate
import numpy as np
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
        ([[{"box_a": np.array([0, 0, 1, 1])}], [], []], r"a box is \[0, 0, 1, 1\]: give an object"),
        ([[], (one for one in ()), []], "predictions, row 1: a generator is given"),
        ([[{"labels": (one for one in ["other"])}], [], []], "predictions, row 0: a generator is given"),
        ((row for row in ROWS), "predictions is a generator"),
        ("text", "predictions is a str"),
        ({"a": []}, "predictions is a dict"),
        (5, "predictions is a int"),
        (None, "predictions are missing"),
    ],
)
def test_what_is_no_issue_is_refused_in_one_line(metric, predictions, message):
    with pytest.raises(UsageError, match=message):
        metric.compute(predictions=predictions, references=ROWS)


BOX = {"x": 0.1, "y": 0.1, "w": 0.25, "h": 0.25}
PIXELS = {"x": 10, "y": 10, "w": 100, "h": 50}
BAD_REFERENCES = [
    (None, "references are missing"),
    ([None], "references, row 0 is None: give the list of known issues"),
    ((row for row in [[]]), "references is a generator"),
    ([[{"labels": ["other"], "box_b": PIXELS}]], "references, row 0, issue 0: box_b .* leaves the picture"),
    ([[issue("other"), issue("other", at=12.0)]], "references, row 0, issue 1: box_a"),
    ([[issue("other", at=-3.0)]], "divide pixels by its width and height"),
]


def test_a_known_issue_may_reach_over_the_edge(metric):
    over = [[issue("other", at=0.95)]]
    assert metric.compute(predictions=over, references=over)["known_issue_recall"] == 1.0


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou"])
@pytest.mark.parametrize(("references", "message"), BAD_REFERENCES)
def test_what_cannot_be_known_is_refused(repo, name, references, message):
    metric = evaluate.load(str(repo / "metrics" / name))
    with pytest.raises(UsageError, match=message):
        metric.compute(predictions=[[]], references=references)


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prediction": []}, "row 0 is None: give the list of known issues"),
        ({"prediction": [], "reference": None}, "row 0 is None: give the list of known issues"),
        ({}, "row 0 is None: give the list of known issues"),
        ({"prediction": [], "reference": [{"box_a": PIXELS}]}, "leaves the picture"),
        ({"prediction": [], "reference": [], "state": "fine"}, "unknown state 'fine'"),
        ({"prediction": [], "reference": [], "state": "ok", "states": "ok"}, "states is given twice"),
        ({"prediction": [], "reference": [], "stat": "ok"}, "unknown input 'stat': there are predictions, references"),
    ],
)
def test_a_row_that_cannot_be_added_is_refused(repo, name, row, message):
    metric = evaluate.load(str(repo / "metrics" / name))
    with pytest.raises(UsageError, match=message):
        metric.add(**row)
    assert len(metric) == 0


BAD_OPTIONS = [
    ({"iou_threshold": "0.1"}, "iou_threshold is '0.1': give a number"),
    ({"iou_threshold": None}, "iou_threshold is None: give a number"),
    ({"iou_threshold": True}, "iou_threshold is True: give a number"),
    ({"iou_threshold": [0.1]}, "iou_threshold is \\[0.1\\]: give a number"),
    ({"iou_threshold": float("nan")}, "iou_threshold is nan: give a number"),
    ({"iou_threshold": 1.5}, "iou_threshold is 1.5: it must be"),
    ({"method": "best"}, "unknown matching method 'best'"),
    ({"method": None}, "unknown matching method None"),
    ({"iou_treshold": 0.1}, "unknown option 'iou_treshold': there are iou_threshold, method"),
]


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou"])
@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_a_wrong_option_is_named_and_the_added_rows_stay(repo, name, options, message):
    metric = evaluate.load(str(repo / "metrics" / name))
    metric.add_batch(predictions=ROWS, references=ROWS)
    with pytest.raises(UsageError, match=message):
        metric.compute(**options)
    assert metric.compute()["n_total"] == 3


def test_a_wrong_reading_of_malformed_controls_is_named(metric):
    with pytest.raises(UsageError, match="malformed_controls is None"):
        metric.compute(predictions=ROWS, references=ROWS, malformed_controls=None)


def test_states_and_buckets_that_are_no_lists_are_named(metric):
    for name in ("states", "buckets"):
        for value in ("ok", (one for one in ["ok"] * 3)):
            with pytest.raises(UsageError, match=f"{name} is a"):
                metric.compute(predictions=ROWS, references=ROWS, **{name: value})


KINDS = [
    np.float32,
    np.float64,
    np.array,
    str,
    lambda number: np.array(number, dtype=np.float32),
    lambda number: np.array(number, dtype=object),
]
LABELS = [("Typography", "other"), {"Typography", "other"}, frozenset(["other", "Typography"])]
LABELS += [np.array(["Typography", "other"]), np.array(["other", "Typography"], dtype=object)]


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["predictions", "references"])
def test_numbers_of_every_kind_are_numbers(repo, name, kind, side):
    metric = evaluate.load(str(repo / "metrics" / name))
    plain = [[{"labels": ["other"], "box_a": BOX}]]
    other = [[{"labels": ["other"], "box_a": {key: kind(value) for key, value in BOX.items()}}]]
    scores = metric.compute(**({"predictions": plain, "references": plain} | {side: other}))
    assert scores["matched"] == 1
    assert scores.get("mean_iou", 1) == pytest.approx(1, abs=1e-6)


def test_whole_numbers_of_numpy_are_numbers(metric):
    whole = [[{"labels": ["other"], "box_a": dict(zip("xywh", np.array([0, 0, 1, 1]), strict=True))}]]
    assert metric.compute(predictions=whole, references=whole)["matched"] == 1


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: type(labels).__name__)
def test_labels_in_any_collection_are_labels(metric, labels):
    known = [[{"labels": ["Typography", "other"], "box_a": BOX}]]
    given = [[{"labels": labels, "box_a": BOX}]]
    assert metric.compute(predictions=given, references=known) == metric.compute(predictions=known, references=known)
    assert metric.compute(predictions=known, references=given)["by_tag"]["other"]["matched"] == 1


@pytest.mark.parametrize(
    "kind", [tuple, lambda rows: np.array([*rows, None], dtype=object)[:-1], lambda rows: [np.array(r) for r in rows]]
)
def test_rows_in_any_sequence_are_rows(metric, kind):
    assert metric.compute(predictions=kind(ROWS), references=kind(ROWS)) == score_issues(ROWS, ROWS)


def test_a_threshold_of_numpy_is_one(metric):
    scores = metric.compute(predictions=ROWS, references=ROWS, iou_threshold=np.float64(0.5))
    assert json.loads(json.dumps(scores))["settings"]["iou_threshold"] == 0.5


@pytest.mark.parametrize(
    "names",
    [
        ("prediction", "reference", "state", "bucket"),
        ("prediction", "reference", "states", "buckets"),
        ("predictions", "references", "states", "buckets"),
    ],
)
def test_singular_and_plural_names_mean_the_same(metric, names):
    metric.add(**dict(zip(names, ([], [issue("other")], "unparsed", "single"), strict=True)))
    scores = metric.compute()
    assert (scores["health"]["unparsed"], scores["by_bucket"]["single"]["human"]) == (1, 1)
    given = [[[]], [[issue("other")]], ["unparsed"], ["single"]]
    assert metric.compute(**dict(zip(names, given, strict=True))) == scores
    metric.add_batch(**dict(zip(names, given, strict=True)))
    assert metric.compute() == scores


@pytest.mark.parametrize("name", ["known_issue_recall", "tag_box_iou"])
def test_predicted_boxes_outside_the_picture_are_counted(repo, name):
    metric = evaluate.load(str(repo / "metrics" / name))
    predictions = [[{"labels": ["other"], "box_a": PIXELS, "box_b": PIXELS}, issue("other"), issue("other", at=0.95)]]
    assert metric.compute(predictions=predictions, references=[[issue("other")]])["boxes_outside_frame"] == 3
    unread = metric.compute(predictions=predictions, references=[[]], states=["unparsed"])
    assert unread["boxes_outside_frame"] == 0
    edge = {"x": np.float32(0.7), "y": 0.9, "w": np.float32(0.3), "h": 0.1}
    rows = [[{"labels": ["other"], "box_a": edge}]]
    assert metric.compute(predictions=rows, references=rows)["boxes_outside_frame"] == 0


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
