"""Faulty keys, merges and scores of the kind that cost other harnesses their numbers: our checks notice each.

Faulty whole runs are in `tests/models/test_complaint_runs.py`.
"""

from __future__ import annotations

import json

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.running import run_card
from diffspot_hf.running.rowset import RowSet, answer_key, dealt
from diffspot_hf.running.store import merged
from diffspot_hf.scoring.rates import diffspot_rates, outcome

DIFFSPOT = benchmark("diffspot")


@pytest.fixture
def rows(pairs):
    return RowSet(DIFFSPOT, str(pairs))


def misses_when(change, rows, key_of):
    """Whether a cache keyed by `key_of(card, request)` misses after `change` to the card."""
    card = run_card.make_card(
        DIFFSPOT,
        data=rows.describe(),
        model={"id": "a", "dtype": "float32"},
        prompt=DIFFSPOT.prompt,
        generation={"n": 1},
    )
    changed = json.loads(json.dumps(card))
    change(changed)
    request = rows.request(rows.ids[0], DIFFSPOT.prompt)
    return key_of(card, request) != key_of(changed, request)


CHANGES = {
    "model": lambda card: card["model"].update(id="b"),
    "revision": lambda card: card["model"].update(revision="c0ffee"),
    "dtype": lambda card: card["model"].update(dtype="bfloat16"),
    "generation": lambda card: card["generation"].update(n=2),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_key_without_the_model_is_noticed(rows, change):
    assert misses_when(change, rows, lambda card, request: answer_key(run_card.identity_digest(card), request))
    assert not misses_when(change, rows, lambda card, request: answer_key(card["prompt"]["sha256"], request))


def test_a_merge_in_which_the_last_record_wins_is_noticed():
    valid = {"id": "a", "state": "ok", "prediction": "kept", "attempts": []}
    rejected = {"id": "a", "state": "empty", "prediction": "", "attempts": []}
    assert merged([valid, rejected])["a"]["prediction"] == "kept"
    assert {record["id"]: record for record in (valid, rejected)}["a"]["prediction"] == ""


def test_shares_that_are_padded_to_equal_length_are_noticed():
    def padded(ids, rank, world):
        ids = ids + ids[: -len(ids) % world]
        size = len(ids) // world
        return ids[rank * size : (rank + 1) * size]

    def each_once(share, n, world):
        ids = [str(i) for i in range(n)]
        return sorted(i for rank in range(world) for i in share(ids, rank, world)) == sorted(ids)

    assert all(each_once(dealt, n, world) for n in range(18) for world in range(1, 9))
    assert not all(each_once(padded, n, world) for n in range(18) for world in range(1, 9))


def test_a_score_that_drops_failed_rows_is_noticed():
    replies = [(True, "ok"), (True, "error"), (True, "error"), (True, "empty")]
    rows = [outcome(has_diff=False, correct=right, state=state) for right, state in replies]
    dropped = [row for row in rows if row["state"] == "ok"]
    assert diffspot_rates(rows)["no_diff_specificity"] == 0.25
    assert sum(diffspot_rates(rows)["health"].values()) == len(replies)
    assert diffspot_rates(dropped)["no_diff_specificity"] == 1.0
    assert sum(diffspot_rates(dropped)["health"].values()) != len(replies)


def test_a_card_that_forgets_the_prompt_is_noticed(rows):
    change = lambda card: card["prompt"].update(sha256="other")  # noqa: E731
    assert misses_when(change, rows, lambda card, request: run_card.identity_digest(card))
    forgetful = lambda card, request: run_card.identity_digest(card | {"prompt": {"sha256": ""}})  # noqa: E731
    assert not misses_when(change, rows, forgetful)
