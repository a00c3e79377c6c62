"""Verification: an honest run passes; a changed model, drifting lengths and a cache do not."""

from __future__ import annotations

import time

import pytest

from diffspot_hf.benchmarks import benchmark
from diffspot_hf.errors import UsageError
from diffspot_hf.running.folder import RunFolder
from diffspot_hf.running.rowset import RowSet
from diffspot_hf.running.runner import Settings, run
from diffspot_hf.running.verify import verify_run
from diffspot_hf.types import Response

DIFFSPOT = benchmark("diffspot")


class Answers:
    """Answers from the first picture's top-left colour; `seconds` a new request, none for one it has seen if cached."""

    def __init__(self, seconds=0.0, cached=False, words=3):
        self.seconds, self.cached, self.words, self.seen = seconds, cached, words, set()

    def describe(self):
        return {"id": "answers"}

    def generate(self, requests):
        for request in requests:
            began = time.perf_counter()
            new = request.parts not in self.seen
            self.seen.add(request.parts)
            if new or not self.cached:
                time.sleep(self.seconds)
            colour = request.pictures[1].rgb.getpixel((15, 15))
            yield Response(id=request.id, text=f"- {colour}" * self.words, seconds=time.perf_counter() - began)


@pytest.fixture
def finished(pairs, tmp_path):
    rows, out = RowSet(DIFFSPOT, str(pairs)), RunFolder(tmp_path / "run")
    run(DIFFSPOT, rows, Answers(), out, Settings(prompt=DIFFSPOT.prompt, progress=False))
    return out, rows


def test_an_honest_run_passes(finished):
    found = verify_run(*finished, Answers(), n=5, seed=1, progress=False)
    assert found["passed"]
    assert (found["rows"], found["agreement"], found["differing"]) == (5, 1.0, [])


def test_another_model_does_not(finished):
    found = verify_run(*finished, Answers(words=4), n=8, progress=False)
    assert not found["passed"]
    assert len(found["differing"]) == 8
    assert found["mean_length_now"] > found["mean_length_then"]


def test_a_cache_that_answers_repeated_requests_is_noticed(finished):
    out, rows = finished
    model = Answers(seconds=0.03, cached=True)
    list(model.generate(rows.request(i, DIFFSPOT.prompt) for i in rows.ids))
    found = verify_run(out, rows, model, n=4, progress=False)
    assert found["cache_suspected"]
    assert not found["passed"]
    assert not verify_run(out, rows, Answers(seconds=0.03), n=4, progress=False)["cache_suspected"]


def test_a_model_that_says_more_to_another_request_is_no_cache(finished):
    class Talkative(Answers):
        def generate(self, requests):
            for request in requests:
                self.words = 30 if "Reference number" in request.text else 3
                self.seconds = 0.005 * self.words
                yield from super().generate([request])

    assert verify_run(*finished, Talkative(), n=3, progress=False)["passed"]


def test_a_run_without_answers_cannot_be_verified(pairs, tmp_path):
    with pytest.raises(UsageError, match="no answered row"):
        verify_run(RunFolder(tmp_path), RowSet(DIFFSPOT, str(pairs)), Answers(), progress=False)
