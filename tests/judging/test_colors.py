"""Colours: values as OKLCH, the names that fit them, and records whose colours replies tell in words."""

from __future__ import annotations

import pytest

from diffspot_hf.judging.colors import distance, from_rgb, names, parse
from diffspot_hf.judging.rules import judge

NAMED = {
    "#dc2626": "red",
    "#f97316": "orange",
    "#facc15": "yellow",
    "#16a34a": "green",
    "#0d9488": "teal",
    "#2563eb": "blue",
    "#1e3a8a": "blue",
    "#7c3aed": "purple",
    "#ec4899": "pink",
    "#78350f": "brown",
    "#6b7280": "gray",
    "#111827": "black",
    "#f9fafb": "white",
    "rgb(255 0 0)": "red",
    "rgba(0, 0, 255, 0.5)": "blue",
    "hsl(120deg 100% 25%)": "green",
    "oklch(0.6 0.2 250)": "blue",
    "oklab(60% 0.1 -0.2)": "purple",
    "gray-400": "gray",
    "emerald-600": "green",
    "#fff": "white",
}


@pytest.mark.parametrize(("value", "name"), NAMED.items())
def test_names(value, name):
    assert name in names(parse(value)[0])


@pytest.mark.parametrize(
    "value", ["", "none", "var(--x)", "rgb(1)", "rgb(a b c)", "#12345", "oklch(none 0 0)", "gray-7"]
)
def test_what_is_no_colour_is_left_out(value):
    assert parse(value) == ()


def test_values_of_a_gradient_in_order():
    assert [round(c.l) for c in parse("linear-gradient(90deg, #000, rgb(255, 255, 255))")] == [0, 1]


def test_distance_is_that_of_oklab():
    assert distance(from_rgb(1, 1, 1), from_rgb(0, 0, 0)) == pytest.approx(1.0, abs=1e-6)
    assert distance(from_rgb(0.2, 0.4, 0.6), from_rgb(0.2, 0.4, 0.6)) == 0


TOLD = {
    "named": ("is now red", "correct"),
    "both named": ("changed from green to red", "correct"),
    "other word for it": ("turned crimson", "correct"),
    "as a value": ("is #db2525 in Image B", "correct"),
    "without a name": ("has another colour", "correct"),
    "wrong name": ("is now purple", "partial"),
    "exchanged": ("changed from red to green", "partial"),
    "wrong former colour": ("changed from yellow", "partial"),
}


@pytest.mark.parametrize(("told", "verdict"), TOLD.values(), ids=TOLD.keys())
@pytest.mark.parametrize(
    "values", [("#16a34a", "#dc2626"), ("green-600", "red-600"), ("oklch(0.63 0.17 149)", "rgb(220 38 38)")]
)
def test_colours_in_words(told, verdict, values):
    old, new = values
    record = {
        "type": "color",
        "element": "the 'Donate' button",
        "property": "background-color",
        "old_value": old,
        "new_value": new,
    }
    given = judge(mutation=record, ground_truth_diff="", reply=f"- The 'Donate' button {told}.")
    assert given["mutations"][0]["verdict"] == verdict
