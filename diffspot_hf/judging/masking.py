"""Hides what must not be read as words: quoted page text, names, colour values, and the names of the two sides.

``§Q3`` is the third quotation, ``§C1`` the first colour value; ``§A`` and ``§B`` are the images of the pair,
``§S`` "both images", ``§T`` "in both".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .colors import _ANY, Oklch, parse

_QUOTES = re.compile(
    r"\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”|„([^“”\n]{1,300})[“”]|«([^»\n]{1,300})»|「([^」\n]{1,300})」|『([^』\n]{1,300})』|`([^`\n]{1,300})`"
    r"|‘((?:[^’\n]|(?<=\w)’(?=\w)){1,300})’(?!\w)|(?<![\w'])'((?:[^'\n]|(?<=\w)'(?=\w)){1,300})'(?!\w)|‹([^›\n]{1,300})›"
)
_BRACKETED = re.compile(r"\(\s?(?i:in )?(§[AB])\s?\)?")
_PLAIN = re.compile(r"\b(?:between |both |across )?A and B\b(?! (?:have|differ))")
_VERSUS = re.compile(r"(§[QC]\d+|\d\S*)\s(?i:vs\.?|versus|against)\s(?=§[QC]|\d)")
_SPACED = re.compile(r"(?<![\w§])(?:[^\W\d_] ){3,20}[^\W\d_](?!\w)")
_NOUN = r"(?i:image|img|screenshot|screen\s?shot|screen\s?capture|snapshot|version|capture|render(?:ing)?|bild|imagen|captura|screen)"
_LOOSE = r"(?i:image|img|screenshot|screen\s?shot|picture|photo|version|capture|render|page|screen|bild|imagen|captura|画像|图像|图片|图|截图|スクリーンショット)"
_IN = r"(?:\b(?i:in|im|on|en|dans|auf|of|from)\s)?(?:\b(?i:the|der|dem|la|el|le)\s)?(?:\b(?i:l)['’])?"
_NOT_PLACE = r"(?!\s(?i:in|of|on|inside|from)\s(?i:the|a|this)\s(?!second|first))"
_SIDES = (
    (re.compile(rf"{_IN}{_LOOSE}\s*[#(]?\s*(?:A|1|(?i:one))\)?(?![A-Za-z0-9])(?!\.\d)"), "§A"),
    (re.compile(rf"{_IN}{_LOOSE}\s*[#(]?\s*(?:B|2|(?i:two))\)?(?![A-Za-z0-9])(?!\.\d)"), "§B"),
    (
        re.compile(
            rf"{_IN}\b(?i:first|1st|original|initial|earlier|old|before|previous|ersten?|primera?|première?|antigua)\s{_NOUN}\b{_NOT_PLACE}"
        ),
        "§A",
    ),
    (
        re.compile(
            rf"{_IN}\b(?i:second|2nd|other|modified|updated|new|latter|after|later|latest|zweiten?|anderen|segunda?|seconde|deuxième|nueva)\s{_NOUN}\b{_NOT_PLACE}"
        ),
        "§B",
    ),
    (re.compile(r"\b(?i:in (?:the )?(?:first|original) (?:picture|photo))\b"), "§A"),
    (re.compile(r"\b(?i:in (?:the )?(?:second|other) (?:picture|photo))\b"), "§B"),
    (
        re.compile(
            r"第一[张幅个]?(?:图像|图片|图|截图|画面)?|[图圖]\s?A|1\s?枚目(?:の(?:画像|スクリーンショット))?|最初の画像|变更前|変更前"
        ),
        "§A",
    ),
    (
        re.compile(
            r"第二[张幅个]?(?:图像|图片|图|截图|画面)?|[图圖]\s?B|2\s?枚目(?:の(?:画像|スクリーンショット))?|次の画像|变更后|変更後"
        ),
        "§B",
    ),
    (
        re.compile(
            rf"{_NOUN}\s(?i:before|avant)\b|\((?i:before|original|first|A)\)|\b(?i:in|from|to|than|vs\.?|versus) A(?![\w'])|(?<![\w'.§])A(?=[:=]|\s(?:has|shows|uses|displays|had)\b|\s?→|\s?->)|\b(?i:in the (?:former|original|before))\b(?!\s\w+\s(?:section|area))"
        ),
        "§A",
    ),
    (
        re.compile(
            rf"{_NOUN}\s(?i:after|après)\b|\((?i:after|modified|second|new|B)\)|\b(?i:in|from|to|than|vs\.?|versus) B(?![\w'])|(?<![\w'.§])B(?=[:=]|\s(?:has|shows|uses|displays|is|it)\b)|\b(?i:in the (?:latter|other one|modified one|after))\b"
        ),
        "§B",
    ),
)
_HINT = re.compile(
    rf"{_LOOSE}|{_NOUN}|(?<![\w§])[AB]\b|[图圖張张幅枚]|変更|变更|(?i:in the (?:original|former|before|latter|other|modified|after)|\((?:before|after|original|modified|first|second|new)\))"
)
_BARE = (
    (
        re.compile(
            r"\b(?i:in the first|the first|the former)\b(?=\s(?:shows|has|is|it|one|uses|displays|was)\b|\s?[,.;)]|\s?$)"
        ),
        "§A",
    ),
    (
        re.compile(
            r"\b(?i:in the second|the second|the latter|the other)\b(?=\s(?:shows|has|is|it|one|uses|displays)\b|\s?[,.;)]|\s?$)"
        ),
        "§B",
    ),
)
_BETWEEN = re.compile(
    r"\b(?i:between|across|both|from)?\s?§[AB]\s?(?i:and|&|vs\.?|versus|to|und|y|et|/)\s?§[AB](?!\w)|(?i:both) (?:§[AB]|(?i:images|screenshots|versions))"
)
_IMAGES = r"(?i:images|screenshots|pictures|versions|screens|captures|pages|renderings)"
_PAIR = re.compile(rf"\b(?i:between both|comparing both|the two|these two|two|between the|across the)\s{_IMAGES}\b")
_BOTH = re.compile(rf"\b(?i:(?:in |across )?both(?: of)?(?: the| these)?|each of the|in each of the)\s{_IMAGES}\b")
_EACH = re.compile(r"\b(?i:in (?:both|each of them|each|either))(?=\s*(?:[.,;)]|$))")
_REFERENCE = re.compile(
    r",?\s?\(?(?i:(?:when )?(?:compared|relative|opposed|in comparison|contrary) (?:to|with)|as opposed to|than(?: it is| it was| that)?|versus|vs\.?|unlike|als|que|im vergleich zu|par rapport à|comparado con|von|与|比|和|相比)\s?(?:what is |those |that )?(?:in )?§A\)?(?:相比)?,?"
)  # fmt: skip
_REVERSED = re.compile(
    r",?\s?\(?(?i:(?:when )?(?:compared|relative|opposed|in comparison) (?:to|with)|than(?: it is)?|versus|vs\.?|unlike)\s?(?:in )?§B\)?,?"
)


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
    '§B §Q0 button is §C0'
    """
    quotes: list[str] = []
    values: list[Oklch] = []

    def quote(found: re.Match[str]) -> str:
        content = next((group for group in found.groups() if group is not None), found.group())
        quotes.append(content)
        return f" §Q{len(quotes) - 1} "

    def value(found: re.Match[str]) -> str:
        color = parse(found.group())
        if not color:
            return found.group()
        values.append(color[0])
        return f" §C{len(values) - 1} "

    text = _QUOTES.sub(quote, text)
    text = _SPACED.sub(quote, text)
    pattern = _names(tuple(names))
    if pattern:
        text = pattern.sub(quote, text)
    text = _ANY.sub(value, text)
    text = _PLAIN.sub(" ", text)
    text = _EACH.sub(" §T ", _BOTH.sub(" §S ", _PAIR.sub(" ", text)))
    text = _VERSUS.sub(r"\1 → ", text)
    if _HINT.search(text):
        for expression, mark in _SIDES:
            text = expression.sub(f" {mark} ", text)
    if "§A" in text or "§B" in text:
        for expression, mark in _BARE:
            text = expression.sub(f" {mark} ", text)
        text = _BRACKETED.sub(r" \1 , ", " ".join(text.split()))
        text = _BETWEEN.sub(" ", text)
        text = _REFERENCE.sub(" , ", text)
        if "§A" not in text:
            reversed_text = _REVERSED.sub(" §A , ", text)
            text = reversed_text
        else:
            text = _REVERSED.sub(" , ", text)
    return Masked(" ".join(text.split()), tuple(quotes), tuple(values), "§A" in text or "§B" in text)
