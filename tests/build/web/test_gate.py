"""The strict gate: what it refuses although the change itself is sound, and what it measures."""

from __future__ import annotations

import numpy as np
import pytest

from diffspot_hf.build.browser import PageError
from diffspot_hf.build.web import gate
from diffspot_hf.build.web.change import Change
from diffspot_hf.build.web.takes import Candidate, Director


def picture(*changed: tuple[int, int]) -> np.ndarray:
    array = np.full((20, 30, 3), 200, np.uint8)
    for x, y in changed:
        array[y, x, 2] += 1  # the smallest step there is, in one channel only
    return array


@pytest.mark.parametrize(
    ("changed", "inside", "outside", "reason"),
    [
        pytest.param([], 0, 0, "no pixel changes", id="nothing"),
        pytest.param([(5, 5)], 1, 0, "", id="one level of one channel inside"),
        pytest.param([(4, 5), (9, 9)], 2, 0, "", id="first and last pixel of the box"),
        pytest.param([(3, 5)], 0, 1, "no pixel changes", id="one pixel left of the box"),
        pytest.param([(5, 5), (10, 9)], 1, 1, "pixels change outside the box", id="one pixel right of the box"),
        pytest.param([(5, 5), (9, 10)], 1, 1, "pixels change outside the box", id="one pixel below the box"),
    ],
)
def test_every_pixel_counts(changed, inside, outside, reason):
    found = gate.difference(picture(), picture(*changed), (4, 5, 6, 5))
    assert (found.inside, found.outside, found.reason) == (inside, outside, reason)
    assert found.percent == pytest.approx(100 * len(changed) / 600)


@pytest.mark.parametrize(
    ("share", "blank"), [(0.0, True), (0.001, True), (0.01, False)], ids=["empty", "a dot", "a line of text"]
)
def test_near_blank_is_a_share_of_the_most_frequent_colour(share, blank):
    array = np.full((400, 400, 3), 255, np.uint8)
    array[:20, : int(share * 160_000 / 20)] = 0
    assert gate.is_near_blank(array) is blank


# Pages on which a change of #t shows elsewhere too. The layout sees some, the pixels all of them.
REFLOW = "<div style='position:absolute;left:40px;top:40px;width:300px'><p id=t>Ferries</p><p>Buses</p></div>"
ONE_PIXEL = (
    "<div style='position:absolute;left:40px;top:40px;display:flex'>"
    "<b id=t style='padding:10px;background:#cde'>Ferries</b><b style='padding:10px'>Buses</b></div>"
)
SHADOW = "<b id=t style='position:absolute;left:40px;top:40px;text-shadow:0 90px 0 currentColor'>Ferries</b>"
CHILD_SHADOW = (
    "<div id=t style='position:absolute;left:40px;top:40px;width:200px;height:60px;background:#eee'>"
    "<div style='width:50px;height:50px;background:#fff;box-shadow:0 60px 20px #06c'>A</div></div>"
)
LEAKS = [
    pytest.param(REFLOW, "spacing", {"padding-bottom": "24px"}, True, id="the page below moves"),
    pytest.param(ONE_PIXEL, "letter_spacing", {"padding-right": "11px"}, True, id="a sibling moves by one pixel"),
    pytest.param(SHADOW, "color", {"color": "#c00"}, False, id="a text shadow lies beyond the box"),
    pytest.param(CHILD_SHADOW, "opacity", {"opacity": "0.4"}, False, id="a child's shadow lies beyond the box"),
]


def mutation(operator: str, style: dict[str, str]) -> Change:
    return Change(operator, "easy", next(iter(style)), "", "", "", style=style)


@pytest.mark.browser
@pytest.mark.parametrize(("body", "operator", "style", "on_layout"), LEAKS)
def test_what_shows_beyond_the_box_is_refused(body, operator, style, on_layout, stage):
    with stage(body) as opened:
        director = Director(opened, seed=1)
        facts = next(one for one in director.facts if one["selector"] == "#t")
        change = mutation(operator, style)
        tried = opened.dry_run(operator, [(facts["i"], [change])], 1)
        assert tried["reasons"] == ({"moves its surroundings": 1} if on_layout else {})
        # Captured all the same, the pixels tell.
        assert director.attempt(Candidate(facts, change, {})) is None
        assert director.tally.rejected[operator, "pixels change outside the box"] == 1
        assert opened.is_clean()


@pytest.mark.browser
def test_own_shadow_outline_and_filter_belong_to_the_box(stage):
    body = (
        "<div id=t style='position:absolute;left:100px;top:100px;width:200px;height:60px;background:#cde;"
        "box-shadow:10px 20px 30px 5px #06c;outline:3px solid #000;outline-offset:2px'>Ferries</div>"
    )
    with stage(body) as opened:
        director = Director(opened, seed=1)
        facts = next(one for one in director.facts if one["selector"] == "#t")
        found = director.attempt(Candidate(facts, mutation("opacity", {"opacity": "0.4"}), {}))
    # Beyond the border box 45 + 5 px of blur and spread, less 10 at the left, 20 at the top, more at right and bottom.
    assert found is not None
    assert found.box == (60, 70, 300, 160)
    assert found.own_box == (100, 100, 200, 60)


@pytest.mark.browser
def test_container_gate_allows_what_stays_in_the_block_around(stage):
    body = ONE_PIXEL.replace("display:flex", "display:flex;width:400px;height:60px")
    change = mutation("letter_spacing", {"padding-right": "30px"})
    kept = {}
    for name in ("strict", "container"):
        with stage(body, gate=name) as opened:
            director = Director(opened, seed=1)
            facts = next(one for one in director.facts if one["selector"] == "#t")
            kept[name] = director.attempt(Candidate(facts, change, {}))
    assert kept["strict"] is None
    assert kept["container"] is not None
    assert kept["container"].box == (40, 40, 400, 60)


@pytest.mark.browser
def test_no_effect_is_refused(stage):
    with stage("<b id=t style='position:absolute;left:40px;top:40px'>Ferries</b>") as opened:
        director = Director(opened, seed=1)
        facts = next(one for one in director.facts if one["selector"] == "#t")
        assert director.attempt(Candidate(facts, mutation("border", {"border-color": "#c00"}), {})) is None
        assert director.tally.rejected["border", "no pixel changes"] == 1


@pytest.mark.browser
@pytest.mark.parametrize("selector", ["b", "#nothing"], ids=["two elements", "no element"])
def test_selector_must_name_exactly_one_element(selector, stage):
    with stage("<b>Ferries</b><b>Buses</b>") as opened, pytest.raises(PageError, match="exactly one"):
        opened.apply(selector, "color", {"style": {"color": "#c00"}})


@pytest.mark.browser
def test_undo_restores_attributes_texts_and_pixels(stage):
    body = "<p><b id=t class='a b' style='color: #123456'>Ferries <i>and</i> boats</b></p>"
    changes = [
        {"style": {"color": "#c00", "padding-left": "24px"}},
        {"swap": [["a"], ["c"]]},
        {"text": [0, "Buses "]},
    ]
    with stage(body) as opened:
        outer = opened.tab.evaluate("document.body.innerHTML")
        for change in changes:
            opened.apply("#t", "color", change)
            assert opened.tab.evaluate("document.body.innerHTML") != outer
            opened.undo()
            assert opened.tab.evaluate("document.body.innerHTML") == outer
        assert opened.is_clean()
