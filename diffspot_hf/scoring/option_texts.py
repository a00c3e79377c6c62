"""Which option texts does a reply quote in full?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from .letter_denials import denied_before, taken_after

_QUOTES = re.compile('["“”„«»「」『』*`]')
_BEFORE, _AFTER = 60, 40  # characters of context that can take a quotation back (our choice)
_LETTER_AFTER = re.compile(r"\W{0,4}([A-Z])(?=[)\].,;:!]|\W*$)")
_LABEL = re.compile(r"(?<!\w)([A-Z])\W{1,4}$")


class Quote(NamedTuple):
    """The text of option `letter` stands in the reply, with the letter `label` beside it (None: no letter).

    `taken`: what follows it calls it false ("refuted"), or asks or limits it ("doubtful").
    """

    letter: str
    label: str | None
    taken: Literal["refuted", "doubtful", ""]


def plain(text: str) -> str:
    """`text` with compatibility forms folded, quotation and emphasis marks gone and blanks single, case kept."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return " ".join(_QUOTES.sub("", text).split())


def spaceless(char: str) -> bool:
    """True if `char` belongs to a script that is written without blanks, or joins particles to foreign words."""
    return (
        "\u3005" <= char <= "\u30ff"
        or "\u3400" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7af"
        or "\u0e00" <= char <= "\u0e7f"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char <= "\U0003ffff"
    )


class OptionTexts:
    """The option texts of one item by letter, ready to be looked for."""

    def __init__(self, options: Mapping[str, str]) -> None:
        keys = {letter: plain(text).rstrip(".。 ").casefold() for letter, text in options.items()}
        self._letters: dict[str, str | None] = {}
        for letter, key in keys.items():
            if key:  # two options of one text tell nothing
                self._letters[key] = None if key in self._letters else letter
        self._by_letter = keys
        ordered = sorted(self._letters, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def starts_at(self, letter: str, text: str, position: int) -> bool:
        """True if the full text of option `letter` follows in `text` at `position`, marks before it aside."""
        key = self._by_letter.get(letter)
        if not key:
            return False
        said = re.sub(r"^\W+", "", plain(text[position : position + 2 * len(key) + _BEFORE])).casefold()
        return said.startswith(key) and not _inside_word(said, 0, len(key))

    def quotes(self, text: str) -> Iterator[Quote]:
        """The full option texts quoted in `text` and not denied before; of nested ones the longest.

        A text of one or two words is a quotation only where it stands alone: as the reply, or after "it is" or a colon.
        """
        if self._pattern is None:
            return
        said = plain(text)
        lower = said.casefold()
        if len(lower) != len(said):  # casefold lengthened a letter such as ß; offsets must agree
            said = lower
        for match in self._pattern.finditer(lower):
            letter = self._letters[match.group()]
            start, end = match.span()
            if letter is None or _inside_word(lower, start, end):
                continue
            before, after = said[max(0, start - _BEFORE) : start], said[end : end + _AFTER]
            if denied_before(before):
                continue
            if _is_short(match.group()) and not _stands_alone(before, after):
                continue
            label = _LABEL.search(before) or _LETTER_AFTER.match(after)
            yield Quote(letter, label.group(1) if label else None, taken_after(after))


def _inside_word(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return (before.isalnum() and text[start].isalnum() and not spaceless(before)) or (
        after.isalnum() and text[end - 1].isalnum() and not spaceless(after)
    )


def _is_short(key: str) -> bool:
    return sum(1 if not any(map(spaceless, word)) else len(word) for word in key.split()) < 3


def _stands_alone(before: str, after: str) -> bool:
    return bool(re.search(r"(?:^|[:.\n=]|\b(?:is|be|answer|ist|est|es|è|é))\W*$", before, re.IGNORECASE)) and bool(
        re.match(r"\W*$|[.,;!)]", after)
    )
