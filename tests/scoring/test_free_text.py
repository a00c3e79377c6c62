"""States of free-text replies."""

from __future__ import annotations

import pytest

from diffspot_hf.scoring.free_text import free_text_state, visible_reply

CASES = {
    "a claim": ("- The heading is bolder.", "stop", "ok"),
    "an abstention": ("No differences.", "stop", "ok"),
    "cannot see a difference is an answer": ("I cannot see any differences between the screenshots.", "stop", "ok"),
    "cannot identify a change is an answer": ("I can't identify any visible changes.", "stop", "ok"),
    "nothing": ("", "stop", "empty"),
    "white space and invisible characters": (" \n\u200b\ufeff", "stop", "empty"),
    "only thought, ended": ("<think>compare</think>\n", "stop", "empty"),
    "only thought, never ended": ("<think>compare", "stop", "empty"),
    "budget spent on thought": ("<think>compare", "length", "truncated"),
    "cut in the middle": ("- The heading is bol", "length", "truncated"),
    "answer after a lone closing tag": ("hm, well</think>- The heading is bolder.", "stop", "ok"),
    "declines": ("I'm sorry, but I can't assist with that.", "stop", "refused"),
    "cannot see pictures": ("I cannot view the images you attached.", "stop", "refused"),
    "unable to process": ("Unfortunately, I am unable to process these images.", "stop", "refused"),
    "refused by the backend": ("", "refusal", "refused"),
    "failed": ("", "error", "error"),
}


@pytest.mark.parametrize(("text", "finish", "state"), CASES.values(), ids=CASES)
def test_state(text, finish, state):
    assert free_text_state(text, finish) == state


def test_the_visible_reply_has_no_thinking():
    assert visible_reply("<think>a</think>b<think>c</think> d ") == "d"
    assert visible_reply("before <think>never ends") == "before"
