"""Splits a reply into words, marks and line breaks, and tells which single letters stand on their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Literal, NamedTuple

from .answer_words import ELISIONS
from .option_texts import spaceless

Kind = Literal["word", "letter", "mark", "break", "place"]

PLACE = 0xE000  # code points from here on (private use) stand for answer places already read

_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_TOKEN = re.compile(rf"\n|[{_LATIN}]+(?:['’ʼ-][{_LATIN}]+)*|[^\W\d_{_LATIN}]+|\d+|<?[-=]{{1,6}}>|[^\s\w]|_")
_NAME_BEFORE, _NAME_AFTER = frozenset("°#@%"), frozenset("+#°%@")
_PRONOUNS = frozenset("IOUY")  # as words they stand alone too often to contradict an answer
_GLUE = frozenset("/&.-‐'’")
_HTML = re.compile(
    r"</?(strong|em|p|br|div|span|h[1-6]|code|pre|li|ul|ol|td|tr|table|font|center|mark)\b[^<>\n]{0,80}>", re.I
)
_SHORT_HTML = re.compile(r"<([biusqa])>([^<>]{0,200})</\1>", re.IGNORECASE)
_LATEX = re.compile(
    r"\\(?:text|textbf|textit|texttt|textrm|mathrm|mathbf|mathit|mathsf|mathtt|operatorname|bm|bf|rm|boldsymbol)\s?"
    r"\{([^{}]{0,200})\}"
)
_LATEX_MARKS = re.compile(r"\\[()\[\],;! ]|\\quad\b|\$|\\(?=\s)")
_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*[\w+-]*[ \t]*$", re.MULTILINE)
_EMPHASIS = re.compile(r"[*`]+|~~+|(?<![^\W_])_+|_+(?![^\W_])")
_LINE_START = re.compile(r"^(?:[ \t]*(?:#{1,6}|>|[-+•·▪◦‣])(?=[ \t]))+[ \t]*", re.MULTILINE)


class Token(NamedTuple):
    """`text` is lower case for words; a letter keeps its case and is one that may stand for an option."""

    kind: Kind
    text: str
    start: int
    end: int


def without_decoration(text: str) -> str:
    """`text` without markdown, HTML and LaTeX around the words; line breaks stay.

    >>> without_decoration("**Answer:** \\\\mathrm{B}")
    'Answer: B'
    """
    text = _SHORT_HTML.sub(
        r"\2", _HTML.sub(lambda tag: "\n" if tag.group(1).lower() in ("p", "br", "div") else "", text)
    )
    for _ in range(2):  # one command inside another
        text = _LATEX.sub(r"\1", text)
    text = _LATEX_MARKS.sub(" ", _FENCE.sub("", text))
    return _LINE_START.sub("", _EMPHASIS.sub("", text))


def tokens(text: str, letters: Collection[str]) -> list[Token]:
    """The tokens of `text`. Upper-case letters outside `letters` are letters too: they can contradict an answer."""
    result: list[Token] = []
    for match in _TOKEN.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        kind: Kind = "word"
        if word == "\n":
            kind = "break"
        elif PLACE <= ord(word[0]) <= 0xF8FF:
            kind = "place"
        elif len(word) == 1 and word.isalpha():
            known = word.upper() in letters or ("A" <= word <= "Z" and word not in _PRONOUNS)
            kind = "letter" if known and _stands_alone(text, start) else "word"
        elif not word[0].isalnum():
            kind = "mark"
        result.append(
            Token(
                kind,
                word if kind == "letter" else "->" if len(word) > 1 and word[-1] == ">" else _lower(word),
                start,
                end,
            )
        )
    return result


def _lower(word: str) -> str:
    """`word` in lower case, straight apostrophes, without an elided article: ``l'option`` is ``option``."""
    word = word.lower().replace("’", "'")
    head, _, tail = word.partition("'")
    return tail if head in ELISIONS and len(tail) > 3 else word


def _stands_alone(text: str, at: int) -> bool:
    """True if the letter at `at` is no part of a word, a compound, an abbreviation or a name such as C++ or N/A."""
    before, after = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    beyond, following = text[at - 2 : at - 1] if at > 1 else "", text[at + 2 : at + 3]
    if _joins(before) or _joins(after) or before in _NAME_BEFORE or after in _NAME_AFTER:
        return False
    if before == "-" and text[max(0, at - 20) : at - 1].rstrip(" \t")[-1:] not in ("", "\n"):
        return False  # -D is a switch, not a bullet
    if before in _GLUE and _joins(beyond) and not (before in ("/", "&") and _is_single(text, at - 2)):
        return False
    if after in ("/", "&") and _joins(following):
        return _is_single(text, at + 2)
    if after == "." and _joins(following):
        return following.isupper() and text[at + 3 : at + 4].islower()
    return not (after in _GLUE and after != "." and following.isalnum()) and not (
        after == ":" and following in ("\\", "/")
    )


def _joins(char: str) -> bool:
    """True if `char` would make a word with a Latin letter next to it."""
    return bool(char) and (char.isalnum() or char == "_" or unicodedata.category(char) == "Mn") and not spaceless(char)


def _is_single(text: str, at: int) -> bool:
    """True if the character at `at` is an upper-case letter of its own."""
    around = (text[at - 1 : at] if at else "") + text[at + 1 : at + 2]
    return "A" <= text[at : at + 1] <= "Z" and not any(map(_joins, around))
