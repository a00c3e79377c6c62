"""Records: the sign of a change by its values, and the thing by its description."""

from __future__ import annotations

import pytest

from diffspot_hf.judging.records import read_record, vector

SIGNS = {
    "weights": ("font_weight", "", "400", "700", "+"),
    "weights in words": ("font_weight", "", "bold", "normal", "-"),
    "weight classes": ("font_weight", "", "font-light", "font-semibold", "+"),
    "size classes": ("font_size", "", "text-2xl", "text-sm", "-"),
    "sizes": ("font_size", "", "16px", "1px", "-"),
    "spacing from normal": ("letter_spacing", "", "normal", "-0.06em", "-"),
    "leading classes": ("line_height", "", "leading-tight", "leading-loose", "+"),
    "opacity in percent": ("opacity", "", "50%", "0.9", "+"),
    "radius": ("rounded", "", "4px", "9999px", "+"),
    "border gone": ("border", "", "2px", "none", "-"),
    "lighter": ("color", "", "#111827", "#f9fafb", "+"),
    "direction where values say nothing": ("spacing", "decrease", "", "", "-"),
    "values before direction": ("font_size", "increase", "20px", "10px", "-"),
    "unknown": ("spacing", "", "auto", "auto", "~"),
}


@pytest.mark.parametrize(("kind", "direction", "old", "new", "sign"), SIGNS.values(), ids=SIGNS.keys())
def test_sign(kind, direction, old, new, sign):
    record = read_record({"type": kind, "direction": direction, "old_value": old, "new_value": new}, "")
    assert record.sign == sign


VECTORS = {
    "translate": ("transform", "", "translate(0, 0)", "translate(32px, -8px)", (32, -8)),
    "translateY": ("transform", "", "translateY(4px)", "translateY(10px)", (0, 6)),
    "the property translate": ("translate", "", "0px 5px", "-30px 5px", (-30, 0)),
    "a matrix": ("transform", "", "none", "matrix(1, 0, 0, 1, 12, 3)", (12, 3)),
    "top": ("top", "", "12px", "-4px", (0, -16)),
    "right pulls left": ("right", "", "0px", "20px", (-20, 0)),
    "direction alone": ("transform", "up", "", "", (0, -1)),
}


@pytest.mark.parametrize(("prop", "direction", "old", "new", "move"), VECTORS.values(), ids=VECTORS.keys())
def test_vector(prop, direction, old, new, move):
    mutation = {"type": "position", "property": prop, "direction": direction, "old_value": old, "new_value": new}
    assert vector(read_record(mutation, "")) == move


@pytest.mark.parametrize(
    ("prop", "operator"),
    [
        ("font-weight", "font_weight"),
        ("padding-left", "spacing"),
        ("border-style", "border"),
        ("border-radius", "rounded"),
        ("background-image", "gradient"),
        ("outline-color", "color"),
        ("filter", "color"),
    ],
)
def test_operator_by_property(prop, operator):
    assert read_record({"type": "something", "property": prop}, "").operator == operator


def test_thing_and_surroundings():
    thing = read_record(
        {"type": "opacity", "element": "the price of the oak stool beside 'Lamps' in the second row"}, ""
    ).profile
    assert thing.heads == {"price"}
    assert thing.owners == {"oak", "stool"}
    assert thing.neighbours == ("Lamps",)
    assert thing.setting == {"row"}
    assert thing.ordinals["row"] == {"2"}
