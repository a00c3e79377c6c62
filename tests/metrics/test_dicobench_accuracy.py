from __future__ import annotations

import evaluate
import pytest

from diffspot_hf.errors import UsageError
from diffspot_hf.scoring.mcq_scores import choice_scores, read_choice

OPTIONS = [
    "A cup is new.",
    "The lamp is gone.",
    "The door is open.",
    "The rug is red.",
    "There is no visible difference.",
]
LETTERS = list("ABCDE")


@pytest.fixture(scope="module")
def metric(request):
    return evaluate.load(str(request.config.rootpath / "metrics/dicobench_accuracy"))


def test_the_oracle_and_each_constant_letter(metric):
    given = {"references": LETTERS * 8, "groups": [str(n // 5) for n in range(40)]}
    assert metric.compute(predictions=LETTERS * 8, **given)["micro_accuracy"] == 1.0
    for letter in LETTERS:
        scores = metric.compute(predictions=[letter] * 40, **given)
        assert scores["micro_accuracy"] == scores["letters"]["always"][letter] == 0.2
        assert scores["groups"]["all_right"]["numerator"] == 0


def test_equals_the_core(metric):
    replies = ["B", "The lamp is gone.", None, "", "I am not sure."]
    given = {"tasks": ["entity"] * 5, "tracks": ["differential"] * 5, "groups": ["g"] * 5, "options": [OPTIONS] * 5}
    scores = metric.compute(predictions=replies, references=["B"] * 5, **given)
    kwargs = {"options": OPTIONS, "task": "entity", "track": "differential", "group": "g"}
    assert scores == choice_scores([read_choice(reply, "B", **kwargs) for reply in replies])
    assert (scores["health"]["missing"], scores["health"]["empty"], scores["health"]["unparsed"]) == (1, 1, 2)
    assert scores["lenient"]["rates"]["micro_accuracy"]["numerator"] == 2


def test_one_by_one_is_as_at_once(metric):
    replies, answers = ["A", "option b", None], ["A", "B", "C"]
    once = metric.compute(predictions=replies, references=answers, tasks=["x", "y", "y"], options=[OPTIONS, None, None])
    for reply, answer, task, options in zip(replies, answers, "xyy", [OPTIONS, None, None], strict=True):
        metric.add(prediction=reply, reference=answer, task=task, options=options)
    assert metric.compute() == once


def test_a_given_state_is_kept(metric):
    scores = metric.compute(predictions=["", None], references=["A", "A"], states=["truncated", "error"])
    assert (scores["health"]["truncated"], scores["health"]["error"]) == (1, 1)


def test_letters_are_those_of_the_items(metric):
    assert metric.compute(predictions=["G"], references=["G"], letters="ABCDEFG")["micro_accuracy"] == 1.0
    with pytest.raises(UsageError, match="none of the letters ABCDE"):
        metric.compute(predictions=["G"], references=["G"])
    with pytest.raises(UsageError, match="letters must be different capital letters .*found 5"):
        metric.compute(predictions=["A"], references=["A"], letters=5)
