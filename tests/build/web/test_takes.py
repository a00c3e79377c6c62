"""Candidates and pairs of one page: what belongs together stays together, and nothing is used twice."""

from __future__ import annotations

import pytest

from diffspot_hf.build.web.change import pixels
from diffspot_hf.build.web.takes import Director

pytestmark = pytest.mark.browser

CARDS = "".join(
    f"<div style='position:absolute;left:{40 + 240 * n}px;top:40px;width:200px;height:80px;border:2px solid #789;"
    f"box-sizing:border-box;padding:8px'>Ferry number {n}</div>"
    for n in range(4)
)


@pytest.mark.parametrize("way", ["", "width", "lighter", "increase"])
def test_candidate_is_the_change_that_was_tried(way, stage):
    with stage(CARDS) as opened:
        director = Director(opened, seed=4)
        found = list(director.candidates(("border", "medium"), way=way))
    assert len(found) == 4
    assert len({candidate.facts["selector"] for candidate in found}) == 4
    for candidate in found:
        if candidate.change.note == "width":
            assert pixels(candidate.effect["said"][0]) == pixels(candidate.change.new)
        else:
            assert candidate.effect["before"][0][:3] == [119, 136, 153]
    if way in ("width", "lighter"):
        assert {candidate.change.balance for candidate in found} == {way}


def test_element_serves_an_operator_once(stage):
    with stage(CARDS) as opened:
        director = Director(opened, seed=4)
        used: dict[str, set[str]] = {"border": {director.facts[-1]["selector"]}}
        takes = director.take([(("border", tier), "") for tier in ("easy", "medium", "hard", "easy", "hard")], used)
    chosen = [take.facts["selector"] for take in takes]
    assert len(chosen) == len(set(chosen)) == 3
    assert director.facts[-1]["selector"] not in chosen


def test_elements_that_other_pages_showed_come_last(stage):
    with stage(CARDS) as opened:
        director = Director(opened, seed=4)
        plain = [one.facts["name"]["label"] for one in director.candidates(("opacity", "easy"))]
        stale = [f"the box with '{plain[0]}'"]
        again = [one.facts["name"]["label"] for one in director.candidates(("opacity", "easy"), stale=stale)]
    assert again == [*plain[1:], plain[0]]


def test_pairs_since_a_bad_check_are_tried_again_singly(stage):
    """A page that does not come back by itself is painted anew or loaded anew, and the pair still holds."""
    with stage(CARDS) as opened:
        director = Director(opened, seed=4)
        undo, calls = opened.undo, []

        def leaves_a_trace() -> None:
            undo()
            calls.append(1)
            if len(calls) == 2:
                opened.tab.evaluate("document.querySelector('h1').style.color = '#c00'")

        opened.undo = leaves_a_trace
        takes = director.take([(("color", "easy"), ""), (("border", "easy"), ""), (("opacity", "hard"), "")], {})
        assert opened.is_clean()
    assert [take.change.operator for take in takes] == ["color", "border", "opacity"]
    assert all(take.difference.outside == 0 for take in takes)
