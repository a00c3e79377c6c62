"""The defect tags of Scry Design Diff, as data, and how a label is recognised as one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

TAGS: tuple[str, ...] = (
    "Icon/Nav",
    "Color/Background",
    "Spacing/Layout",
    "Shape/Size",
    "Missing Content",
    "Typography",
    "Image/Asset",
    "other",
    "badimage",
)
"""The tags named by the paper; the first seven as its category table prints them, the last two as its text does."""

SPELLINGS: tuple[tuple[str, str], ...] = (("colour", "color"),)
"""Spellings folded before labels are compared (our choice)."""

_SPLIT = re.compile(r"[,;|]")


def folded(label: str) -> str:
    """`label` in lower case, letters and digits only, spellings folded: what two equal labels have in common.

    >>> folded("Colour / background")
    'colorbackground'
    """
    text = "".join(char for char in label.lower() if char.isalnum())
    for old, new in SPELLINGS:
        text = text.replace(old, new)
    return text


_BY_FOLD = {folded(tag): tag for tag in TAGS}


@lru_cache(maxsize=4096)
def canonical(label: str) -> str:
    """The known tag that `label` means, or `label` as written, trimmed.

    >>> canonical(" icon_nav"), canonical("Icon")
    ('Icon/Nav', 'Icon')
    """
    return _BY_FOLD.get(folded(label), label.strip())


def read_labels(value: Any) -> list[str]:
    """The labels in `value`: a list of strings, or one string split at comma, semicolon and bar.

    What is no string or blank is left out, known tags are written as in `TAGS`, and a repeat keeps its first place.

    >>> read_labels("typography; Sparkle, Typography")
    ['Typography', 'Sparkle']
    """
    parts: Iterable[Any] = ()
    if isinstance(value, str):
        parts = _SPLIT.split(value)
    elif isinstance(value, (list, tuple)):
        parts = value
    return list(dict.fromkeys(canonical(part) for part in parts if isinstance(part, str) and part.strip()))
