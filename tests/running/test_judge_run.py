"""Judging a run: each reply once, failures as missing, nothing judged that was not answered."""

from __future__ import annotations

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.errors import UsageError
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.judge_run import judge_run
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.score_run import score_run
from diffspot_hf.running.store import read_lines
from diffspot_hf.types import Response

DIFFSPOT = benchmark("diffspot")


class Replies:
    def __init__(self, replies):
        self.replies = replies

    def describe(self):
        return {"id": "replies"}

    def generate(self, requests):
        for request in requests:
            text = self.replies.get(request.id, "- The button changed.")
            yield Response(id=request.id, text=text or "", finish_reason="error" if text is None else "stop")


class Counting:
    """A judge that calls everything correct, counts its calls, and can be down."""

    name = "counting"

    def __init__(self, down=False):
        self.calls, self.down = 0, down

    def judge(self, *, mutation, ground_truth_diff, reply):
        self.calls += 1
        if self.down:
            raise ConnectionError("the judge is down")
        mutations = (
            [{"gt": ground_truth_diff, "type": "x", "verdict": "correct", "vlm_match": reply}] if mutation else []
        )
        return {"mutations": mutations, "hallucinations": [], "summary": {}}


@pytest.fixture
def finished(pairs, tmp_path):
    def make(**replies):
        rows, out = RowSet(DIFFSPOT, str(pairs)), RunFolder(tmp_path / "run")
        named = {name.replace("_", "-"): text for name, text in replies.items()}
        run(DIFFSPOT, rows, Replies(named), out, Settings(prompt=DIFFSPOT.prompt, progress=False))
        return out, rows

    return make


def test_every_row_gets_the_official_fields(finished):
    out, rows = finished()
    judge_run(out, rows, Counting(), progress=False)
    judged = read_lines(out.judged)
    assert [entry["id"] for entry in judged] == rows.ids
    official = {
        "id",
        "split",
        "operator",
        "is_true_positive",
        "is_true_negative",
        "judge",
        "judge_label",
        "judge_state",
    }
    assert all(official <= set(entry) for entry in judged)
    assert [entry["is_true_positive"] for entry in judged] == [True, True, True, None] * 2
    assert [entry["is_true_negative"] for entry in judged] == [None, None, None, True] * 2


def test_equal_replies_to_equal_truths_are_judged_once(finished):
    out, rows = finished()
    judge = Counting()
    judge_run(out, rows, judge, progress=False)
    assert judge.calls == 7  # the two pairs without a change have the same truth and the same reply


def test_a_second_pass_judges_only_what_is_new(finished):
    out, rows = finished()
    judge_run(out, rows, Counting(), progress=False)
    again = Counting()
    counts = judge_run(out, rows, again, progress=False)
    assert (again.calls, counts["reused"]) == (0, 8)


def test_a_row_without_a_readable_reply_is_not_judged_and_never_right(finished):
    out, rows = finished(pair_0="", pair_3=None, pair_7="")
    counts = judge_run(out, rows, Counting(), progress=False)
    assert counts == {"judged": 5, "reused": 0, "not_judged": 3, "failed": 0}
    judged = {entry["id"]: entry for entry in read_lines(out.judged)}
    assert judged["pair-0"]["is_true_positive"] is False
    assert judged["pair-3"]["is_true_negative"] is False
    assert judged["pair-3"]["judge_state"] == "not judged: error"
    scores = score_run(out, rows)
    assert (scores["no_diff_specificity"], scores["n_no_diff"]) == (0.0, 2)


def test_a_failing_judge_is_missing_counted_and_asked_again(finished):
    out, rows = finished()
    counts = judge_run(out, rows, Counting(down=True), progress=False)
    assert counts["failed"] == 8
    assert {entry["judge_state"] for entry in read_lines(out.judged)} == {"error: the judge is down"}
    scores = score_run(out, rows)
    assert scores["judge_failures"] == 8
    back = Counting()
    judge_run(out, rows, back, progress=False)
    assert back.calls == 7
    assert score_run(out, rows)["judge_failures"] == 0


def test_a_judge_whose_failures_count_is_noticed(finished):
    """Half the verdicts fail: over judged rows the recall stays what the judge said; as zeros it would be halved."""
    out, rows = finished()

    class Flaky(Counting):
        def judge(self, **words):
            self.down = self.calls % 2 == 1
            return super().judge(**words)

    judge_run(out, rows, Flaky(), progress=False)
    scores = score_run(out, rows)
    assert scores["judge_failures"] > 0
    assert scores["over_judged"]["diff_overall_recall"] == 1.0
    assert scores["diff_overall_recall"] < 1.0


def test_verdicts_on_other_replies_are_not_scored(finished):
    out, rows = finished(pair_0=None)
    judge_run(out, rows, Counting(), progress=False)
    score_run(out, rows)
    again = Settings(prompt=DIFFSPOT.prompt, progress=False)
    run(DIFFSPOT, rows, Replies({}), out, again)  # pair-0 is answered now
    with pytest.raises(UsageError, match="1 replies came after the judging .the first is of row pair-0.; run .* again"):
        score_run(out, rows)
    assert judge_run(out, rows, Counting(), progress=False)["judged"] == 1
    score_run(out, rows)
