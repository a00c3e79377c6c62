from __future__ import annotations

import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.published import table
from diffspot_hf.scoring.mcq_scores import choice_scores, read_choice, score_choices

TASKS = [("differential", task) for task in ("attribute", "entity", "spatial", "reasoning")]
TASKS += [("commonality", task) for task in ("instance", "category", "spatial", "reasoning")]
SAMPLE = [(track, task, letter) for track, task in TASKS for letter in "ABCDE"]


def answered(reply):
    """The 40 items of eight groups of five, each answered by `reply(right letter)`."""
    return [read_choice(reply(a), a, task=task, track=track, group=f"{track}-{task}") for track, task, a in SAMPLE]


def test_the_oracle_is_right_everywhere():
    scores = choice_scores(answered(lambda letter: letter))
    assert scores["micro_accuracy"] == scores["macro_accuracy"] == 1.0
    assert scores["groups"]["all_right"]["value"] == scores["gold_none"]["value"] == scores["gold_cue"]["value"] == 1.0
    assert all(error["numerator"] == 0 for error in scores["errors"].values())


@pytest.mark.parametrize("letter", "ABCDE")
def test_always_one_letter_scores_exactly_its_share(letter):
    scores = choice_scores(answered(lambda _: letter))
    assert scores["micro_accuracy"] == scores["macro_accuracy"] == scores["letters"]["always"][letter] == 0.2
    assert scores["groups"]["all_right"]["value"] == 0.0
    assert scores["letters"]["strict"][letter] == 40
    assert scores["gold_none"]["value"] == (1.0 if letter == "E" else 0.0)


def test_an_even_key_has_chi_square_zero_and_an_uneven_one_does_not():
    even = choice_scores(answered(lambda letter: letter))["letters"]["key_chi_square"]
    assert even == {"statistic": 0.0, "degrees_of_freedom": 4, "p": 1.0}
    always_a = choice_scores([read_choice("A", "A") for _ in range(20)])["letters"]["key_chi_square"]
    assert always_a["statistic"] == pytest.approx(80)
    assert always_a["p"] < 1e-15


def test_each_kind_of_error_is_told_apart_and_they_sum_to_n():
    items = [("E", "A"), ("A", "E"), ("B", "A"), ("maybe", "A"), ("", "E"), ("A", "A"), ("E", "E")]
    scores = choice_scores([read_choice(reply, answer) for reply, answer in items])
    counts = {name: figure["numerator"] for name, figure in scores["errors"].items()}
    assert counts == {"missed_cue": 1, "thin_air": 1, "wrong_cue": 1, "format_failure": 2}
    assert sum(counts.values()) + scores["n_right"] == scores["n_total"] == 7
    assert (scores["gold_none"]["numerator"], scores["gold_none"]["denominator"]) == (1, 3)
    assert (scores["gold_cue"]["numerator"], scores["gold_cue"]["denominator"]) == (1, 4)
    assert (scores["says_none_and_right"]["numerator"], scores["says_none_and_right"]["denominator"]) == (1, 2)


def test_strict_is_the_headline_and_lenient_stands_beside_it():
    scores = choice_scores([read_choice("The answer is B.", "B"), read_choice("B", "B"), read_choice("C", "B")])
    assert scores["micro_accuracy"] == pytest.approx(1 / 3)
    assert scores["lenient"]["micro_accuracy"] == pytest.approx(2 / 3)
    assert (scores["unparsed"]["numerator"], scores["unparsed_lenient"]["numerator"]) == (1, 0)
    assert scores["over_parsed"]["micro_accuracy"] == 0.5
    assert scores["lenient"]["errors"]["format_failure"]["numerator"] == 0


def test_states_of_replies_and_of_rows_without_one():
    scores = choice_scores([read_choice(reply, "A") for reply in ("A", "a bird", "", " \n", None)])
    assert scores["health"] == {
        "ok": 1, "unparsed": 1, "empty": 2, "truncated": 0, "refused": 0, "error": 0, "missing": 1,
    }  # fmt: skip
    assert scores["empty"]["value"] == 0.4
    assert scores["micro_accuracy"] == 0.2
    assert choice_scores([read_choice("x", "A", state="truncated")])["health"]["truncated"] == 1


def test_macro_is_the_mean_of_the_tasks():
    choices = [read_choice("A", "A", task="one")] * 9 + [read_choice("B", "A", task="two")]
    scores = choice_scores(choices)
    assert (scores["micro_accuracy"], scores["macro_accuracy"]) == (0.9, 0.5)
    assert scores["by_task"]["one"]["n"] == 9


def test_tasks_of_one_name_on_two_tracks_stay_apart():
    scores = choice_scores(answered(lambda letter: letter))
    assert set(scores["by_task"]) >= {"differential/spatial", "commonality/spatial"}
    assert scores["by_track"]["commonality"]["n"] == 20


def test_a_group_counts_only_if_all_five_are_there():
    five = [read_choice(letter, letter, group="g") for letter in "ABCDE"]
    scores = choice_scores([*five, read_choice("A", "A", group="h"), read_choice("A", "A")])
    assert scores["groups"]["all_right"]["denominator"] == 1
    assert scores["groups"]["n_incomplete"] == 1


def test_no_items_at_all():
    scores = choice_scores([])
    assert scores["micro_accuracy"] is scores["macro_accuracy"] is scores["lenient"]["micro_accuracy"] is None
    assert scores["n_total"] == 0


def test_no_item_with_a_letter_has_no_accuracy_over_those_with_one():
    scores = choice_scores([read_choice("hm", "A")])
    assert (scores["micro_accuracy"], scores["over_parsed"]["micro_accuracy"]) == (0.0, None)


def test_rows_and_records_of_a_run():
    rows = [
        {
            "id": str(n),
            "answer": "B",
            "task": "entity",
            "track": "differential",
            "options": list("vwxyz"),
            "group_id": None,
        }
        for n in range(4)
    ]
    records = {
        "0": {"prediction": "B", "state": "ok", "notes": {"lenient": "B"}},
        "1": {"prediction": None, "state": "unparsed", "notes": {"lenient": "B"}},
        "2": {"prediction": "E", "state": "ok"},
    }
    scores = score_choices(rows, records)
    assert (scores["micro_accuracy"], scores["lenient"]["micro_accuracy"]) == (0.25, 0.5)
    assert scores["health"]["missing"] == 1
    assert scores["errors"]["missed_cue"]["numerator"] == 1


@pytest.mark.parametrize("letters", [5, None, "", "AA", "ab", ["A", "B"]], ids=repr)
def test_letters_that_are_none_are_refused(letters):
    with pytest.raises(UsageError, match="letters must be different capital letters"):
        read_choice("A", "A", letters=letters)


@pytest.mark.parametrize("answer", ["F", "", "AB", None])
def test_an_answer_that_is_no_letter_is_refused(answer):
    with pytest.raises(UsageError, match="none of the letters"):
        read_choice("A", answer)


def test_an_unknown_state_is_refused():
    with pytest.raises(UsageError, match="unknown state"):
        choice_scores([read_choice("A", "A", state="great")])


def test_items_with_fewer_options():
    scores = choice_scores([read_choice("A", "A", letters="ABC"), read_choice("D", "D")])
    assert scores["letters"]["key_chi_square"]["degrees_of_freedom"] == 4
    assert choice_scores([read_choice("D", "C", letters="ABC")])["health"]["unparsed"] == 1


# -- published rows -------------------------------------------------------------------------------------------------

ROWS = [row for row in table("dicobench_results") if row["metric"] == "accuracy_pct"]
COUNTS = {row["slice"]: int(row["value"]) for row in table("dicobench_results") if row["metric"] == "n_samples"}
ODD = {row["model"] for row in ROWS if row["status"] == "odd"}
WHOLE = [row["model"] for row in ROWS if row["slice"] == "differential/attribute" and row["model"] not in ODD]


def test_the_counts_sum_to_765_and_are_whole_groups_of_five():
    tasks = {f"{track}/{task}": COUNTS[f"{track}/{task}"] for track, task in TASKS}
    assert sum(tasks.values()) == COUNTS["total"] == 765
    assert all(count % 5 == 0 for count in tasks.values())


def test_which_rows_reconcile_is_known():
    assert sorted(WHOLE) == ["DeepEyes-7B", "GPT-5", "Human", "Qwen3-VL-8B", "TreeVGR-7B"]
    assert sorted(ODD) == ["GPT-4o", "Gemini-3-Flash", "Gemini-3-Pro"]


@pytest.mark.parametrize("model", WHOLE)
def test_a_published_row_is_recomputed_and_its_average_is_the_micro_one(model):
    printed = {row["slice"]: float(row["value"]) for row in ROWS if row["model"] == model}
    choices = []
    for track, task in TASKS:
        n = COUNTS[f"{track}/{task}"]
        right = round(printed[f"{track}/{task}"] * n / 100)
        choices += [read_choice("A" if k < right else "B", "A", track=track, task=task) for k in range(n)]
    scores = choice_scores(choices)
    for name, entry in scores["by_task"].items():
        assert round(100 * entry["accuracy"], 1) == printed[name]
    assert round(100 * scores["micro_accuracy"], 1) == printed["avg"]
    derived = {row["model"]: int(row["value"]) for row in table("dicobench_results") if row["metric"] == "n_right"}
    assert scores["n_right"] == derived[model]
    if model != "Human":
        assert round(100 * scores["macro_accuracy"], 1) != printed["avg"]


ODD_CELLS = [row for row in ROWS if row["status"] == "odd" and row["slice"] != "avg"]


@pytest.mark.parametrize("row", ODD_CELLS, ids=lambda row: f"{row['model']} {row['slice']}")
def test_an_odd_cell_is_no_share_of_its_task_or_is_said_why(row):
    n = COUNTS[row["slice"]]
    shares = {round(100 * k / n, 1) for k in range(n + 1)}
    assert float(row["value"]) not in shares or row["model"] == "Gemini-3-Flash"
    assert row["note"]


def test_a_reply_in_error_holds_no_letter():
    for state in ("error", "missing"):
        assert read_choice("A", "A", state=state)[1:3] == (None, None)


def test_the_letters_shown_are_counted_where_options_were_shuffled():
    rows = [{"id": str(n), "task": "t", "track": "", "answer": "A", "options": list("vwxyz")} for n in range(3)]
    orders = ("BACDE", "CABDE", "DBCAE")  # the right option A stands at B, B and D
    records = {
        str(n): {"prediction": orders[n][0], "state": "ok", "notes": {"shown": "A", "order": orders[n]}}
        for n in range(3)
    }
    records["2"] = {"prediction": None, "state": "unparsed", "notes": {"shown": None, "order": orders[2]}}
    letters = score_choices(rows, records)["letters"]
    assert letters["shown"] == {"A": 2, "B": 0, "C": 0, "D": 0, "E": 0, "none": 1}
    assert letters["shown_key"] == {"A": 0, "B": 2, "C": 0, "D": 1, "E": 0}
    assert letters["shown_always"]["B"] == pytest.approx(2 / 3)
    assert letters["key"]["A"] == 3
    assert "shown" not in score_choices(rows, {})["letters"]
