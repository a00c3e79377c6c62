"""What a person would call an element: its visible text, its role, and where on the screen it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LONGEST = 48
"""Characters of page text that are quoted before an ellipsis (our choice)."""

TEXTS_FIRST = frozenset(
    {"button", "link", "badge", "input field", "search field", "form label", "text area", "column header"}
)
"""Kinds that are named after their text: the 'Donate' button, but the heading 'Autumn boots'."""

ALONE = frozenset(
    {"navigation bar", "header", "footer", "sidebar", "search field", "banner", "breadcrumb", "pagination"}
)
"""Kinds that are clear without any text, being the only one of their kind."""

HOLDERS = ALONE | {"block", "row", "box", "card", "list", "form", "table", "section", "article", "main area", "notice"}
"""Kinds whose text is what they hold, not what they say."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
NUMBERS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def is_nameable(name: Mapping[str, Any]) -> bool:
    """Whether the element can be told from all others in words: a person must be able to find it."""
    if name["of"] > len(ORDINALS):
        return False
    if name["kind"] in ("group", "row", "box") and not name["heading"]:
        return 0 < len(name["label"]) <= LONGEST
    return bool(name["label"] or name["heading"] or name["picture"] or name["beside"] or name["kind"] in ALONE)


def phrase(name: Mapping[str, Any]) -> str:
    """The element as a noun phrase without its place.

    >>> blank = {"label": "", "heading": "", "picture": "", "beside": "", "above": "", "nth": 1, "of": 1}
    >>> phrase(blank | {"kind": "heading", "label": "Autumn boots"})
    "the heading 'Autumn boots'"
    >>> phrase(blank | {"kind": "button", "label": "View", "nth": 2, "of": 5})
    "the second of the five 'View' buttons"
    >>> phrase(blank | {"kind": "card", "label": "Revenue $12 up 4%", "heading": "Revenue"})
    "the card headed 'Revenue'"
    >>> phrase(blank | {"kind": "button", "label": "PDF", "above": "March"})
    "the 'PDF' button under 'March'"
    >>> phrase(blank | {"kind": "icon", "beside": "Dashboard"})
    "the icon beside 'Dashboard'"
    >>> phrase(blank | {"kind": "button", "picture": "search"})
    'the button with the search icon'
    """
    thing, form, text = _parts(name)
    if name["of"] > 1:
        count = NUMBERS[name["of"]] if name["of"] < len(NUMBERS) else str(name["of"])
        form = f"{ORDINALS[min(name['nth'], len(ORDINALS)) - 1]} of the {count} {form}"
        thing = plural(thing)
    under = f" under {quoted(name['above'])}" if name["above"] else ""
    return f"the {form.format(thing=thing, text=quoted(text))}{under}"


def _parts(name: Mapping[str, Any]) -> tuple[str, str, str]:
    kind, label = name["kind"], name["label"]
    if kind == "group":
        kind = "block"
    if name["heading"]:
        return kind, "{thing} headed {text}", name["heading"]
    if kind in ALONE and name["of"] == 1:
        return kind, "{thing}", ""
    if label and kind in TEXTS_FIRST:
        return kind, "{text} {thing}", label
    if label:
        holds = kind in HOLDERS or (kind in ("list item", "table row") and len(label) > LONGEST // 2)
        return kind, "{thing} with {text}" if holds else "{thing} {text}", label
    if name["picture"]:
        return (kind, f"{name['picture']} {{thing}}", "") if kind == "icon" else (
            kind, f"{{thing}} with the {name['picture']} icon", "")  # fmt: skip
    if name["beside"]:
        return kind, "{thing} beside {text}", name["beside"]
    return kind, "{thing}", ""


def noun(name: Mapping[str, Any]) -> str:
    """What the element is, in one word or two: "card", "block"."""
    return _parts(name)[0]


def quoted(text: str, longest: int = LONGEST) -> str:
    """Page text in quotation marks, untouched but for its length.

    >>> quoted("Sign in"), quoted("Don't"), quoted("a word " * 12)
    ("'Sign in'", '"Don\\'t"', "'a word a word a word a word a word a word a…'")
    """
    text = shortened(" ".join(text.split()), longest)
    mark = '"' if "'" in text and '"' not in text else "'"
    return f"{mark}{text}{mark}"


def shortened(text: str, longest: int = LONGEST) -> str:
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    # Cut at a word where the script has any.
    words = cut.rsplit(" ", 1)
    return (words[0] if len(words) == 2 and len(words[0]) > longest // 2 else cut).rstrip(" ,.;:–-") + "…"


def plural(noun: str) -> str:
    """
    >>> plural("list item"), plural("avatar"), plural("search field"), plural("text box"), plural("entry")
    ('list items', 'avatars', 'search fields', 'text boxes', 'entries')
    """
    if noun.endswith(("x", "s", "ch")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"


def place(rect: Sequence[float], viewport: tuple[int, int]) -> str:
    """Where on the screen the middle of the element lies; `rect` is xywh in CSS px.

    >>> place((10, 10, 100, 20), (1280, 800)), place((600, 380, 80, 40), (1280, 800))
    ('at the top left', 'in the middle')
    """
    x, y = (rect[0] + rect[2] / 2) / viewport[0], (rect[1] + rect[3] / 2) / viewport[1]
    row = "top" if y < 1 / 3 else "bottom" if y > 2 / 3 else ""
    column = "left" if x < 1 / 3 else "right" if x > 2 / 3 else ""
    if row:
        return f"at the {row} {column}".rstrip()
    return f"on the {column}" if column else "in the middle"


def located(name: Mapping[str, Any], rect: Sequence[float], viewport: tuple[int, int]) -> str:
    """The phrase with the place on the screen."""
    return f"{phrase(name)} {place(rect, viewport)}"
