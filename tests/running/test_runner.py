"""The runner with injected models: everything is asked once, kept at once, and counted whatever happens."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from dataclasses import replace

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.benchmarks.dicobench import DiCoBench
from diffspot_hf.errors import UsageError
from diffspot_hf.models.controls import Control
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet, answer_key, dealt
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.store import read_lines
from diffspot_hf.types import STATES, Request, Response

DIFFSPOT = benchmark("diffspot")


class Scripted:
    """A model that answers from a table of id → Response fields and counts what it was asked."""

    def __init__(self, replies=None, name="scripted", stop_after=None, **facts):
        self.replies, self.name, self.stop_after, self.facts = replies or {}, name, stop_after, facts
        self.asked = []
        self.loads = 0

    def load(self):
        self.loads += 1

    def describe(self):
        return {"id": self.name, **self.facts}

    def generate(self, requests):
        for request in requests:
            if self.stop_after is not None and len(self.asked) == self.stop_after:
                raise RuntimeError("the machine went away")
            self.asked.append(request.id)
            reply = self.replies.get(request.id, {"text": "No differences."})
            yield Response(id=request.id, **reply)


@pytest.fixture
def rows(pairs):
    return RowSet(DIFFSPOT, str(pairs))


def settings(**changes):
    return replace(Settings(prompt=DIFFSPOT.prompt, generation={"max_new_tokens": 8}, progress=False), **changes)


def test_every_row_is_asked_once_and_stored(rows, tmp_path):
    model, out = Scripted(), RunFolder(tmp_path / "run")
    summary = run(DIFFSPOT, rows, model, out, settings())
    assert sorted(model.asked) == sorted(rows.ids)
    assert (summary.asked, summary.n_unanswered, summary.health["ok"]) == (8, 0, 8)
    assert [r["id"] for r in read_lines(out.predictions)] == rows.ids
    official = {"id", "split", "model", "prompt_version", "raw_response", "prediction"}
    assert all(official <= set(record) for record in read_lines(out.predictions))


@pytest.mark.parametrize(
    "made",
    [benchmark("diffspot"), DiCoBench(), DiCoBench(shuffle_options=3)],
    ids=["diffspot", "dicobench", "shuffled"],
)
def test_every_row_keeps_the_digest_of_the_text_that_was_asked(made, pairs, tmp_path):
    rows = RowSet(made, str(pairs) if made.name == "diffspot" else "sample", limit=6)
    out = RunFolder(tmp_path / "run")
    run(made, rows, Scripted(), out, settings(prompt=made.prompt))
    asked = {i: hashlib.sha256(rows.request(i, made.prompt).text.encode()).hexdigest() for i in rows.ids}
    assert {i: record["prompt_sha256"] for i, record in out.records().items()} == asked
    assert (len(set(asked.values())) == 1) == (made.name == "diffspot")  # the same text for every pair


def test_a_crash_costs_only_the_row_in_flight(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    first = Scripted(stop_after=5)
    with pytest.raises(RuntimeError, match="went away"):
        run(DIFFSPOT, rows, first, out, settings())
    assert len(read_lines(out.predictions)) == 5
    second = Scripted()
    run(DIFFSPOT, rows, second, out, settings())
    assert len(second.asked) == 3
    assert not set(first.asked) & set(second.asked)
    assert [r["id"] for r in read_lines(out.predictions)] == rows.ids


def test_a_finished_run_loads_no_model(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Scripted(), out, settings())
    again = Scripted()
    summary = run(DIFFSPOT, rows, again, out, settings(), check=lambda *_: pytest.fail("preflight of nothing"))
    assert (again.loads, again.asked, summary.asked, summary.n_unanswered) == (0, [], 0, 0)


STATE_REPLIES = {
    "ok": {"text": "- The button is red."},
    "empty": {"text": " \u200b\n"},
    "truncated": {"text": "<think>so", "finish_reason": "length"},
    "refused": {"text": "I'm sorry, but I can't view the images."},
    "error": {"text": "", "finish_reason": "error", "error": "server gone"},
}


def test_states_sum_to_n_and_only_errors_are_asked_again(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    replies = dict(zip(rows.ids, STATE_REPLIES.values(), strict=False))
    summary = run(DIFFSPOT, rows, Scripted(replies), out, settings())
    assert sum(summary.health.values()) == len(rows)
    assert {state: summary.health[state] for state in STATE_REPLIES} == dict.fromkeys(STATE_REPLIES, 1) | {"ok": 4}
    assert summary.n_unanswered == 1
    again = Scripted()
    summary = run(DIFFSPOT, rows, again, out, settings())
    failed = [i for i, reply in replies.items() if reply.get("finish_reason") == "error"]
    assert again.asked == failed
    assert summary.n_unanswered == 0
    attempts = {r["id"]: r["attempts"] for r in read_lines(out.predictions)}[failed[0]]
    assert [attempt["state"] for attempt in attempts] == ["error", "ok"]
    assert attempts[0]["detail"] == "server gone"


def test_retry_asks_the_named_states_and_keeps_what_is_better(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    replies = {rows.ids[0]: STATE_REPLIES["empty"], rows.ids[1]: STATE_REPLIES["truncated"]}
    run(DIFFSPOT, rows, Scripted(replies), out, settings())
    other = Scripted(
        {rows.ids[0]: {"text": "- Red now."}, rows.ids[1]: STATE_REPLIES["empty"]}, route={"endpoint": "elsewhere"}
    )
    run(DIFFSPOT, rows, other, out, settings(retry=("empty", "truncated")))
    assert sorted(other.asked) == sorted(rows.ids[:2])
    records = out.records()
    assert (records[rows.ids[0]]["state"], records[rows.ids[0]]["retried_from"]) == ("ok", "empty")
    assert records[rows.ids[1]]["state"] == "truncated"
    assert all(len(records[i]["attempts"]) == 2 for i in rows.ids[:2])


DIFFERENT = {
    "model.id": lambda: (Scripted(name="other"), settings()),
    "model.revision": lambda: (Scripted(revision="b"), settings()),
    "prompt.sha256": lambda: (Scripted(revision="a"), settings(prompt="Another prompt")),
    "generation.max_new_tokens": lambda: (Scripted(revision="a"), settings(generation={"max_new_tokens": 9})),
}


@pytest.mark.parametrize(("field", "change"), DIFFERENT.items(), ids=DIFFERENT)
def test_a_folder_of_another_run_is_refused_naming_the_field(rows, tmp_path, field, change):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Scripted(revision="a"), out, settings())
    model, other = change()
    with pytest.raises(UsageError, match=field.replace(".", r"\.")):
        run(DIFFSPOT, rows, model, out, other)
    assert model.asked == []


def test_other_data_under_the_same_folder_is_refused(rows, pairs, tmp_path):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Scripted(), out, settings())
    copy = shutil.copytree(pairs, tmp_path / "copy")
    lines = (copy / "test.jsonl").read_text().splitlines()
    (copy / "test.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(UsageError, match=r"data\.fingerprint"):
        run(DIFFSPOT, RowSet(DIFFSPOT, str(copy)), Scripted(), out, settings())


def test_a_folder_that_holds_something_else_is_left_alone(rows, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds no run"):
        run(DIFFSPOT, rows, Scripted(), RunFolder(tmp_path), settings())
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_limited_run_can_be_widened_but_not_narrowed(pairs, tmp_path):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, RowSet(DIFFSPOT, str(pairs), limit=3), Scripted(), out, settings())
    wider = Scripted()
    run(DIFFSPOT, RowSet(DIFFSPOT, str(pairs)), wider, out, settings())
    assert len(wider.asked) == 5
    with pytest.raises(UsageError, match="covers 8 rows"):
        run(DIFFSPOT, RowSet(DIFFSPOT, str(pairs), limit=3), Scripted(), out, settings())


@pytest.mark.parametrize("world", range(1, 9))
@pytest.mark.parametrize("n", range(18))
def test_the_shares_of_all_processes_are_the_rows_each_once(n, world):
    ids = [str(i) for i in range(n)]
    shares = [dealt(ids, rank, world) for rank in range(world)]
    assert sorted(identifier for share in shares for identifier in share) == sorted(ids)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_the_largest_rows_come_first(rows):
    sizes = [rows.request(i, "").pictures[0].rgb.width for i in rows.by_size(rows.ids)]
    assert sizes == sorted(sizes, reverse=True)


def test_the_key_of_an_answer_covers_texts_pictures_and_their_order(rows):
    base = rows.request(rows.ids[0], "prompt")
    text, before, after = base.parts
    others = {
        "identity": ("other", base),
        "prompt": ("id", Request(base.id, ("other prompt", before, after))),
        "order": ("id", Request(base.id, (text, after, before))),
        "picture": ("id", Request(base.id, (text, before, before))),
    }
    key = answer_key("id", base)
    assert key == answer_key("id", rows.request(rows.ids[0], "prompt"))
    assert all(answer_key(*other) != key for other in others.values())


def test_a_model_that_answers_what_was_not_asked_is_a_bug_and_said(rows, tmp_path):
    class Confused(Scripted):
        def generate(self, requests):
            for request in requests:
                yield Response(id=request.id, text="x")
                yield Response(id=request.id, text="y")

    with pytest.raises(RuntimeError, match="was not asked or was answered before"):
        run(DIFFSPOT, rows, Confused(), RunFolder(tmp_path / "run"), settings())


def test_controls_answer_from_the_truth_only_as_oracle(rows):
    requests = [rows.request(i, DIFFSPOT.prompt) for i in rows.ids]
    oracle = [r.text for r in Control("oracle", DIFFSPOT, rows.truth).generate(requests)]
    assert oracle[0] == "- " + rows.truth(rows.ids[0])["ground_truth_diff"]
    assert oracle[3] == "No differences."
    none = Control("always-none", DIFFSPOT, lambda _: {"task_type": "visual_diff"})
    assert {r.text for r in none.generate(requests)} == {"No differences."}
    first, second = ([r.text for r in Control("random", DIFFSPOT, rows.truth, 7).generate(requests)] for _ in range(2))
    assert first == second


def test_the_card_says_what_the_answers_depend_on(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Scripted(), out, settings(), check=lambda model, sample: {"order": "proved"})
    card = json.loads(out.card_file.read_text())
    assert card["benchmark"] == "diffspot"
    assert card["model"]["id"] == "scripted"
    assert card["prompt"]["text"] == DIFFSPOT.prompt
    assert card["data"] == rows.describe()
    assert (card["data"]["rows"], card["data"]["is_sample"], card["data"]["refused"]) == (8, False, 0)
    assert card["preflight"] == {"order": "proved"}
    assert set(STATES) == set(run(DIFFSPOT, rows, Scripted(), out, settings()).health)


def test_a_preflight_that_was_skipped_is_not_forgotten(rows, tmp_path):
    out, proved = RunFolder(tmp_path / "run"), {"order": "proved"}
    with pytest.raises(RuntimeError, match="went away"):
        run(DIFFSPOT, rows, Scripted(stop_after=3), out, settings(), check=lambda *_: {"skipped": True})
    for model in (Scripted(stop_after=3), Scripted()):
        with contextlib.suppress(RuntimeError):
            run(DIFFSPOT, rows, model, out, settings(), check=lambda *_: proved)
    card = json.loads(out.card_file.read_text())
    assert card["preflight"] == {"skipped": True}
    done = [{name: value for name, value in each.items() if name != "at"} for each in card["preflights"]]
    assert done == [{"skipped": True}, proved, proved]
    assert [session["preflight"] for session in card["sessions"]] == card["preflights"]


def test_a_model_that_loads_as_another_is_refused(rows, tmp_path):
    out = RunFolder(tmp_path / "run")
    with pytest.raises(RuntimeError, match="went away"):
        run(DIFFSPOT, rows, Scripted(stop_after=2, loaded={"processor": "Slow", "dtype": "float32"}), out, settings())
    model = Scripted(loaded={"processor": "Fast", "dtype": "float32"})
    with pytest.raises(UsageError, match=r'model\.loaded\.processor \("Slow" there, "Fast" now\)'):
        run(DIFFSPOT, rows, model, out, settings())
    assert model.asked == []


def test_a_finished_run_needs_nothing_of_a_model_that_cannot_be_reached(rows, tmp_path):
    class Offline(Scripted):
        def describe(self):
            raise UsageError("the Hub cannot be reached")

    out = RunFolder(tmp_path / "run")
    with pytest.raises(UsageError, match="cannot be reached"):
        run(DIFFSPOT, rows, Offline(), out, settings())
    run(DIFFSPOT, rows, Scripted(), out, settings())
    assert run(DIFFSPOT, rows, Offline(), out, settings()).n_unanswered == 0
