"""From a raw reply to its statements: what a reader sees of it, cut into the units that can claim something.

Thinking, markup and data formats go; bullets, table rows, "Before: … After: …" pairs and labelled records
("Element: … Change: …") each become one statement. Works in one pass; every pattern is bounded, so time is linear.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .layout import Item, items_of, labels, marked, plain_label, side_of

HEAD, TAIL = 60_000, 20_000
"""Characters read of an enormous reply, from its start and from its end (our choice: no ordinary reply is as long)."""
LONGEST = 600
"""Characters of one statement; a longer one is cut (our choice)."""

_THINK = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|reflection)>", re.I)
_CHAT = re.compile(r"<\|[a-z_]{1,20}\|>|</?s>|[\ufeff\u200b\u200c\u200d\u2060]", re.I)
_ANSWER = re.compile(r"</?(?:answer|final|response|output|result)>", re.I)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]{0,10})(?:\s[^<>]{0,300})?/?>", re.I)
_INLINE = frozenset({"b", "strong", "i", "em", "u", "span", "a", "code", "mark", "small", "sup", "sub", "font"})
_FENCE = re.compile(r"^\s*```[\w-]*\s*$", re.M)
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\betc\.)([\"'”’)]{0,2})\s+(?![a-z])|(?<=[。！？])\s*"
)
_BLOCK = re.compile(r"```[\w-]*\s*\n(.*?)```", re.S)
_START, _STOP = re.compile(r"(?<![\w'])'(?=\w)"), re.compile(r"(?<=[\w.!?,])'(?!\w)")
_DEEPEST = 20
"""Levels of JSON that are read (our choice)."""


@dataclass(frozen=True)
class Statement:
    """One unit of a reply. Sides of the pair are marked ``§A`` and ``§B``; `context` is the heading or parent it
    stands under; `listed`: it is a list item; `described`: it came from descriptions of one image each; statements
    of one item share a `group`."""

    text: str
    context: str = ""
    listed: bool = False
    described: bool = False
    group: int = 0


def visible(reply: str) -> str:
    """What is left of `reply` without thinking, chat markers and byte-order marks.

    >>> visible("<think>The heading is bolder.</think>No differences.")
    'No differences.'
    >>> visible("<think>never closed")
    ''
    """
    kept = 0
    opened: int | None = None
    for tag in _THINK.finditer(reply):
        if tag[1]:
            kept, opened = tag.end(), None
        elif opened is None:
            opened = tag.start()
    text = reply[kept:opened] if opened is not None else reply[kept:]
    return _CHAT.sub(" ", text).strip()


def statements(reply: str) -> list[Statement]:
    """The statements of `reply` in reading order.

    >>> [s.text for s in statements("1. **Logo**: larger\\n2. No other change")]
    ['Logo: larger', 'No other change']
    """
    text = visible(reply).replace("§", " ")  # the sign of our own marks
    if len(text) > HEAD + TAIL:
        text = text[:HEAD] + "\n" + text[-TAIL:]
    text = unicodedata.normalize("NFKC", text.replace("…", "... ")).replace("\r\n", "\n").replace("\r", "\n")
    text = _BLOCK.sub(lambda block: f"\n{_unpacked(block[1])}\n", _ANSWER.sub("\n", text))
    text = _TAG.sub(_line, _FENCE.sub("", _unpacked(text.strip())))
    return list(_sentences(items_of(html.unescape(text).split("\n"))))


def _line(tag: re.Match[str]) -> str:
    """What stands for an HTML tag: nothing, a line break, or a bullet."""
    name = tag[2].lower()
    return "" if name in _INLINE else "\n- " if name == "li" and not tag[1] else "\n"


def _unpacked(text: str) -> str:
    """`text` with a JSON value at its start told in lines; other text as it is."""
    body = text.lstrip()
    if body[:1] not in ("{", "["):
        return text
    try:
        data, end = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return text
    return "\n".join([*_flatten(data, 0), body[end:]])


def _flatten(data: Any, depth: int) -> Iterator[str]:
    """Lines that say the same as JSON: an object of plain values is one record, everything else is walked."""
    if isinstance(data, str):
        yield "- " + " ".join(data.split())
    elif isinstance(data, list) and depth < _DEEPEST:
        for value in data:
            yield from _flatten(value, depth + 1)
    elif isinstance(data, dict) and depth < _DEEPEST:
        plain = {
            str(k): " ".join(str(v).split())
            for k, v in data.items()
            if isinstance(v, (str, int, float)) and v not in (True, False)
        }
        nested = [v for v in data.values() if isinstance(v, (list, dict))]
        if nested:
            yield from (f"- {value}" for value in plain.values())
            for value in nested:
                yield from _flatten(value, depth + 1)
        elif plain:
            yield "- " + _record(plain)


def _record(plain: dict[str, str]) -> str:
    """A record's values as one statement: the thing, its place, the change."""
    kinds = {key: next((kind for kind, words in labels().items() if plain_label(key) in words), "how") for key in plain}
    what = " ".join(value for key, value in plain.items() if kinds[key] == "what")
    where = [f"in {value}" for key, value in plain.items() if kinds[key] == "where"]
    how = [marked(f"{key.replace('_', ' ')}: {value}") for key, value in plain.items() if kinds[key] == "how"]
    return " ; ".join([*([what] if what else []), *where, *how])


def _sentences(items: list[Item]) -> Iterator[Statement]:
    """Statements of the items: descriptions of the two sides are paired, prose is cut into sentences."""
    first = [i for i in items if i.side == "§A"]
    second = [i for i in items if i.side == "§B"]
    pairs = dict(_pairs(first, second))
    for number, item in enumerate(items):
        if item.side:
            yield from _described(item, pairs.get(id(item)), bool(second), number)
            continue
        if item.keys & {"title", "parent"} and item.text.endswith(":"):
            continue
        if "title" in item.keys and number + 1 < len(items):
            yield Statement(item.text[:LONGEST], "§title", True, False, number)
            continue
        listed = item.listed or item.sided or bool(item.keys)
        pieces = [item.text[: 2 * LONGEST]] if item.sided else _prose(item.text)
        for piece in pieces:
            yield Statement(piece, item.context, listed, False, number)


def _described(item: Item, other: Item | None, both: bool, number: int) -> Iterator[Statement]:
    """The statement of a line that describes one image, beside the line of the other image that it matches."""
    text = item.text[:LONGEST]
    if item.side == "§A" and not both:
        yield Statement(f"§A {text}", item.context, True, True, number)
    elif item.side == "§B" and other is None:
        yield Statement(f"§B {text}", item.context, True, True, number)
    elif item.side == "§B" and other is not None and other.text != item.text:
        yield Statement(f"§A {other.text[:LONGEST]} ; §B {text}", item.context, True, True, number)


def _prose(text: str) -> Iterator[str]:
    """Sentences; two that set Image A and Image B side by side stay together."""
    held = ""
    for sentence in _whole(_SENTENCE.sub(lambda end: f"{end[1] or ''}\n", text).split("\n")):
        for piece in _cut(sentence.strip()):
            side, before = side_of(piece), side_of(held)
            if side and before and side != before:
                held += " ; " + piece
                continue
            if held:
                yield held
            held = piece
    if held:
        yield held


def _whole(pieces: list[str]) -> Iterator[str]:
    """Sentences, put together again where the cut fell inside a quotation."""
    held = ""
    for piece in pieces:
        held = f"{held} {piece}" if held else piece
        if (_open(held) and len(held) < LONGEST) and piece is not pieces[-1]:
            continue
        yield held
        held = ""
    if held:
        yield held


def _open(text: str) -> bool:
    """Whether a quotation is still open at the end of `text`."""
    return (
        text.count('"') % 2 == 1
        or text.count("“") > text.count("”")
        or len(_START.findall(text)) > len(_STOP.findall(text))
    )


def _cut(text: str) -> Iterator[str]:
    step = LONGEST if text.isascii() else LONGEST // 3  # scripts without blanks say more in a character
    for start in range(0, len(text), step):
        if piece := text[start : start + step].strip():
            yield piece


def _pairs(first: list[Item], second: list[Item]) -> Iterator[tuple[int, Item]]:
    """For each item of the second description the item of the first that shares most words (at most 60 a side)."""
    words = [(item, frozenset(item.text.lower().split())) for item in first[:60]]
    for item in second[:60]:
        own = frozenset(item.text.lower().split())
        best, share = None, 0.25
        for other, theirs in words:
            overlap = len(own & theirs) / max(1, min(len(own), len(theirs)))
            if overlap > share or (overlap == share and best is None):
                best, share = other, overlap
        if best is not None:
            yield id(item), best
