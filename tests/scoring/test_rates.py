"""DiffSpot's rates on tables small enough to count by hand."""

from __future__ import annotations

import pytest

from diffspot_hf.published import table
from diffspot_hf.scoring.operators import FAMILY, OPERATORS
from diffspot_hf.scoring.rates import diffspot_rates, outcome, outcome_of, rate, wilson
from diffspot_hf.types import STATES


def diff(correct, tier="easy", operator="color", state="ok", domain="travel"):
    family = FAMILY.get(operator)
    return outcome(
        has_diff=True, correct=correct, tier=tier, operator=operator, family=family, state=state, domain=domain
    )


def same(correct, state="ok"):
    return outcome(has_diff=False, correct=correct, state=state)


def test_counts_and_rates_of_a_small_table():
    rows = [diff(True), diff(False), diff(True, "hard", "text"), same(True), same(False)]
    figures = diffspot_rates(rows)
    assert {k: figures[k] for k in ("n_total", "n_has_diff", "n_no_diff", "n_tp", "n_tn")} == {
        "n_total": 5,
        "n_has_diff": 3,
        "n_no_diff": 2,
        "n_tp": 2,
        "n_tn": 1,
    }
    assert figures["overall_accuracy"] == 3 / 5
    assert figures["diff_overall_recall"] == 2 / 3
    assert figures["no_diff_specificity"] == figures["hallucination_rate"] == 1 / 2
    assert figures["rates"]["diff_overall_recall"]["numerator"] == 2
    assert figures["by_tier"]["easy"] == {"recall": 0.5, "n_pairs": 2, "n_tp": 1, "ci95": wilson(1, 2)}
    assert list(figures["by_operator"]) == ["text", "color"]
    assert figures["by_family"]["typography"]["recall"] == 1.0
    assert figures["by_domain"]["travel"]["n_pairs"] == 3


def test_nothing_to_count_is_zero_not_an_error():
    figures = diffspot_rates([])
    assert figures["overall_accuracy"] == figures["diff_overall_recall"] == figures["no_diff_specificity"] == 0.0
    assert figures["rates"]["overall_accuracy"]["ci95"] is None
    assert rate(0, 0)["value"] == 0.0


@pytest.mark.parametrize("state", [state for state in STATES if state != "ok"])
def test_a_failed_reply_is_never_a_true_negative_and_never_leaves_the_denominator(state):
    figures = diffspot_rates([same(True, state), same(True)])
    assert (figures["no_diff_specificity"], figures["n_no_diff"]) == (0.5, 2)
    assert figures["over_parsed"]["no_diff_specificity"] == 1.0
    assert sum(figures["health"].values()) == 2


def test_a_cut_reply_that_already_named_the_change_counts():
    assert diffspot_rates([diff(True, state="truncated")])["diff_overall_recall"] == 1.0


def test_an_unknown_state_is_refused():
    with pytest.raises(ValueError, match="unknown state 'fine'"):
        same(True, "fine")


def test_a_row_becomes_an_outcome_with_bare_operator():
    row = {"task_type": "visual_diff", "difficulty": "hard", "operator": "mutate_text", "family": "typography"}
    assert outcome_of(row, True, "ok")["operator"] == "text"
    assert outcome_of({"task_type": "no_diff", "difficulty": "unknown"}, True, "ok")["tier"] is None


def test_operators_of_unknown_name_are_kept_at_the_end():
    figures = diffspot_rates([diff(True, operator="zoom"), diff(True, operator="text")])
    assert list(figures["by_operator"]) == ["text", "zoom"]


def test_thirteen_operators_in_four_families():
    assert [len(members) for members in OPERATORS.values()] == [5, 3, 3, 2]
    assert len(FAMILY) == 13


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(0, 10, (0.0, 0.278)), (5, 10, (0.237, 0.763)), (10, 10, (0.722, 1.0))]
)
def test_wilson_intervals_equal_known_values(k, n, expected):
    assert tuple(round(bound, 3) for bound in wilson(k, n)) == expected


def _published():
    found = {}
    for row in table("diffspot_results"):
        found.setdefault(row["model"], {})[row["slice"]] = float(row["percent"])
    return {model: cells for model, cells in found.items() if "has_diff_3900" in cells}


@pytest.mark.parametrize(("model", "cells"), _published().items(), ids=_published())
def test_the_published_rows_follow_from_our_definitions(model, cells):
    """Recall is the mean of three equal tiers; accuracy weighs 3,900 pairs with and 500 without a change."""
    tiers = [cells[f"tier={tier}"] for tier in ("easy", "medium", "hard")]
    assert sum(tiers) / 3 == pytest.approx(cells["has_diff_3900"], abs=0.1)
    accuracy = (cells["has_diff_3900"] * 3900 + cells["no_diff_500"] * 500) / 4400
    assert accuracy == pytest.approx(cells["all_4400"], abs=0.1)


def test_always_no_diff_reaches_what_is_published():
    figures = diffspot_rates([diff(False)] * 3900 + [same(True)] * 500)
    assert round(100 * figures["overall_accuracy"], 1) == 11.4


def test_the_integer_counts_of_the_best_published_row_give_its_figures():
    tp = {"easy": 786, "medium": 506, "hard": 295}
    rows = [diff(i < n, tier) for tier, n in tp.items() for i in range(1300)] + [same(i < 492) for i in range(500)]
    figures = diffspot_rates(rows)
    assert [round(100 * figures["by_tier"][tier]["recall"], 1) for tier in tp] == [60.5, 38.9, 22.7]
    assert round(100 * figures["no_diff_specificity"], 1) == 98.4
    assert figures["overall_accuracy"] == 2079 / 4400
