"""Findings in the answer forms of the other benchmarks: issues with tags and boxes, and the letter of an option."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .finding import BoxPx, Finding, Kind
from .wording import color_name, sentence

TAGS: dict[Kind, tuple[str, ...]] = {
    "color": ("Color/Background",),
    "opacity": ("Color/Background",),
    "gradient": ("Color/Background",),
    "border": ("Color/Background", "Shape/Size"),
    "corners": ("Shape/Size",),
    "weight": ("Typography",),
    "text_size": ("Typography",),
    "letter_spacing": ("Typography",),
    "line_spacing": ("Typography", "Spacing/Layout"),
    "text": ("Typography", "other"),
    "moved": ("Spacing/Layout",),
    "spacing": ("Spacing/Layout",),
    "alignment": ("Spacing/Layout",),
    "box_size": ("Shape/Size", "Spacing/Layout"),
    "added": ("other",),
    "removed": ("Missing Content",),
    "picture": ("Image/Asset",),
    "canvas": ("Spacing/Layout",),
    "other": ("other",),
}
"""The Scry tags that a kind of change is filed under. Ours: the paper does not define its tags in words."""

_ICON = 64  # ours: pixels of a 390-pixel-wide screen; a picture up to this size is an icon, a larger one an image


def issues(
    found: Sequence[Finding], before: tuple[int, int], after: tuple[int, int] | None = None
) -> list[dict[str, Any]]:
    """`found` as Scry issues: `labels`, `note`, `box_a`, `box_b` (`xywh_norm` or None).

    `before` and `after` are (width, height) of the two pictures in pixels; the second defaults to the first.
    """
    return [
        {
            "labels": list(_labels(finding, before)),
            "note": sentence(finding, before),
            "box_a": fraction(finding.box_before, before),
            "box_b": fraction(finding.box_after, after or before),
        }
        for finding in found
        if finding.kind != "canvas"
    ]


def _labels(finding: Finding, size: tuple[int, int]) -> tuple[str, ...]:
    tags = TAGS[finding.kind]
    if finding.subject != "picture":
        return tags
    small = max(finding.box[2:]) <= _ICON * size[0] / 390
    own = "Icon/Nav" if small else "Image/Asset"
    if finding.kind == "picture":
        return (own, "Missing Content") if finding.direction == "blank" else (own,)
    return (*tags, own)


def fraction(box: BoxPx | None, size: tuple[int, int]) -> dict[str, float] | None:
    """`box` (`xywh_px`) as fractions of a picture of `size`, inside 0 to 1; None stays None.

    >>> fraction((100, 0, 50, 20), (200, 40))
    {'x': 0.5, 'y': 0.0, 'w': 0.25, 'h': 0.5}
    """
    if box is None:
        return None
    (x, y, w, h), (width, height) = box, size
    left, top = max(0, x), max(0, y)
    right, bottom = min(width, x + w), min(height, y + h)
    if right <= left or bottom <= top:
        return None
    values = (left / width, top / height, (right - left) / width, (bottom - top) / height)
    return dict(zip("xywh", (round(v, 6) for v in values), strict=True))


_NOTHING = re.compile(
    r"\b(no|not any|without)\b[^.]*\b(difference|change|commonalit|common|identical|visible)", re.IGNORECASE
)

_VERBS: dict[str, tuple[Kind, ...]] = {
    r"add|insert|place|put|introduc|appear|new\b|draw|create|install|hang|attach|leave|left": ("added",),
    r"remov|delet|eras|disappear|missing|gone|take away|clear|without|no longer": ("removed",),
    r"mov|shift|slid|position|reposition|relocat|rotat|tilt|turn|flip|closer|further": ("moved", "spacing"),
    r"colou?r|paint|repaint|dye|tint|recolou?r|shade|darker|lighter|bright": ("color", "opacity", "gradient"),
    r"enlarg|shrink|bigger|smaller|larger|resiz|taller|shorter|wider|thicker|thinner": ("box_size", "text_size"),
    r"replac|swap|exchang|chang|turn into|becom|transform|substitut": ("picture", "other"),
    r"\btext|word|letter|digit|number|label|sign\b": ("text",),
}
_COLORS = (
    "black",
    "white",
    "gray",
    "grey",
    "red",
    "orange",
    "yellow",
    "green",
    "teal",
    "blue",
    "purple",
    "pink",
    "brown",
)


def choose_option(found: Sequence[Finding], question: str, options: Sequence[str], letters: Sequence[str]) -> str:
    """The letter of the option that fits the findings best; that of the "no difference" option if there are none.

    The last option stands for "no difference" if none says so. Without a word in common, the first other option is
    taken: pixels tell that something differs, not what a photograph shows.
    """
    none = next((i for i, option in enumerate(options) if _NOTHING.search(option)), len(options) - 1)
    if not found:
        return letters[none]
    scores = [(-1.0 if index == none else _fits(found, option)) for index, option in enumerate(options)]
    return letters[max(range(len(options)), key=lambda index: (scores[index], -index))]


def _fits(found: Sequence[Finding], option: str) -> float:
    """How many words of `option` the findings bear out: the kind of change, colours, quoted text."""
    lower = option.lower()
    score = 0.0
    for finding in found[:3]:
        for pattern, kinds in _VERBS.items():
            if re.search(rf"\b(?:{pattern})", lower) and finding.kind in kinds:
                score += finding.share
        for side, weight in (("after", 1.0), ("before", 0.5)):
            color = finding.evidence.get(side)
            if color is not None:
                names = color_name(color).replace("gray", "gray grey").split()
                score += weight * finding.share * sum(name in lower for name in names if name in _COLORS)
        for text in {finding.text, finding.text_after} - {""}:
            score += finding.share * (text.lower() in lower)
    return score
