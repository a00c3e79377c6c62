"""Six instructions, one after the other, each asked with the earlier ones; repeats and nonsense are refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from diffspot_hf.build.mcq.instructions import (
    Asked,
    Instruction,
    Listed,
    Target,
    instructor_prompt,
    propose,
    read_instruction,
)
from diffspot_hf.build.mcq.regions import Box
from diffspot_hf.build.mcq.tasks import BY_KEY
from diffspot_hf.errors import UsageError
from diffspot_hf.types import Response

TASK = BY_KEY["differential", "attribute"]
PICTURE = np.zeros((100, 200, 3), np.uint8)
TARGET, REGION = Target(Box(60, 40, 20, 10), "the cup"), Box(50, 35, 40, 20)


class Scripted:
    """A model that gives prepared replies and keeps what it was asked."""

    def __init__(self, replies):
        self.replies, self.requests = list(replies), []

    def describe(self):
        return {"id": "scripted"}

    def generate(self, requests):
        for request in requests:
            self.requests.append(request)
            reply = self.replies.pop(0)
            error = isinstance(reply, Exception)
            yield Response(request.id, "" if error else reply, "error" if error else "stop", error=str(reply))


def reply(number):
    return "Sure:\n" + json.dumps(
        {"instruction": f"Paint it colour {number}.", "statement": f"It has colour {number}."}
    )


def test_six_are_asked_and_each_knows_the_earlier_ones():
    model, refused = Scripted([reply(n) for n in range(6)]), []
    found = propose(Asked(model), PICTURE, TARGET, REGION, TASK, refused.append)
    assert [i.statement for i in found] == [f"It has colour {n}." for n in range(6)]
    assert refused == []
    for number, request in enumerate(model.requests):
        assert all(f"- It has colour {n}." in request.text for n in range(number))
        assert f"- It has colour {number}." not in request.text
        (crop,) = request.pictures
        assert crop.rgb.size == (40, 20)


def test_repeats_nonsense_and_failures_are_refused_and_asked_again():
    replies = [reply(0), reply(0).upper().replace("SURE", ""), "I cannot.", RuntimeError("busy"), reply(1), reply(2)]
    model, refused = Scripted(replies), []
    found = propose(Asked(model), PICTURE, TARGET, REGION, TASK, refused.append, wanted=3, tries=6)
    assert [i.statement for i in found] == [f"It has colour {n}." for n in range(3)]
    assert len(refused) == 3


def problems(model):
    """What each prompt says of the answer before it, None if nothing."""
    found = (re.search("Your last answer could not be used: (.*). Think", request.text) for request in model.requests)
    return [match and match[1] for match in found]


def test_the_next_prompt_says_what_was_wrong_with_the_last_answer():
    replies = [reply(0), reply(0), "I cannot.", reply(1), RuntimeError("busy"), reply(2)]
    model, refused = Scripted(replies), []
    propose(Asked(model), PICTURE, TARGET, REGION, TASK, refused.append, wanted=3)
    assert problems(model) == [
        None,
        None,
        "the statement 'It has colour 0.' was given before",
        'no instruction in the reply "I cannot."',
        None,
        None,  # that a server failed is nothing that the model did
    ]
    assert len({request.text for request in model.requests[:4]}) == 4
    assert str(refused[2]) == "scripted: no reply: busy"


@pytest.mark.parametrize("same", ["no", reply(0), RuntimeError("busy")], ids=["no answer", "a repeat", "a failure"])
def test_a_model_that_gives_the_same_reply_again_and_again_is_not_asked_on(same):
    model, refused = Scripted([same] * 9), []
    first = [Instruction("Do.", "It has colour 0.")]  # so that the repeat is one from the start
    found = propose(_After(first, Asked(model)), PICTURE, TARGET, REGION, TASK, refused.append)
    assert (found, len(model.requests)) == (first, 3)
    assert "the same reply 3 times, it is not asked again" in str(refused[-1])
    assert len(refused) == 3


class _After:
    """Prepared instructions, then those of another instructor."""

    name = "after"

    def __init__(self, first, then):
        self.first, self.then = first, then

    def next(self, picture, target, region, task, earlier, problem=""):
        if len(earlier) < len(self.first):
            return self.first[len(earlier)]
        return self.then.next(picture, target, region, task, earlier, problem)


def test_the_same_reply_for_the_next_target_is_none_of_the_same_replies():
    model = Scripted([reply(0)] * 4)
    asked = Asked(model)
    for _ in range(4):
        assert len(propose(asked, PICTURE, TARGET, REGION, TASK, pytest.fail, wanted=1)) == 1


def test_the_tries_end():
    model, refused = Scripted(["no", "never"] * 4), []
    assert propose(Asked(model), PICTURE, TARGET, REGION, TASK, refused.append, tries=4) == []
    assert len(refused) == 4


def test_a_list_ends_where_it_ends():
    listed = Listed([Instruction(f"Do {n}.", f"Done {n}.") for n in range(4)])
    assert len(propose(listed, PICTURE, TARGET, REGION, TASK, pytest.fail)) == 4


def test_the_prompt_says_where_the_target_is_in_the_crop_and_what_the_task_wants():
    text = instructor_prompt(TARGET, REGION, TASK, [])
    assert "the cup" in text
    assert "left 10, top 5, width 20, height 10" in text
    assert "colour, material, pattern or shape" in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"instruction": "x"}',
        '{"instruction": "x", "statement": " "}',
        '{"instruction": "x", "statement": "y',
    ],
    ids=["empty", "empty object", "no statement", "blank statement", "cut off"],
)
def test_a_reply_without_an_instruction_is_refused(text):
    with pytest.raises(UsageError, match="no instruction in the reply"):
        read_instruction(text)


def test_a_repeated_line_does_not_end_the_list():
    lines, refused = [Instruction("Do.", f"Done {n}.") for n in (0, 0, 1, 2)], []
    listed = Listed(lines)
    for _ in range(2):  # and the list begins anew for the next target
        found = propose(listed, PICTURE, TARGET, REGION, TASK, refused.append)
        assert [i.statement for i in found] == ["Done 0.", "Done 1.", "Done 2."]
    assert len(refused) == 2
