"""Descriptions: what a person would say, with the true direction, degree and place."""

from __future__ import annotations

import json

import pytest

from diffspot_hf.build.web import describe, naming
from diffspot_hf.build.web.change import Change
from diffspot_hf.build.web.color import css
from diffspot_hf.build.web.scales import OPERATORS

VIEWPORT = (1280, 800)


def named(kind: str, label: str = "", **more) -> dict:
    return {
        "kind": kind,
        "label": label,
        "heading": "",
        "picture": "",
        "beside": "",
        "above": "",
        "nth": 1,
        "of": 1,
    } | more


def facts(name: dict, rect=(40, 40, 200, 40), **computed) -> dict:
    return {"name": name, "rect": list(rect), "computed": {"text-transform": "none", "direction": "ltr"} | computed}


def still(rect=(40, 40, 200, 40), **more) -> dict:
    return {"rect": list(rect), "after": list(rect), "text": None} | more


def change(operator: str, tier: str, prop: str, old: str, new: str, direction: str = "", **more) -> Change:
    return Change(operator, tier, prop, old, new, more.pop("magnitude", ""), direction, **more)


HEADING, BUTTON = named("heading", "Autumn boots"), named("button", "Donate")
GREY, LIGHT = (107, 114, 128, 1.0), (209, 213, 219, 1.0)
SENTENCES = [
    (HEADING, change("font_weight", "easy", "font-weight", "400", "700", "increase"), still(),
     "The heading 'Autumn boots' at the top left is much bolder: its font weight goes from 400 to 700."),
    (BUTTON, change("font_weight", "hard", "font-weight", "600", "500", "decrease"), still(),
     "The text of the 'Donate' button at the top left is slightly lighter in weight: "
     "its font weight goes from 600 to 500."),
    (named("caption", "Lentil soup"), change("font_size", "medium", "font-size", "12px", "16px", "increase"), still(),
     "The caption 'Lentil soup' at the top left is larger: from 12 px to 16 px."),
    (named("link", "Sign in"), change("letter_spacing", "hard", "letter-spacing", "0em", "-0.06em", "decrease"),
     still(), "The letters of the 'Sign in' link at the top left stand slightly closer together: "
     "the letter spacing goes from 0em to -0.06em."),
    (named("paragraph", "Boats leave at nine"),
     change("line_height", "easy", "line-height", "1.5", "2.1", "increase", note="lines"), still(),
     "The lines of the paragraph 'Boats leave at nine' at the top left stand much further apart: "
     "the line height goes from 1.5 to 2.1."),
    (named("sidebar", "Home Map"), change("line_height", "medium", "line-height", "1.5", "1.15", "decrease",
     note="container"), still(after=[40, 40, 200, 26]),
     "The texts in the sidebar at the top left have less room per line: their line height goes from 1.5 to 1.15. "
     "This makes the sidebar 14 px shorter."),
    (named("text", "Wstęp wolny"), change("text", "easy", "text-content", "Wstęp wolny", "Bilet roczny",
     magnitude="whole label", note="replaced", text=(0, "Bilet roczny"), details={"old": "", "new": ""}), still(),
     "The text 'Wstęp wolny' at the top left is replaced: it now reads 'Bilet roczny'."),
    (named("paragraph", "Rates rose by 2.4 %"), change("text", "hard", "text-content", "Rates rose by 2.4 %",
     "Rates rose by 2.7 %", magnitude="one character", note="replaced", text=(0, "x"),
     details={"old": "4", "new": "7"}), still(),
     "One character changes in the paragraph 'Rates rose by 2.4 %' at the top left: '2.4' becomes '2.7'."),
    (named("heading", "Boats leave at nine"), change("text", "medium", "text-content", "Boats leave at nine",
     "Boats at nine", magnitude="one word", note="deleted", text=(0, "x"), details={"old": "leave", "new": ""}),
     still(), "The word 'leave' is missing from the heading 'Boats leave at nine' at the top left: "
     "it now reads 'Boats at nine'."),
    (named("text", "Free delivery"), change("color", "medium", "color", css(GREY), css(LIGHT), "lighter",
     details={"old": GREY, "new": LIGHT}), still(),
     "The colour of the text 'Free delivery' at the top left is lighter: from grey (#6b7280) to light grey (#d1d5db)."),
    (named("card", "New $12", heading="New"), change("opacity", "easy", "opacity", "1", "0.4", "decrease"), still(),
     "The card headed 'New' at the top left is much more transparent: its opacity falls from 1 to 0.4."),
    (named("banner", "Winter"), change("gradient", "easy", "background-image", "a", "b", note="turned"), still(),
     "The colour gradient in the background of the banner at the top left is turned around, "
     "so that its colours change ends."),
    (named("button", "Buy"), change("gradient", "hard", "background-image", "a", "b", "darker", note="end",
     details={"where": "bottom right"}), still(),
     "The colour gradient in the background of the 'Buy' button at the top left "
     "is slightly darker at the bottom right."),
    (named("image", "The school crest"), change("position", "medium", "transform", "a", "b", "down",
     details={"x": 0, "y": 12}), still(), "The image 'The school crest' at the top left is shifted 12 px down."),
    (named("list item", "Login"), change("spacing", "hard", "padding-left", "12px", "16px", "increase", note="left",
     magnitude="+4px"), still(text=[4, 0]),
     "The inner space (padding) of the list item 'Login' at the top left grows by 4 px on the left, "
     "from 12 px to 16 px. Its text sits 4 px further right."),
    (named("row", "A B"), change("justify", "hard", "justify-content", "space-between", "space-evenly",
     way="between to evenly", note="row"), still(),
     "The items in the row with 'A B' at the top left are spread differently: "
     "with a full gap at either end instead of with no gap at either end."),
    (named("input field", "Email"), change("border", "easy", "border-style", "solid", "dashed", note="style",
     details={"sides": ["top", "right", "bottom", "left"]}), still(),
     "The border of the 'Email' input field at the top left is dashed instead of solid."),
    (BUTTON, change("rounded", "easy", "border-radius", "4px", "9999px", "increase",
     details={"half": 20, "from": 4, "to": 9999}), still(),
     "The corners of the 'Donate' button at the top left are fully round instead of slightly rounded."),
    (BUTTON, change("rounded", "hard", "border-radius", "4px", "6px", "increase",
     details={"half": 20, "from": 4, "to": 6}), still(),
     "The corners of the 'Donate' button at the top left are slightly rounder: their radius goes from 4 px to 6 px."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "made", "effect", "expected"), SENTENCES, ids=[one[3][:50] for one in SENTENCES])
def test_sentence(name, made, effect, expected):
    assert describe.sentence(facts(name), made, effect, VIEWPORT) == expected


def test_every_operator_has_a_sentence():
    assert {made.operator for _, made, _, _ in SENTENCES} == set(OPERATORS)


@pytest.mark.parametrize(
    ("direction", "flow", "way", "expected"),
    [
        ("ltr", "row", "start to end", "to the right instead of to the left"),
        ("rtl", "row", "start to end", "to the left instead of to the right"),
        ("ltr", "row-reverse", "start to end", "to the left instead of to the right"),
        ("ltr", "column", "end to start", "to the top instead of to the bottom"),
        ("rtl", "column", "center to end", "to the bottom instead of in the centre"),
    ],
)
def test_alignment_is_told_as_it_looks(direction, flow, way, expected):
    made = change("justify", "easy", "justify-content", "", "", way=way, note=flow)
    said = describe.sentence(facts(named("row", "A B"), direction=direction), made, still(), VIEWPORT)
    assert said.endswith(f"are aligned {expected}.")


def test_text_is_quoted_as_it_is_shown():
    made = change("text", "hard", "text-content", "Login screens", "Logan screens", magnitude="one character",
                  note="replaced", text=(0, "x"), details={"old": "i", "new": "a"})  # fmt: skip
    said = describe.sentence(
        facts(named("heading", "LOGIN SCREENS"), **{"text-transform": "uppercase"}), made, still(), VIEWPORT
    )
    assert said == "One character changes in the heading 'LOGIN SCREENS' at the top left: 'LOGIN' becomes 'LOGAN'."


def test_record_has_the_seven_keys_and_names_the_element():
    record = describe.record(facts(HEADING), SENTENCES[0][1], VIEWPORT)
    assert record == {
        "type": "font_weight", "element": "the heading 'Autumn boots'", "property": "font-weight",
        "direction": "increase", "old_value": "400", "new_value": "700",
        "template": "font-weight of the heading 'Autumn boots' changes from 400 to 700 (increase)",
    }  # fmt: skip
    assert json.loads(json.dumps(record)) == record
    assert describe.record(facts(named("navigation bar")), SENTENCES[0][1], VIEWPORT)["element"].endswith(
        "at the top left"
    )


NAMES = [
    (named("button", "View", nth=2, of=5), "the second of the five 'View' buttons"),
    (named("icon", picture="search"), "the search icon"),
    (named("button", picture="menu"), "the button with the menu icon"),
    (named("avatar", beside="Douglas McGee"), "the avatar beside 'Douglas McGee'"),
    (named("navigation bar", "Home Map"), "the navigation bar"),
    (named("navigation bar", "Home Map", nth=1, of=2), "the first of the two navigation bars with 'Home Map'"),
    (named("group", "Total 12"), "the block with 'Total 12'"),
    (named("heading", "Don't miss it"), 'the heading "Don\'t miss it"'),
    (named("paragraph", "word " * 30), "the paragraph 'word word word word word word word word word…'"),
    (named("link", "関連情報を見る"), "the '関連情報を見る' link"),
]


@pytest.mark.parametrize(("name", "expected"), NAMES, ids=[one[1] for one in NAMES])
def test_element_is_named_as_a_person_would(name, expected):
    assert naming.phrase(name) == expected
    assert naming.is_nameable(name)


@pytest.mark.parametrize(
    "name",
    [named("box"), named("group", "long " * 20), named("icon"), named("link", "More", nth=11, of=14)],
    ids=["nothing to say", "a block of running text", "one icon of many", "one of too many"],
)
def test_element_that_cannot_be_told_in_words_is_no_target(name):
    assert not naming.is_nameable(name)


# What the page says of its elements, for names that depend on the page.
PAGE = """<nav style='height:40px;background:#eee'><a href=#>Home</a> <svg class='fa fa-bars' width=16 height=16
style='background:#000'></svg></nav>
<div class=card style='width:300px;border:1px solid #888'><h3>Revenue</h3><button><span>Export</span></button>
<button><span>Export</span></button><img alt='Sales chart' style='width:80px;height:80px;background:#8ac'></div>
<input placeholder='Search for trips' style='width:200px;height:30px'>
<p><b>Bold words</b> in a longer paragraph of text</p>"""


@pytest.mark.browser
def test_names_come_from_what_is_seen(stage):
    with stage(PAGE) as opened:
        names = {naming.phrase(one["name"]) for one in opened.scan()["facts"] if naming.is_nameable(one["name"])}
    assert names >= {
        "the navigation bar", "the 'Home' link", "the menu icon", "the card headed 'Revenue'", "the heading 'Revenue'",
        "the first of the two 'Export' buttons", "the second of the two 'Export' buttons", "the image 'Sales chart'",
        "the search field", "the text 'Bold words'",
    }  # fmt: skip
