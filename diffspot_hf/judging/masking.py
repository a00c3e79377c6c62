"""Hides what must not be read as words: quoted page text, names, colour values, and the names of the two sides.

``§Q3`` is the third quotation, ``§C1`` the first colour value; ``§A`` and ``§B`` are the images of the pair,
``§S`` "both images", ``§T`` "in both".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from .colors import ANY_VALUE, Oklch, parse
from .lexicon import vocabulary

_QUOTES = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«([^»\n]{1,300})»|‹([^›\n]{1,300})›"
    r"|「([^」\n]{1,300})」|『([^』\n]{1,300})』|`([^`\n]{1,300})`|‘((?:[^’\n]|(?<=\w)’(?=\w)){1,300})’(?!\w)"
    r"|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){1,300})'(?!\w)"
)
_SPACED = re.compile(r"(?<![\w§])(?:[^\W\d_] ){3,20}[^\W\d_](?!\w)")
_VERSUS = re.compile(r"(§[QC]\d+|\d\S*)\s(?i:vs\.?|versus|against)\s(?=§[QC]|\d)")
_PLAIN = re.compile(r"\b(?:between |both |across )?A and B\b(?! (?:have|differ))")
_EACH = re.compile(r"\b(?i:in (?:both|each of them|each|either))(?=\s*(?:[.,;)]|$))")
_BRACKETED = re.compile(r"\(\s?(?i:in )?(§[AB])\s?\)?")
_BETWEEN = re.compile(
    r"\b(?i:between|across|both|from)?\s?§[AB]\s?(?i:and|&|vs\.?|versus|to|und|y|et|/)\s?§[AB](?!\w)|(?i:both) §[AB]"
)
_IN = r"(?:\b(?i:in|im|on|en|dans|auf|of|from)\s)?(?:\b(?i:the|der|dem|la|el|le)\s)?(?:\b(?i:l)['’])?"
_NOT_PLACE = r"(?!\s(?i:in|of|on|inside|from)\s(?i:the|a|this)\s(?!second|first))"
_VERB = r"(?:shows|has|had|is|it|one|uses|displays|was)"


def _any_of(words: Sequence[str]) -> str:
    return f"(?i:{'|'.join(words)})"


@cache
def _sides() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Patterns of the images' names, with the mark that stands for each; the bare ones last."""
    images = vocabulary("images")
    strict, loose = _any_of(images["noun"]["strict"]), _any_of(images["noun"]["loose"])
    named, bare = [], []
    for side in "ab":
        words, letter, mark = images[side], side.upper(), f"§{side.upper()}"
        symbols = "|".join(w if len(w) == 1 else f"(?i:{w})" for w in words["letter"])
        patterns = [
            rf"{_IN}{loose}\s*[#(]?\s*(?:{symbols})\)?(?![A-Za-z0-9])(?!\.\d)",
            rf"{_IN}\b{_any_of(words['ordinal'])}\s{strict}\b{_NOT_PLACE}",
            rf"\b(?i:in (?:the )?){_any_of(words['picture'])} (?i:picture|photo)\b",
            "|".join(words["native"]),
            rf"{strict}\s{_any_of(words['when'])}\b|\({_any_of(words['bracket'])}\)|\b{_any_of(words['alone'])}\b",
            rf"\b(?i:in|from|to|than|vs\.?|versus) {letter}(?![\w'])",
            rf"(?<![\w'.§]){letter}(?=[:=]|\s{_VERB}\b|\s?→|\s?->)",
        ]
        named += [(re.compile(pattern), mark) for pattern in patterns]
        bare.append((re.compile(rf"\b{_any_of(words['bare'])}\b(?=\s{_VERB}\b|\s?[,.;)]|\s?$)"), mark))
    return (*named, *bare)


@cache
def _talk() -> dict[str, re.Pattern[str]]:
    """Patterns of what is said of both images, or of one as a mere reference."""
    images = vocabulary("images")
    plural, compared = _any_of(images["noun"]["plural"]), _any_of(images["talk"]["compared"])
    hint = [
        _any_of(images["noun"]["loose"]),
        _any_of(images["noun"]["strict"]),
        r"(?<![\w§])[AB]\b",
        "[图圖張张幅枚変变]",
    ]
    hint += [_any_of([w for side in "ab" for w in images[side][key]]) for key in ("bracket", "alone")]
    return {
        "pair": re.compile(rf"\b{_any_of(images['talk']['pair'])}\s{plural}\b"),
        "both": re.compile(rf"\b{_any_of(images['talk']['both'])}\s{plural}\b"),
        "to A": re.compile(
            rf",?\s?\(?(?<![A-Za-zÀ-ÿ]){compared}\s?(?i:what is |those |that )?(?i:in )?§A\)?(?:相比)?,?"
        ),
        "to B": re.compile(rf",?\s?\(?(?<![A-Za-zÀ-ÿ]){compared}\s?(?i:in )?§B\)?,?"),
        "hint": re.compile("|".join(hint)),
    }


@dataclass(frozen=True)
class Masked:
    """`text` with marks; `quotes` and `values` in the order of their numbers."""

    text: str
    quotes: tuple[str, ...]
    values: tuple[Oklch, ...]
    sided: bool


@lru_cache(maxsize=512)
def _names(names: tuple[str, ...]) -> re.Pattern[str] | None:
    options = []
    for name in sorted(names, key=len, reverse=True):
        bare = name.strip()
        pattern = r"\s+".join(re.escape(word) for word in bare.split())
        if len(bare.split()) > 1 or any(c.isdigit() for c in bare):
            options.append(f"(?i:{pattern})")
        elif len(bare) > 1 and bare[0].isupper():
            options.append(f"(?<=[ (*]){pattern}|^{pattern}(?= (?i:button|link|badge|tab|label|heading|text)\\b)")
        elif not bare.isascii() and len(bare) > 1:
            options.append(pattern)
    return re.compile(rf"(?<![\w§])(?:{'|'.join(options)})(?!\w)") if options else None


def mask(text: str, names: Sequence[str] = ()) -> Masked:
    """`text` with quotations, known `names`, colour values and side names replaced by marks.

    >>> mask('In Image B the "Sign in" button is #ff0000').text
    '§B the §Q0 button is §C0'
    """
    quotes: list[str] = []
    values: list[Oklch] = []

    def quote(found: re.Match[str]) -> str:
        quotes.append(next((group for group in found.groups() if group is not None), found.group()))
        return f" §Q{len(quotes) - 1} "

    def value(found: re.Match[str]) -> str:
        color = parse(found.group())
        if not color:
            return found.group()
        values.append(color[0])
        return f" §C{len(values) - 1} "

    text = _SPACED.sub(quote, _QUOTES.sub(quote, text))
    pattern = _names(tuple(names))
    if pattern:
        text = pattern.sub(quote, text)
    text = _VERSUS.sub(r"\1 → ", ANY_VALUE.sub(value, text))
    text = " ".join(_both(text).split())
    return Masked(text, tuple(quotes), tuple(values), "§A" in text or "§B" in text)


def _both(text: str) -> str:
    """`text` with marks for the images of the pair; what only refers to one ("than in Image A") is gone."""
    talk, sides = _talk(), _sides()
    text = _PLAIN.sub(" ", talk["both"].sub(" §S ", talk["pair"].sub(" ", text)))
    text = _EACH.sub(" §T ", text)
    if talk["hint"].search(text):
        for expression, mark in sides[:-2]:
            text = expression.sub(f" {mark} ", text)
    if "§A" not in text and "§B" not in text:
        return text
    for expression, mark in sides[-2:]:
        text = expression.sub(f" {mark} ", text)
    text = _BRACKETED.sub(r" \1 , ", " ".join(text.split()))
    text = talk["to A"].sub(" , ", _BETWEEN.sub(" ", text))
    return talk["to B"].sub(" , " if "§A" in text else " §A , ", text)
