"""Faulty runners, stores and keys of the kind that cost other harnesses their numbers: our checks notice each."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.running import run_card, runner
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet, answer_key, dealt
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.store import merged, read_lines
from diffspot_hf.scoring.rates import diffspot_rates, outcome
from diffspot_hf.types import Response

DIFFSPOT = benchmark("diffspot")
SETTINGS = Settings(prompt=DIFFSPOT.prompt, progress=False)


@pytest.fixture
def rows(pairs):
    return RowSet(DIFFSPOT, str(pairs))


class Fragile:
    """Fails after four answers; a `loaded` fact may differ from the last time."""

    def __init__(self, stop_after=None, **loaded):
        self.stop_after, self.loaded, self.asked, self.loads = stop_after, loaded, [], 0

    def load(self):
        self.loads += 1

    def describe(self):
        return {"id": "fragile", "loaded": self.loaded} if self.loaded else {"id": "fragile"}

    def generate(self, requests):
        for request in requests:
            if len(self.asked) == self.stop_after:
                raise RuntimeError("the machine went away")
            self.asked.append(request.id)
            yield Response(id=request.id, text="No differences.")


def kept_after_a_crash(run_with, out):
    with pytest.raises(RuntimeError, match="went away"):
        run_with(Fragile(stop_after=4))
    return len(read_lines(out.predictions))


def test_a_runner_that_stores_at_the_end_is_noticed(rows, tmp_path):
    ours, theirs = RunFolder(tmp_path / "ours"), RunFolder(tmp_path / "theirs")

    class AtTheEnd(Fragile):
        def generate(self, requests):
            yield from list(super().generate(requests))

    assert kept_after_a_crash(lambda model: run(DIFFSPOT, rows, model, ours, SETTINGS), ours) == 4
    faulty = lambda model: run(DIFFSPOT, rows, AtTheEnd(model.stop_after), theirs, SETTINGS)  # noqa: E731
    assert kept_after_a_crash(faulty, theirs) == 0


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


def test_a_model_that_loads_eagerly_is_noticed(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Fragile(), out, SETTINGS)

    class Eager(Fragile):
        def __init__(self):
            super().__init__()
            self.load()

    lazy, eager = Fragile(), Eager()
    for model in (lazy, eager):
        run(DIFFSPOT, rows, model, out, SETTINGS)
    assert (lazy.loads, eager.loads) == (0, 1)


def test_a_store_that_appends_to_a_torn_line_is_noticed(rows, tmp_path):
    def resumed(folder, repair):
        out = RunFolder(folder)
        run(DIFFSPOT, rows, Fragile(), out, SETTINGS)
        torn = out.predictions.read_bytes()[:-40]
        out.predictions.write_bytes(torn)
        if repair:
            run(DIFFSPOT, rows, Fragile(), out, SETTINGS)
        else:
            with out.predictions.open("ab") as file:
                file.write(b'{"id": "pair-7", "state": "ok"}\n')
        whole = [line for line in out.predictions.read_bytes().split(b"\n") if line]
        return sum(_is_json(line) for line in whole)

    assert resumed(tmp_path / "ours", repair=True) == len(rows)
    assert resumed(tmp_path / "theirs", repair=False) == len(rows) - 1


def _is_json(line):
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


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


def test_a_resume_that_does_not_compare_what_was_loaded_is_noticed(rows, tmp_path, monkeypatch):
    def resumed(folder):
        out = RunFolder(folder)
        with pytest.raises(RuntimeError, match="went away"):
            run(DIFFSPOT, rows, Fragile(4, processor="Slow"), out, SETTINGS)
        run(DIFFSPOT, rows, Fragile(processor="Fast"), out, SETTINGS)

    with pytest.raises(Exception, match=r"model\.loaded\.processor"):
        resumed(tmp_path / "ours")
    monkeypatch.setattr(runner, "require_same_loaded", lambda *_: None)
    resumed(tmp_path / "theirs")
