"""Which option letter does a reply give? Read twice: strictly, as the papers' exact match does, and as a person would.

Strict is the headline. Lenient is what a careful reader says the reply commits to, by rules of our own; where it is in
doubt it says None, because a wrong letter is worse than none, and None is never replaced by a guess.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from . import answer_words as words
from .json_scan import find_json
from .letter_doubts import taken_back
from .letter_events import Events, read_events
from .letter_tokens import PLACE, Token, tokens, without_decoration
from .option_texts import OptionTexts
from .reply_text import outside_thinking, without_markers

_ANSWER_TAG = re.compile(r"<(/?)(?:final_?answer|answer|choice|option)>", re.IGNORECASE)
_BOX = re.compile(r"\\boxed\s?\{")
_BRACE = re.compile(r"[{}]")
_ANSWER_KEYS = frozenset({"answer", "finalanswer", "choice", "option"})
_KEY = re.compile(r"""["']([\w -]{1,20})["']\s*:\s*("[^"]*"|'[^']*'|[^\s,]+)""")
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_KEY_NOISE = re.compile(r"[\W_]+")
_ABBREVIATED = re.compile(r"\b(?:(i)\. ?e|e\. ?g)\.,?", re.IGNORECASE)
_SMALL_LABEL = re.compile(r"^\W*[a-z](?=[.):,])")
_Cut = tuple[int, int, str | None]
_LONGEST_BOX, _MOST_PLACES, _DEEPEST, _REVOKED_WITHIN = 400, 1000, 2, 60  # our choices


def read_strict(reply: str | None, letters: Sequence[str]) -> str | None:
    """The reply if, stripped of whitespace, it is exactly one of `letters`; else None.

    >>> read_strict(" D\\n", "ABCDE"), read_strict("D.", "ABCDE")
    ('D', None)
    """
    stripped = (reply or "").strip()
    return stripped if len(stripped) == 1 and stripped in letters else None


def read_lenient(reply: str | None, letters: Sequence[str], options: Sequence[str] | None = None) -> str | None:
    """The letter that `reply` commits to, or None if it commits to none, to several, or only seems to.

    `letters` are the item's own; `options` their texts in the same order. With them a reply that quotes one option in
    full gives its letter, and one whose letter and quoted text disagree gives None. Linear in the length of the reply.

    >>> read_lenient("**Answer:** (c)", "ABCDE")
    'C'
    >>> read_lenient("A is wrong, so it is either B or D.", "ABCDE")
    >>> read_lenient("The lamp is gone.", "ABC", ["The mug is red.", "The lamp is gone.", "Nothing changed."])
    'B'
    """
    text, open_thinking = outside_thinking(reply or "")
    if open_thinking or not letters:
        return None
    texts = OptionTexts(dict(zip(letters, options, strict=False)) if options else {})
    return _read(_PRIVATE.sub("", unicodedata.normalize("NFKC", without_markers(text))), letters, texts)


def _read(text: str, letters: Sequence[str], options: OptionTexts, depth: int = 0) -> str | None:
    """The letter of a reply, or of the content of an answer place (`depth` > 0)."""
    places: list[str | None] = []
    if depth < _DEEPEST:
        text = _with_places(text, lambda content: _read(content, letters, options, depth + 1), places)
    plain = _ABBREVIATED.sub(lambda short: "namely" if short[1] else "eg", without_decoration(text))
    if depth:  # "c) The lamp is gone" is a label where an answer was asked for
        plain = _SMALL_LABEL.sub(lambda label: label.group().upper(), plain)
    found = tokens(plain, letters)
    alone = {token.text.upper() for token in found if token.kind == "letter"}
    if len(alone) == 1 and all(token.kind in ("letter", "mark", "break") for token in found):
        return next((letter for letter in letters if letter in alone), None)
    events = read_events(plain, found, letters, places, lambda letter, at: options.starts_at(letter, plain, at))
    quotes = list(options.quotes(plain))
    latest = {quote.letter: quote.taken for quote in quotes}
    refuted = {letter for letter, taken in latest.items() if taken == "refuted"}
    kept = [quote for quote in quotes if not quote.taken]
    if events.made:
        letter = _decide(events, plain, found)
        if letter in refuted and any(quote.label == letter == quote.letter for quote in quotes):
            return None  # "B: The lamp is gone. That is false."
        quoted = {quote.letter for quote in kept if quote.label in (None, letter)}
        return letter if letter in quoted or not quoted else None
    quoted = {quote.letter for quote in kept if quote.label in (None, quote.letter)} - refuted
    denied = {wrong for wrong, _ in events.denied}
    return quoted.pop() if len(quoted) == 1 and quoted.isdisjoint(denied) else None


def _decide(events: Events, text: str, found: Sequence[Token]) -> str | None:
    """The letter that the events amount to: all agree, or a later one says that it replaces the earlier."""
    chosen = [event for event in events.made if not event.weak] or events.made
    letter, last = chosen[0].letter, chosen[0]
    for event in chosen[1:]:
        if event.letter != letter:
            narrowed = letter == ""  # "A or E ... so E"
            replaced = narrowed or words.REVISION.search(text, last.end, event.start)
            letter = event.letter if replaced else None
        last = event
    if not letter or any(denied == letter and at > last.end for denied, at in events.denied):
        return None
    if taken_back(text, found, last.end, letter, events.denied):
        return None
    return None if words.REVOKED.search(text, last.end, last.end + _REVOKED_WITHIN) else letter


def _with_places(text: str, read: Callable[[str], str | None], places: list[str | None]) -> str:
    """`text` with each explicit answer place (tag, box, JSON) replaced by one character, its letter put in `places`."""

    def place(content: str) -> str:
        if len(places) >= _MOST_PLACES:
            return content
        places.append(read(content))
        return f" {chr(PLACE + len(places) - 1)} "

    for cut in (_cut_tags, _cut_boxes, _cut_json):
        pieces, position = [], 0
        for start, end, content in cut(text):
            pieces += [text[position:start], " " if content is None else place(content)]
            position = end
        text = "".join([*pieces, text[position:]])
    return text


def _cut_tags(text: str) -> Iterator[_Cut]:
    """Start, end and content of each ``<answer>``, closed or not."""
    tags = list(_ANSWER_TAG.finditer(text))
    for tag, following in zip_longest(tags, tags[1:]):
        if not tag.group(1):
            end = following.start() if following else len(text)
            closed = following is not None and following.group(1)
            yield tag.start(), following.end() if following and closed else end, text[tag.end() : end]


def _cut_boxes(text: str) -> Iterator[_Cut]:
    """Start, end and content of each LaTeX box that is closed."""
    position = 0
    while box := _BOX.search(text, position):
        depth, position = 1, box.end()
        for brace in _BRACE.finditer(text, box.end(), box.end() + _LONGEST_BOX):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                position = brace.end()
                yield box.start(), position, text[box.end() : brace.start()]
                break


def _cut_json(text: str) -> Iterator[_Cut]:
    """Start, end and answer of each JSON object; several answers are joined, None if it has no answer key."""
    for found in find_json(text):
        containers = [container for container, _ in found.open] or [found.value]
        values = [value for container in containers for value in _answers(container)]
        if _repeated(text[found.start : found.end]):
            values = ["-"]
        if values or isinstance(found.value, dict):
            yield found.start, found.end, "\n".join(values) if values else None


def _repeated(raw: str) -> bool:
    """True if one JSON object has an answer key twice, with two values: parsed, only the last would be seen."""
    for inner in _BRACE.split(raw):
        pairs = {(_KEY_NOISE.sub("", key).lower(), value) for key, value in _KEY.findall(inner)}
        keys = [key for key, _ in pairs if key in _ANSWER_KEYS]
        if len(keys) > len(set(keys)):
            return True
    return False


def _answers(value: Any, depth: int = 3) -> Iterator[str]:
    """The values of the answer keys in a JSON value, as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if _KEY_NOISE.sub("", key).lower() in _ANSWER_KEYS:
                parts = inner if isinstance(inner, list) else [inner]
                yield "\n".join(part if isinstance(part, str) else "-" for part in parts) or "-"
            elif depth and isinstance(inner, dict):
                yield from _answers(inner, depth - 1)
