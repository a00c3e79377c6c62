"""Splits a reply into words, marks and line breaks, and tells which single letters stand on their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from .answer_words import ELISIONS, GERMAN
from .option_texts import spaceless

Kind = Literal["word", "letter", "mark", "break", "place"]

OPENERS = frozenset("([{<\"'“‘«「『【《〈")
CLOSERS = frozenset(")]}>\"'”’»」』】》〉")
SEPARATORS = frozenset({":", "=", "-", "–", "—", "->", "→", "⇒", "|"})
REACH = 14  # tokens looked at on either side of a letter (our choice): keeps the reading linear

PLACE = 0xE000  # code points from here on (private use) stand for answer places already read

_LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
_TOKEN = re.compile(rf"\n|[{_LATIN}]+(?:['’ʼ-][{_LATIN}]+)*|[^\W\d_{_LATIN}]+|\d+|<?[-=]{{1,6}}>|[^\s\w]|_")
_NAME_BEFORE, _NAME_AFTER = frozenset("°#@%"), frozenset("+#°%@")
_PRONOUNS = frozenset("IOUY")  # as words they stand alone too often to contradict an answer
_GLUE = frozenset("/&.-‐'’")
_HTML = re.compile(
    r"</?(strong|em|p|br|div|span|h[1-6]|code|pre|li|ul|ol|td|tr|table|font|center|mark)\b[^<>\n]{0,80}>", re.I
)
# "A–D", "(A) to (D)", "A, ..., D" name all between and choose none; "from B to D" may be a change of mind.
_RANGE = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z], ?){0,8}(?P<first>[A-Z])[)\]'\"”]?"
    r"(?:[–−~〜]|,? ?\.{2,3},? ?| ?(?:到|至|から|부터) ?"
    r"|(?:—| [–—-] )(?=[(\['\"“]?[A-Z]\W?(?!,| (?:and|or|is|was|has|does|can|could|would|shows|says|isn|doesn)\b))"
    r"| (?P<word>(?:up )?to|through|thru|until|till|bis|à|al?|até|hasta|tot|til) )"
    r"[(\['\"“]?(?P<last>[A-Z])(?![A-Za-z0-9'’])"
)
_WEIGHED = re.compile(r"(?<![A-Za-z0-9])[A-Z](?=\W{1,3}(?:\d{1,3}(?:\.\d+)? ?%|0?\.\d))")
_CHANGE = re.compile(r"\b(?:chang|switch|revis|updat|mov|correct)\w*\b[^.!?\n]*$", re.IGNORECASE)
_SPECIES = re.compile(
    r"\. ?[a-z]{2,}(?:us|um|is|ae|ans|ens|ii|li|rex)(?=\W*$|[.,;:!?)]|\s(?:is|are|was|were|has|can)\b)"
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


class View:
    """The tokens of one reply by index. Out of range there is nothing: kind "none", text ""."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.german = any(token.text in GERMAN for token in tokens)

    def kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else "none"

    def word(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def touches(self, at: int) -> bool:
        """True if nothing stands between the token at `at` and the one before it."""
        return 0 < at < len(self.tokens) and self.tokens[at - 1].end == self.tokens[at].start

    def stops(self, at: int) -> bool:
        """True if no word stands at `at`."""
        return self.kind(at) in ("none", "mark", "break")

    def nothing_from(self, at: int) -> bool:
        """True if only marks are left from `at` on."""
        left = self.tokens[at : at + REACH + 1]
        return len(left) <= REACH and all(token.kind in ("mark", "break") for token in left)


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
    listed = _in_lists(text)
    for match in _TOKEN.finditer(text):
        word, start, end = match.group(), match.start(), match.end()
        kind: Kind = "word"
        if word == "\n":
            kind = "break"
        elif PLACE <= ord(word[0]) <= 0xF8FF:
            kind = "place"
        elif len(word) == 1 and word.isalpha():
            known = word.upper() in letters or ("A" <= word <= "Z" and word not in _PRONOUNS)
            kind = "letter" if known and start not in listed and _stands_alone(text, start) else "word"
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


def _in_lists(text: str) -> set[int]:
    """The positions of letters that only belong to a range or to a list of probabilities."""
    found: set[int] = set()
    for match in _RANGE.finditer(text):
        changed = match["word"] and _CHANGE.search(text, max(0, match.start() - 40), match.start())
        if match["first"] < match["last"] and not changed:
            found.update(at for at in range(*match.span()) if text[at].isupper())
    weighed = list(_WEIGHED.finditer(text))
    if len({match[0] for match in weighed}) > 1:
        found.update(match.start() for match in weighed)
    return found


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
    if after == "." and _SPECIES.match(text, at + 1, at + 40):
        return False
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
