"""The words of a pair: one sentence for people, one line for the record, and the seven-key mutation record.

Templates, so that every word is true of the pair: kind, direction and degree come from the change, lengths from the
layout before and after. Page text is quoted as it stands, in its own language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import naming
from .change import Change, Facts, number
from .color import name as colour_name
from .scales import OPERATORS

DEGREE = {"easy": "much ", "medium": "", "hard": "slightly "}
CLEARLY = {"easy": "clearly ", "medium": "", "hard": "slightly "}


WORDS = frozenset({"text", "heading", "paragraph", "caption", "quotation", "label", "form label", "date", "term"})
"""Kinds that are nothing but their text."""


@dataclass(frozen=True)
class Scene:
    """A change in its surroundings; `effect` is what the layout did: rectangles before and after, shift of the text."""

    facts: Facts
    change: Change
    effect: Mapping[str, Any]
    viewport: tuple[int, int]

    @property
    def who(self) -> str:
        return naming.located(self.facts["name"], self.facts["rect"], self.viewport)

    @property
    def more(self) -> str:
        return DEGREE[self.change.tier]

    @property
    def grew(self) -> bool:
        return self.change.direction == "increase"


def sentence(facts: Facts, change: Change, effect: Mapping[str, Any], viewport: tuple[int, int]) -> str:
    """One or two English sentences that say what a person would see change from the first picture to the second."""
    text = _SAY[change.operator](Scene(facts, change, effect, viewport))
    return text[0].upper() + text[1:]


def record(facts: Facts, change: Change, viewport: tuple[int, int]) -> dict[str, str]:
    """The official seven-key mutation record."""
    element = naming.phrase(facts["name"])
    if not facts["name"]["label"]:
        element = f"{element} {naming.place(facts['rect'], viewport)}"
    return {
        "type": change.operator,
        "element": element,
        "property": change.property,
        "direction": change.direction,
        "old_value": change.old,
        "new_value": change.new,
        "template": _template(element, change),
    }


def _template(element: str, change: Change) -> str:
    if change.operator == "text":
        return (
            f"{element} has its text changed from {naming.quoted(change.old, 200)} to {naming.quoted(change.new, 200)}"
        )
    tail = f" ({change.direction})" if change.direction else ""
    return f"{change.property} of {element} changes from {change.old} to {change.new}{tail}"


def _font_weight(s: Scene) -> str:
    word = "bolder" if s.grew else "lighter in weight"
    return f"{_text_of(s)} is {s.more}{word}: its font weight goes from {s.change.old} to {s.change.new}."


def _font_size(s: Scene) -> str:
    word = "larger" if s.grew else "smaller"
    return f"{_text_of(s)} is {s.more}{word}: from {_px(s.change.old)} to {_px(s.change.new)}."


def _letter_spacing(s: Scene) -> str:
    word = "further apart" if s.grew else "closer together"
    return (
        f"the letters of {s.who} stand {s.more}{word}: the letter spacing goes from {s.change.old} to {s.change.new}."
    )


def _line_height(s: Scene) -> str:
    values = f"their line height goes from {s.change.old} to {s.change.new}"
    if s.change.note != "container":
        values = values.replace("their", "the")
    if s.change.note == "lines":
        word = "further apart" if s.grew else "closer together"
        return f"the lines of {s.who} stand {s.more}{word}: {values}.{_moved(s)}"
    who, have = (f"the texts in {s.who}", "have") if s.change.note == "container" else (_text_of(s), "has")
    said = f"{who} {have} {s.more}{'more' if s.grew else 'less'} room per line: {values}."
    size = s.effect["after"][3] - s.effect["rect"][3]
    if abs(size) < 1:
        return f"{said}{_moved(s)}"
    return (
        f"{said} This makes the {naming.noun(s.facts['name'])} {_few(abs(size))} {'taller' if size > 0 else 'shorter'}."
    )


def _text(s: Scene) -> str:
    old, new = s.change.details["old"], s.change.details["new"]
    name = s.facts["name"]
    whose = s.who if s.facts["name"]["kind"] in WORDS else f"the text of {s.who}"
    now = f"it now reads {naming.quoted(_shown(s, s.change.new), 90)}"
    if s.change.magnitude == "whole label":
        return f"{whose} is replaced: {now}."
    if s.change.magnitude == "one character":
        a, b = _around(s.change.old, s.change.new)
        return f"one character changes in {s.who}: {naming.quoted(_shown(s, a))} becomes {naming.quoted(_shown(s, b))}."
    if s.change.note == "deleted":
        part = "word {} is" if s.change.magnitude == "one word" else "words {} are"
        return f"the {part.format(naming.quoted(_shown(s, old)))} missing from {s.who}: {now}."
    if s.change.magnitude == "one word":
        if len(name["label"].split()) < 2:
            return f"{whose} is replaced: {now}."
        return f"in {s.who} the word {naming.quoted(_shown(s, old))} is replaced by {naming.quoted(_shown(s, new))}."
    return f"half of the words of {s.who} are replaced: {now}."


def _color(s: Scene) -> str:
    what = "background" if s.change.property != "color" else "colour" if s.facts["name"]["kind"] in WORDS else "text"
    return f"the {what} of {s.who} is {s.more}{s.change.direction}: {_colours(s.change)}."


def _opacity(s: Scene) -> str:
    return f"{s.who} is {s.more}more transparent: its opacity falls from {s.change.old} to {s.change.new}."


def _gradient(s: Scene) -> str:
    if s.change.note == "turned":
        turn = {"easy": "turned around, so that its colours change ends", "medium": "turned by a quarter",
                "hard": "turned by an eighth of a full turn"}[s.change.tier]  # fmt: skip
        return f"the colour gradient in the background of {s.who} is {turn}."
    where = s.change.details.get("where") or s.change.note
    where = f"at {where}" if where == "both ends" else f"at the {where}"
    return f"the colour gradient in the background of {s.who} is {s.more}{s.change.direction} {where}."


def _position(s: Scene) -> str:
    x, y = s.change.details["x"], s.change.details["y"]
    far = {"easy": "", "medium": "", "hard": "slightly, "}[s.change.tier]
    return f"{s.who} is shifted {far}{number(abs(x or y))} px {_way(x, y)}."


def _spacing(s: Scene) -> str:
    kind = "padding" if s.change.property.startswith("padding") else "margin"
    amount = abs(float(re.sub(r"[^\d.]", "", s.change.magnitude)))
    where = f"on the {s.change.note}" if s.change.note in ("left", "right") else f"at the {s.change.note}"
    if s.change.note.count(" and "):
        where = "on all sides" if s.change.note.count(" and ") == 3 else f"{s.change.note} alike"
    inner = "the inner space (padding) of" if kind == "padding" else "the space (margin) around"
    word = "grows" if s.grew else "shrinks"
    values = f"from {_px(s.change.old)} to {_px(s.change.new)}"
    return f"{inner} {s.who} {word} by {number(amount)} px {where}, {values}.{_moved(s)}"


def _justify(s: Scene) -> str:
    reverse, column = s.change.note.endswith("reverse"), s.change.note.startswith("column")
    rtl = s.facts["computed"]["direction"] == "rtl"
    first, last = ("top", "bottom") if column else ("left", "right")
    if reverse != (rtl and not column):
        first, last = last, first
    words = {"start": f"to the {first}", "end": f"to the {last}", "center": "in the centre"}
    old, new = s.change.way.split(" to ")
    if s.change.tier == "hard":
        how = {"between": "with no gap at either end", "around": "with half a gap at either end",
               "evenly": "with a full gap at either end"}  # fmt: skip
        return f"the items in {s.who} are spread differently: {how[new]} instead of {how[old]}."
    return f"the items in {s.who} are aligned {words[new]} instead of {words[old]}."


def _border(s: Scene) -> str:
    sides = s.change.details.get("sides", [])
    edge = "border" if len(sides) == 4 else f"border at the {' and '.join(sides)}"
    if s.change.note == "width":
        return f"the {edge} of {s.who} is {s.more}thicker: from {_px(s.change.old)} to {_px(s.change.new)}."
    if s.change.note == "style":
        return f"the {edge} of {s.who} is {s.change.new} instead of {s.change.old}."
    return f"the {edge} of {s.who} is {s.more}{s.change.direction}: {_colours(s.change)}."


def _rounded(s: Scene) -> str:
    half, old, new = (s.change.details[k] for k in ("half", "from", "to"))
    if s.change.tier == "easy" and new == 0:
        shape = f"square instead of {'fully round' if old >= half else 'rounded'}"
    elif s.change.tier == "easy" and new >= half:
        shape = f"fully round instead of {'square' if old == 0 else 'slightly rounded'}"
    else:
        shape = f"{s.more}{'rounder' if s.grew else 'less round'}"
        sizes = ["fully round" if radius >= half else f"{number(radius)} px" for radius in (old, new)]
        shape += f": their radius goes from {sizes[0]} to {sizes[1]}"
    return f"the corners of {s.who} are {shape}."


_SAY: dict[str, Callable[[Scene], str]] = {
    "font_weight": _font_weight, "font_size": _font_size, "letter_spacing": _letter_spacing,
    "line_height": _line_height, "text": _text, "color": _color, "opacity": _opacity, "gradient": _gradient,
    "position": _position, "spacing": _spacing, "justify": _justify, "border": _border, "rounded": _rounded,
}  # fmt: skip
assert list(_SAY) == list(OPERATORS)


def _text_of(s: Scene) -> str:
    return s.who if s.facts["name"]["kind"] in {*WORDS, "link"} else f"the text of {s.who}"


def _colours(change: Change) -> str:
    old, new = change.details["old"], change.details["new"]
    names = colour_name(old), colour_name(new)
    if names[0] == names[1]:
        return f"from {change.old} to {change.new}"
    return f"from {names[0]} ({change.old}) to {names[1]} ({change.new})"


def _px(value: str) -> str:
    return re.sub(r"(?<=\d)px$", " px", value)


def _few(value: float) -> str:
    return f"{round(value)} px"


def _way(x: float, y: float) -> str:
    if abs(x) >= abs(y):
        return "to the right" if x > 0 else "to the left"
    return "down" if y > 0 else "up"


def _moved(s: Scene) -> str:
    """What else a person sees: where the text went, or how the box changed."""
    first, most = s.effect.get("text"), s.effect.get("farthest")
    if s.change.operator == "spacing" and most and first != most:
        x, y = most
        return f" What is in it moves by up to {_few(max(abs(x), abs(y)))} {_way(x, y)}."
    if first and max(abs(first[0]), abs(first[1])) >= 1:
        return f" Its text sits {_few(max(abs(first[0]), abs(first[1])))} {_further(*first)}."
    w, h = (s.effect["after"][n] - s.effect["rect"][n] for n in (2, 3))
    if s.change.operator == "spacing" and max(abs(w), abs(h)) >= 1:
        size, words = (w, ("wider", "narrower")) if abs(w) >= abs(h) else (h, ("taller", "shorter"))
        return f" It is {_few(abs(size))} {words[size < 0]}."
    return ""


def _further(x: float, y: float) -> str:
    if abs(x) >= abs(y):
        return "further right" if x > 0 else "further left"
    return "lower" if y > 0 else "higher"


def _shown(s: Scene, text: str) -> str:
    """Page text as CSS shows it."""
    match s.facts["computed"]["text-transform"]:
        case "uppercase":
            return text.upper()
        case "lowercase":
            return text.lower()
        case "capitalize":
            return re.sub(r"\b\w", lambda m: m[0].upper(), text)
    return text


def _around(old: str, new: str) -> tuple[str, str]:
    """The words around the first difference, for texts too long to be quoted whole.

    >>> _around("Invoice 4711 is due", "Invoice 4712 is due")
    ('4711', '4712')
    """
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    start = old.rfind(" ", 0, at) + 1
    ends: Sequence[int] = [len(t) if (e := t.find(" ", at)) < 0 else e for t in (old, new)]
    return old[start : ends[0]], new[start : ends[1]]
