"""Text to findings: what the changed thing says, before and after, as far as a reader can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np

from .canvas import Pixels
from .finding import BoxPx, Finding
from .ocr import Read, Reader
from .regions import contains, grown, overlap

_BESIDE, _ABOVE = 120, 10  # ours: pixels read around a finding, so that a changed letter is read with its line
_WORDY = frozenset({"text", "weight", "text_size", "letter_spacing", "line_spacing", "added"})
"""Kinds whose second side is read too: to quote what is new, or to check that the words are the same."""
MORE = " …"
"""Ends the text of a box that holds more lines than the one quoted."""


def named(found: Sequence[Finding], before: Pixels, after: Pixels, reader: Reader, limit: int = 8) -> list[Finding]:
    """`found` with `text` and `text_after` filled in for the first `limit` findings that say anything."""
    return [
        _read(finding, before, after, reader) if index < limit and finding.kind != "canvas" else finding
        for index, finding in enumerate(found)
    ]


def _read(finding: Finding, before: Pixels, after: Pixels, reader: Reader) -> Finding:
    one = _text_at(before, finding.box_before, finding, reader)
    two = _text_at(after, finding.box_after, finding, reader) if finding.kind in _WORDY or not one else ""
    if finding.kind == "text" and one and two and alike(one, two) == 1.0:
        finding = _respelled(finding)
    if finding.kind in ("weight", "text_size") and one and two and alike(one, two) < 0.6:
        finding = replace(finding, kind="text", direction="")
    if finding.subject == "text" and not one and not two:
        finding = _unread(finding)
    return replace(finding, text=one or two, text_after=two)


def _unread(finding: Finding) -> Finding:
    """A finding of text in which no text was read: it may be an icon, or a script that the reader does not know."""
    _, _, w, h = finding.box
    if finding.kind not in _WORDY:
        return replace(finding, subject="picture")
    if w > 2 * h:
        return finding
    if finding.kind == "text":
        return replace(finding, kind="picture", subject="picture")
    return replace(finding, kind="box_size", subject="picture") if finding.kind == "text_size" else finding


def _respelled(finding: Finding) -> Finding:
    """A finding of other words, although the words read the same: what is left is how they are drawn."""
    facts = finding.evidence
    if abs(facts.get("stroke", 1) - 1) > 0.08 and abs(facts.get("height", 1) - 1) < 0.06:
        return replace(finding, kind="weight", direction="bolder" if facts["stroke"] > 1 else "thinner")
    if abs(facts.get("height", 1) - 1) > 0.06 and abs(facts.get("width", 1) - 1) > 0.03:
        return replace(finding, kind="text_size", direction="larger" if facts["width"] > 1 else "smaller")
    if abs(facts.get("width", 1) - 1) > 0.04:
        return replace(finding, kind="letter_spacing", direction="wider" if facts["width"] > 1 else "closer")
    return finding


def alike(one: str, two: str) -> float:
    """0 to 1: how much of two texts is the same, letters only.

    >>> alike("Sign in", "Signin"), alike("Sign in", "Sign up") < 0.8
    (1.0, True)
    """
    a, b = ("".join(text.split()) for text in (one, two))
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _text_at(side: Pixels, box: BoxPx | None, finding: Finding, reader: Reader) -> str:
    if box is None:
        return ""
    height, width = side.shape[:2]
    x, y, w, h = grown(box, _ABOVE, width, height)
    left, right = max(0, x - _BESIDE), min(width, x + w + _BESIDE)
    lines = reader.read(np.ascontiguousarray(side[y : y + h, left:right]))
    there = (box[0] - left, box[1] - y, box[2], box[3])
    hit = [line for line in lines if _belongs(line, there)]
    if finding.kind not in _WORDY and finding.subject not in ("text", "items") and len(hit) > 1:
        return _first_row(hit) + MORE
    return " ".join(line.text for line in hit)


def _first_row(lines: Sequence[Read]) -> str:
    """The first row of `lines` that holds a word: an initial in a circle names nothing."""
    rows: list[list[Read]] = []
    for line in lines:
        middle = line.box[1] + line.box[3] / 2
        if rows and abs(rows[-1][0].box[1] + rows[-1][0].box[3] / 2 - middle) < 0.5 * line.box[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    texts = [" ".join(line.text for line in sorted(row, key=lambda line: line.box[0])) for row in rows]
    return next((text for text in texts if sum(c.isalnum() for c in text) >= 3), texts[0])


def _belongs(line: Read, box: BoxPx) -> bool:
    """Whether a line that was read is what changed: its middle row lies in the changed box, or the other way round."""
    _, y, _, h = line.box
    if not overlap(line.box, box):
        return False
    middle = (box[0], y + h // 2, box[2], 1)
    return overlap(middle, box) or contains(line.box, box)
