from __future__ import annotations

import itertools

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.published import table
from diffspot_hf.scoring.issue_rows import normal_issue, normal_row, normal_states
from diffspot_hf.scoring.issue_scores import ISSUE_STATES, issue_rates, score_issues

HEADLINE = ("known_issue_recall", "diagnostic_precision", "issue_f1", "diff_screen_recall", "no_diff_specificity")


def issue(*labels, at=0.0, side="box_a"):
    box = {"x": at, "y": 0.0, "w": 0.1, "h": 0.1}
    return {"labels": list(labels), "box_a": None, "box_b": None} | {side: box}


ROWS = [
    [issue("Typography"), issue("Icon/Nav", at=0.2)],
    [issue("Typography", "other", side="box_b")],
    [],
    [],
]
BUCKETS = ["multi", "single", "no-tagged", "no-tagged"]
GENERIC = [{"labels": ["other"], "box_a": None, "box_b": None}]


def test_the_oracle_is_right_in_everything():
    scores = score_issues(ROWS, ROWS, buckets=BUCKETS)
    assert [scores[name] for name in HEADLINE] == [1.0] * 5
    assert (scores["matched"], scores["predicted"], scores["human"], scores["flagged_controls"]) == (3, 3, 3, 0)
    assert scores["undefined"] == []


def test_always_none_finds_nothing_and_flags_nothing():
    scores = score_issues([[]] * 4, ROWS)
    assert [scores[name] for name in HEADLINE] == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert scores["undefined"] == ["diagnostic_precision"]


def test_always_generic_finds_nothing_and_flags_everything():
    scores = score_issues([GENERIC] * 4, ROWS)
    assert [scores[name] for name in HEADLINE] == [0.0] * 5
    assert (scores["predicted"], scores["flagged_controls"]) == (4, 2)


def test_one_issue_found_counts_for_the_screen():
    scores = score_issues([ROWS[0][:1], [], [], GENERIC], ROWS)
    assert scores["rates"]["known_issue_recall"]["numerator"] == 1
    assert scores["rates"]["diff_screen_recall"]["value"] == 0.5
    assert scores["no_diff_specificity"] == 0.5


def test_no_rows_at_all():
    scores = score_issues([], [])
    assert scores["undefined"] == list(HEADLINE)
    assert scores["n_total"] == sum(scores["health"].values()) == 0
    assert scores["rates"]["known_issue_recall"]["ci95"] is None


@pytest.mark.parametrize("state", [state for state in ISSUE_STATES if state not in ("ok", "truncated")])
def test_a_row_that_was_not_read_has_no_issues_and_is_no_abstention(state):
    scores = score_issues([ROWS[0], [], GENERIC, []], ROWS, [state, "ok", state, "ok"])
    assert scores["matched"] == scores["predicted"] == scores["flagged_controls"] == 0
    assert scores["malformed_controls"] == 1
    assert scores["no_diff_specificity"] == 0.5
    assert scores["health"][state] == 2
    assert scores["coverage"]["value"] == (0.5 if state == "missing" else 1.0)


def test_a_truncated_row_keeps_its_issues_and_counts_as_no_abstention_without_any():
    scores = score_issues([ROWS[0], [], GENERIC, []], ROWS, ["truncated"] * 4)
    assert (scores["matched"], scores["flagged_controls"], scores["malformed_controls"]) == (2, 1, 1)
    assert scores["no_diff_specificity"] == 0.0
    assert scores["over_parsed"]["human"] == 0


@pytest.mark.parametrize(
    ("reading", "value", "denominator"), [("failed", 1 / 3, 3), ("abstained", 2 / 3, 3), ("excluded", 0.5, 2)]
)
def test_readings_of_a_malformed_control(reading, value, denominator):
    predictions, references = [[], GENERIC, []], [[], [], []]
    scores = score_issues(predictions, references, ["ok", "ok", "unparsed"], malformed_controls=reading)
    assert scores["no_diff_specificity"] == pytest.approx(value)
    assert scores["rates"]["no_diff_specificity"]["denominator"] == denominator
    assert scores["readings"]["no_diff_specificity"][reading] == scores["rates"]["no_diff_specificity"]


def test_both_denominators_of_precision():
    scores = score_issues([ROWS[0], [], GENERIC, []], ROWS)
    both = scores["readings"]["diagnostic_precision"]
    assert (both["all_rows"]["denominator"], both["diff_screens"]["denominator"]) == (3, 2)
    assert scores["readings"]["issue_f1"]["diff_screens"]["value"] == pytest.approx(2 * 2 / (2 + 3))


def test_greedy_stands_beside_maximum():
    wide, narrow = issue("other"), issue("other")
    wide["box_a"] = {"x": 0, "y": 0, "w": 0.5, "h": 0.25}
    narrow["box_a"] = {"x": 0, "y": 0, "w": 0.25, "h": 0.25}
    left, right = issue("other"), issue("other")
    left["box_a"] = {"x": 0, "y": 0, "w": 0.25, "h": 0.25}
    right["box_a"] = {"x": 0.375, "y": 0, "w": 0.5, "h": 0.25}
    scores = score_issues([[wide, narrow]], [[left, right]])
    greedy = score_issues([[wide, narrow]], [[left, right]], method="greedy")
    assert (scores["matched"], greedy["matched"]) == (2, 1)
    for name in ("known_issue_recall", "diagnostic_precision", "issue_f1"):
        for read in (scores["readings"][name], greedy["readings"][name]):
            assert (read["maximum"]["value"], read["greedy"]["value"]) == (1.0, 0.5)


def test_by_tag_counts_an_issue_under_each_of_its_tags():
    scores = score_issues([ROWS[0][:1], ROWS[1], [], [issue("Sparkle")]], ROWS)
    tags = scores["by_tag"]
    assert list(tags) == ["Icon/Nav", "Typography", "other", "Sparkle"]
    assert (tags["Typography"]["matched"], tags["Typography"]["human"], tags["Typography"]["recall"]) == (2, 2, 1.0)
    assert (tags["Icon/Nav"]["recall"], tags["Sparkle"]["human"], tags["Sparkle"]["predicted"]) == (0.0, 0, 1)
    assert all(entry["few"] for entry in tags.values())
    first = scores["readings"]["by_tag_of_first_label"]
    assert "other" not in first
    assert first["Typography"]["denominator"] == 2


def test_a_tag_with_five_issues_is_not_few():
    row = [issue("Typography", at=n / 10) for n in range(5)]
    assert score_issues([[]], [row])["by_tag"]["Typography"]["few"] is False


def test_by_bucket_in_the_order_of_density():
    scores = score_issues([ROWS[0], [], GENERIC, []], ROWS, buckets=["dense", None, "no-tagged", "no-tagged"])
    buckets = scores["by_bucket"]
    assert list(buckets) == ["no-tagged", "dense", "unknown"]
    assert (buckets["dense"]["recall"], buckets["dense"]["precision"], buckets["unknown"]["recall"]) == (1.0, 1.0, 0.0)
    assert (buckets["no-tagged"]["n_screens"], buckets["no-tagged"]["screens_with_a_report"]) == (2, 1)
    assert sum(bucket["human"] for bucket in buckets.values()) == scores["human"]


def test_order_of_rows_and_predictions_changes_nothing():
    extra = [issue("Typography", at=0.02), issue("Typography", at=0.04), issue("Icon/Nav", at=0.21)]
    rows = list(zip([ROWS[0] + extra, extra, GENERIC, []], ROWS, BUCKETS, strict=True))
    reference = score_issues(*map(list, zip(*[(p, r) for p, r, _ in rows], strict=True)), buckets=BUCKETS)
    for shuffled in itertools.permutations(rows):
        predictions, references, buckets = (list(column) for column in zip(*shuffled, strict=True))
        turned = [list(reversed(row)) for row in predictions]
        assert score_issues(turned, references, buckets=buckets) == reference


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"states": ["ok"]}, "4 references but 1 states"),
        ({"buckets": ["dense"]}, "4 references but 1 buckets"),
        ({"states": ["fine"] * 4}, "unknown state 'fine'"),
        ({"malformed_controls": "ignored"}, "failed, abstained, excluded"),
        ({"method": "best"}, "unknown matching method"),
        ({"iou_threshold": 0}, "iou_threshold"),
        ({"iou_threshold": "0.1"}, "iou_threshold is '0.1'"),
        ({"iou_threshold": None}, "iou_threshold is None"),
    ],
    ids=str,
)
def test_wrong_calls_say_what_to_do(kwargs, message):
    with pytest.raises(UsageError, match=message):
        score_issues(ROWS, ROWS, **kwargs)


def test_a_known_issue_in_pixels_is_refused_and_a_predicted_one_is_counted():
    pixels = [[{"labels": ["other"], "box_a": {"x": 5, "y": 5, "w": 50, "h": 20}, "box_b": None}]]
    with pytest.raises(UsageError, match="row 0, issue 0: box_a .* leaves the picture"):
        score_issues([[]], pixels)
    assert score_issues(pixels, [[]])["boxes_outside_frame"] == 1


def test_predictions_of_another_length():
    with pytest.raises(UsageError, match="4 references but 1 predictions"):
        score_issues([[]], ROWS)


# -- published rows -------------------------------------------------------------------------------------------------


def published(metric, run="full", where="all"):
    rows = table("scry_results")
    return {r["model"]: float(r["value"]) for r in rows if (r["metric"], r["run"], r["slice"]) == (metric, run, where)}


def percent(figure):
    return round(100 * figure["value"], 1)


def test_six_published_rows_follow_from_their_counts():
    human = int(published("scored_issues")[""])
    matched, recall = published("matched_issues"), published("known_issue_recall_pct")
    precision, f1 = published("diagnostic_precision_pct"), published("issue_f1_pct")
    low = published("predicted_issues") | published("predicted_issues_min")
    high = published("predicted_issues") | published("predicted_issues_max")
    models = [model for model in f1 if model in matched]
    assert len(models) == 6
    for model in models:
        for predicted in {low[model], high[model]}:
            rates = issue_rates(int(matched[model]), int(predicted), human)
            assert percent(rates["known_issue_recall"]) == recall[model]
            assert percent(rates["diagnostic_precision"]) == precision[model], model
            assert percent(rates["issue_f1"]) == f1[model], model


def test_the_counts_behind_the_published_rows_are_the_only_ones():
    human = int(published("scored_issues")[""])
    for model, recall in published("known_issue_recall_pct").items():
        if model in published("matched_issues"):
            fitting = [
                m for m in range(human + 1) if percent(issue_rates(m, human, human)["known_issue_recall"]) == recall
            ]
            assert fitting == [int(published("matched_issues")[model])], model


def test_published_gaps_and_slices():
    matched, predicted = published("matched_issues"), published("predicted_issues")
    kimi, gemini = "Kimi K2.7 Code + Together recovery", "Gemini 3.5 Flash"
    assert matched[gemini] - matched[kimi] == published("matched_issues_minus_kimi")[gemini]
    assert predicted[gemini] - predicted[kimi] == published("predicted_issues_minus_kimi")[gemini]
    dense = int(published("scored_issues", where="bucket=dense")[""])
    for model, found in published("matched_issues", where="bucket=dense").items():
        share = percent(issue_rates(int(found), dense, dense)["known_issue_recall"])
        assert share == published("known_issue_recall_pct", where="bucket=dense")[model]


@pytest.mark.parametrize(
    ("flagged", "model"),
    [(77, "Kimi K2.7 Code + Together recovery"), (76, "Codex GPT-5.5 xhigh"), (74, "Gemini 3.5 Flash")],
)
def test_published_specificity(flagged, model):
    controls = int(published("no_tagged_controls")[""])
    assert published("controls_flagged", where="bucket=no-tagged")[model] == flagged
    scores = score_issues([GENERIC] * flagged + [[]] * (controls - flagged), [[]] * controls)
    expected = published("no_diff_specificity_pct", where="bucket=no-tagged")[model]
    assert percent(scores["rates"]["no_diff_specificity"]) == expected


def test_controls_of_the_published_size():
    rows = [[issue("other", at=n / 10) for n in range(5)] for _ in range(26)]
    rows += [[issue("other"), issue("other", at=0.2)] for _ in range(26)] + [[issue("other")] for _ in range(182)]
    rows += [[issue("Typography")] * 193] + [[] for _ in range(76)]
    assert (len(rows), sum(map(len, rows))) == (311, 557)
    generic = score_issues([GENERIC] * 311, rows)
    assert generic["predicted"] == published("predicted_issues")["always-generic-issue"]
    assert score_issues(rows, rows)["predicted"] == published("predicted_issues")["oracle-notes"]


# -- rows as users hold them ----------------------------------------------------------------------------------------


def test_missing_keys_are_filled_and_extra_ones_dropped():
    assert normal_issue({}) == {"labels": [], "box_a": None, "box_b": None}
    full = {"label": "icon nav", "note": "n", "confidence": 1, "box_a": {"x": 0, "y": 0, "w": 1, "h": 1, "z": 5}}
    assert normal_issue(full)["box_a"] == {"x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0}
    assert normal_issue(full)["labels"] == ["Icon/Nav"]
    assert normal_issue({"labels": None, "label": "other"})["labels"] == ["other"]


@pytest.mark.parametrize("box", [{}, {"x": 0, "y": 0, "w": 0, "h": 1}, {"x": None, "y": 0, "w": 1, "h": 1}], ids=str)
def test_a_box_that_encloses_nothing_is_none(box):
    assert normal_issue({"box_b": box})["box_b"] is None


@pytest.mark.parametrize("row", ["text", {"labels": []}, 5, [7], ["x"], [{"box_a": [0, 0, 1, 1]}]], ids=str)
def test_what_is_no_row_of_issues_is_refused(row):
    with pytest.raises(UsageError, match="give"):
        normal_row(row)


def test_none_is_a_missing_row():
    assert normal_row(None) == []
    assert normal_states([None, [], None], None) == ["missing", "ok", "missing"]
    assert normal_states([None, [], None], ["ok", "empty", "error"]) == ["missing", "empty", "error"]
    with pytest.raises(UsageError, match="2 rows but 1 states"):
        normal_states([[], []], ["ok"])
