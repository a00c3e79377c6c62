"""What is read of a reply: thinking, formats and layouts, each to the statements that a person sees."""

from __future__ import annotations

import pytest

from diffspot_hf.judging.claims import claims_of
from diffspot_hf.judging.reading import statements, visible

VISIBLE = {
    "thinking goes": ("<think>a</think>b", "b"),
    "only a closing tag": ("a</think>b", "b"),
    "never closed": ("<think>a", ""),
    "closed, then opened again": ("<think>a</think>b<think>c", "b"),
    "chat markers": ("b<|im_end|></s>", "b"),
    "byte-order mark": ("\ufeffb", "b"),
}


@pytest.mark.parametrize(("reply", "rest"), VISIBLE.values(), ids=VISIBLE.keys())
def test_visible(reply, rest):
    assert visible(reply) == rest


LAYOUT = {
    "bullets": ("- Logo: larger\n* Title: bold\n1. Button: red", ["Logo: larger", "Title: bold", "Button: red"]),
    "prose": ("The logo is larger. The title is bold!", ["The logo is larger.", "The title is bold!"]),
    "abbreviations and numbers": ("The gap, e.g. 1.5 px, grew.", ["The gap, e.g. 1.5 px, grew."]),
    "quotation with a full stop": ("It says 'Move on. Now!' in both.", ["It says 'Move on. Now!' in both."]),
    "before and after": ("- Button\n  - Before: green\n  - After: red", ["Button ; §A green ; §B red"]),
    "two sentences, one a side": ("In Image A, it is red. In Image B, it is blue.", 1),
    "two descriptions": ("**Image A**\n- title bold\n\n**Image B**\n- title thin", ["§A title bold ; §B title thin"]),
    "equal descriptions": ("Image A:\n- title bold\nImage B:\n- title bold", []),
    "table": ("| Part | Image A | Image B |\n|--|--|--|\n| Logo | left | right |", ["Logo ; §A left ; §B right"]),
    "labels": ("Element: logo\nLocation: header\nChange: larger", ["logo in header ; larger"]),
    "JSON": ('[{"element": "logo", "before": "left", "after": "right"}]', ["logo ; §A left ; §B right"]),
    "JSON in a fence, then prose": ('```json\n["The logo moved."]\n```\nThat is all.', 2),
    "JSON, nothing": ('{"differences": []}', []),
    "HTML": ("<ul><li>The <b>logo</b> moved</li><li>x &amp; y</li></ul>", ["The logo moved", "x & y"]),
    "own marks": ("§A §Q0", 1),
}


@pytest.mark.parametrize(("reply", "expected"), LAYOUT.values(), ids=LAYOUT.keys())
def test_statements(reply, expected):
    found = [s.text for s in statements(reply)]
    assert len(found) == expected if isinstance(expected, int) else found == expected


EFFECTS = {
    "plain": ("- The heading is bolder.", {"weight+"}),
    "of the first image": ("- The heading is bolder in Image A.", {"weight-"}),
    "of the first, by comparison": ("- The heading is bold in A and regular in B.", {"weight-"}),
    "no longer": ("- The heading is no longer bold.", {"weight-"}),
    "from to": ("- The heading changed from bold to regular.", {"weight-"}),
    "arrow": ("- Heading: regular → bold", {"weight+"}),
    "instead of": ("- The corners are sharp instead of rounded.", {"round-"}),
    "measure and degree": ("- The padding of the card is smaller.", {"gap-"}),
    "letters": ("- There is more space between the letters.", {"track+"}),
    "lines": ("- The space between the lines is larger.", {"lead+"}),
    "numbers": ("- Padding: 8px → 24px", {"gap+"}),
    "less of a word": ("- The card is less rounded.", {"round-"}),
    "said to be the same": ("- The heading has the same size.", None),
    "denied": ("- The heading is not bolder.", None),
    "a condition": ("- If the heading is bolder, I cannot see it.", None),
    "quoted words": ("- The text 'Bold moves' is there in both.", None),
    "exception": ("Identical, except the logo.", {"vague~"}),
    "softened": ("The logo might be a bit larger.", {"size+"}),
}


@pytest.mark.parametrize(("reply", "effects"), EFFECTS.values(), ids=EFFECTS.keys())
def test_effects(reply, effects):
    found = claims_of(reply)
    if effects is None:
        assert found == []
    else:
        assert effects <= set().union(*(claim.effects for claim in found))
