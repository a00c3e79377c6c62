from __future__ import annotations

import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffspot_hf.errors import UsageError
from diffspot_hf.scoring.matching import match_issues, overlap, possible_pairs

TAGS = ("Typography", "Icon/Nav", "other")
grid = st.integers(0, 8).map(lambda n: n / 16)
sides = st.sampled_from([0.0, 0.0625, 0.125, 0.25, 0.5])
boxes = st.none() | st.fixed_dictionaries({"x": grid, "y": grid, "w": sides, "h": sides})
issues = st.fixed_dictionaries(
    {"labels": st.lists(st.sampled_from(TAGS), max_size=2, unique=True), "box_a": boxes, "box_b": boxes}
)
few = st.lists(issues, max_size=5)


def issue(labels, box_a=None, box_b=None):
    as_box = lambda four: None if four is None else dict(zip("xywh", four, strict=True))  # noqa: E731
    return {"labels": list(labels), "box_a": as_box(box_a), "box_b": as_box(box_b)}


def edges(predicted, human, threshold):
    return {(i, j) for j, near in enumerate(possible_pairs(predicted, human, threshold)) for _, i in near}


def largest(pairs, n_predicted, n_human):
    """Size of a largest one-to-one choice among `pairs`, by trying all assignments."""
    few, many = sorted((n_predicted, n_human))
    turned = {(i, j) if n_predicted <= n_human else (j, i) for i, j in pairs}
    best = 0
    for chosen in itertools.permutations(range(many), few):
        best = max(best, sum((i, j) in turned for i, j in enumerate(chosen)))
    return best


def best_sum(predicted, human, threshold, n):
    """The highest sum of IoUs that `n` pairs can have, by trying all assignments."""
    possible = edges(predicted, human, threshold)
    value = lambda pair: overlap(predicted[pair[0]], human[pair[1]])  # noqa: E731
    turned = len(predicted) > len(human)
    few, many = sorted((len(predicted), len(human)))
    sums = []
    for chosen in itertools.permutations(range(many), few):
        pairs = [(j, i) if turned else (i, j) for i, j in enumerate(chosen)]
        kept = [value(pair) for pair in pairs if pair in possible]
        sums.append((len(kept), sum(kept)))
    return max(total for count, total in sums if count == n)


def contents(predicted, human, pairs):
    """The pairs by what is in them."""
    return sorted((repr(predicted[i]), repr(human[j])) for i, j in pairs)


def own_cases(repo):
    return [json.loads(line) for line in (repo / "tests/cases/matching_own.jsonl").read_text().splitlines()]


def test_own_cases(repo):
    for case in own_cases(repo):
        pairs = match_issues(case["predicted"], case["human"], iou_threshold=case["iou_threshold"])
        assert len(pairs) == case["matched"], case["why"]
        assert sorted(edges(case["predicted"], case["human"], case["iou_threshold"])) == [
            tuple(pair) for pair in case["pairs_possible"]
        ], case["why"]


def test_shared_cases(repo):
    path = repo.parent / "shared/cases/matching.jsonl"
    if not path.exists():
        pytest.skip("no shared cases beside this checkout")
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        pairs = match_issues(case["predicted"], case["human"], iou_threshold=case["iou_threshold"])
        assert len(pairs) == case["matched"], case["why"]
        found = edges(case["predicted"], case["human"], case["iou_threshold"])
        assert sorted(found) == [tuple(pair) for pair in case["pairs_possible"]], case["why"]


@settings(max_examples=300, deadline=None)
@given(few, few, st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_maximum_equals_brute_force(predicted, human, threshold):
    pairs = match_issues(predicted, human, iou_threshold=threshold)
    possible = edges(predicted, human, threshold)
    assert set(pairs) <= possible
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert pairs == sorted(pairs)
    assert len(pairs) == largest(possible, len(predicted), len(human))


@settings(max_examples=300, deadline=None)
@given(few, few, st.sampled_from([0.1, 0.25]))
def test_of_the_largest_choices_the_closest_pairs_are_taken(predicted, human, threshold):
    pairs = match_issues(predicted, human, iou_threshold=threshold)
    total = sum(overlap(predicted[i], human[j]) for i, j in pairs)
    assert total == pytest.approx(best_sum(predicted, human, threshold, len(pairs)))


@settings(max_examples=300, deadline=None)
@given(few, few, st.randoms(use_true_random=False))
def test_no_order_changes_what_is_paired(predicted, human, rng):
    expected = contents(predicted, human, match_issues(predicted, human))
    for _ in range(3):
        rng.shuffle(predicted)
        rng.shuffle(human)
        assert contents(predicted, human, match_issues(predicted, human)) == expected


@settings(max_examples=150, deadline=None)
@given(few, few)
def test_greedy_is_a_valid_matching_and_never_larger(predicted, human):
    pairs = match_issues(predicted, human, method="greedy")
    assert set(pairs) <= edges(predicted, human, 0.1)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    assert len(pairs) <= len(match_issues(predicted, human))


def test_first_come_first_served_loses_a_pair_that_maximum_keeps():
    wide, narrow = issue(["other"], (0, 0, 0.5, 0.25)), issue(["other"], (0, 0, 0.25, 0.25))
    left, right = issue(["other"], (0, 0, 0.25, 0.25)), issue(["other"], (0.375, 0, 0.5, 0.25))
    assert match_issues([wide, narrow], [left, right], method="greedy") == [(0, 0)]
    assert match_issues([wide, narrow], [left, right]) == [(0, 1), (1, 0)]
    assert match_issues([narrow, wide], [left, right], method="greedy") == [(0, 0), (1, 1)]


def test_the_partner_of_higher_overlap_is_preferred():
    near, exact = issue(["other"], (0, 0, 0.5, 0.5)), issue(["other"], (0, 0, 0.4, 0.5))
    assert match_issues([near, exact], [issue(["other"], (0, 0, 0.4, 0.5))]) == [(1, 0)]


@pytest.mark.parametrize(("width", "matched"), [(1.0, 1), (1.000001, 0)], ids=["IoU 1/10 counts", "just below"])
def test_threshold_in_decimal_fractions(width, matched):
    predicted, human = [issue(["other"], (0.0, 0.3, 0.1, 0.1))], [issue(["other"], (0.0, 0.3, width, 0.1))]
    assert len(match_issues(predicted, human)) == matched


def test_overlap_is_the_better_of_the_two_sides():
    a, b = issue([], (0, 0, 0.5, 0.5), (0, 0, 0.5, 0.5)), issue([], (0.5, 0.5, 0.5, 0.5), (0, 0, 0.5, 0.25))
    assert overlap(a, b) == 0.5


def test_a_long_chain_of_exchanges_needs_no_recursion():
    n = 3000
    human = [issue(["x"] if i == n - 1 else ["x", f"{i}"], (0, 0, 1, 1)) for i in range(n)]
    chain = [issue([f"{i}"], (0, 0, 1, 1)) for i in range(n - 1)] + [issue(["x"], (0, 0, 1, 1))]
    assert len(match_issues(chain, human)) == n


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
def test_a_threshold_that_makes_no_sense_is_refused(threshold):
    with pytest.raises(UsageError, match="iou_threshold"):
        match_issues([], [], iou_threshold=threshold)


def test_an_unknown_method_is_refused():
    with pytest.raises(UsageError, match="'maximum' or 'greedy'"):
        match_issues([], [], method="hungarian")


def test_random_screens_never_lose_by_order():
    rng = random.Random(5)

    def screen(n):
        return [issue([rng.choice(TAGS)], (rng.random() * 0.5, rng.random() * 0.5, 0.4, 0.4), None) for _ in range(n)]

    for _ in range(20):
        predicted, human = screen(40), screen(25)
        expected = contents(predicted, human, match_issues(predicted, human))
        for _ in range(5):
            rng.shuffle(predicted)
            rng.shuffle(human)
            assert contents(predicted, human, match_issues(predicted, human)) == expected
