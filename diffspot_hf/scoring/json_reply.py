"""Reads the issues of Scry Design Diff out of a model's reply.

The asked form is ``{"issues": [{"labels": [...], "note": ..., "box_a": {...}, "box_b": {...}}]}``; models wrap it in
prose, fences, thinking and other objects, break it, cut it or decline. What of that is read, and how, is our choice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..types import State
from .boxes import BoxFrame, number, read_box
from .json_scan import Found, find_json
from .refusals import is_refusal
from .reply_text import is_blank, outside_thinking, without_markers
from .tags import read_labels

MAX_WRAPPERS = 3  # our choice: objects that may stand around {"issues": [...]}
_FENCED = re.compile(r"\s*(?:```|~~~)[\w+-]*\s*(.*?)\s*(?:```|~~~)\s*", re.DOTALL)
_STRING = re.compile(r'\s*"(?:[^"\\]++|\\.)*+"\s*', re.DOTALL)
_ISSUE_KEYS = ("labels", "label", "box_a", "box_b")

Sizes = Sequence[tuple[int, int] | None]
"""(width, height) in pixels of picture A and of picture B."""


@dataclass(frozen=True)
class IssuesRead:
    """What a reply says.

    `issues`: dicts of `labels`, `note`, `box_a`, `box_b` (each ``xywh_norm`` or None), `confidence` (or None).
    Empty unless `state` is ``ok`` or ``truncated``; only ``ok`` with an empty list is an abstention.
    `dropped_boxes`: boxes that were there and not usable. `clipped_boxes`: boxes cut at the edge of the picture.
    """

    state: State
    issues: list[dict[str, Any]] = field(default_factory=list)
    dropped_boxes: int = 0
    clipped_boxes: int = 0


def read_issues(
    reply: str | None,
    *,
    finish_reason: str = "stop",
    box_frame: BoxFrame | None = None,
    original_sizes: Sizes = (None, None),
    processed_sizes: Sizes = (None, None),
) -> IssuesRead:
    """The issues in `reply` and the state it is in.

    The last complete answer counts. Without one, a reply cut by the token limit (`finish_reason` ``length``) keeps the
    issues that were complete. `box_frame` is the frame the model was declared to answer in; without it, only
    ``{x, y, w, h}`` in fractions is a box. The pixel frames need the sizes of the two pictures, else `UsageError`.

    >>> read_issues('Sure: {"issues": [{"labels": "typography", "box_b": {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.1}},]}')
    IssuesRead(state='ok', issues=[{'labels': ['Typography'], 'note': '', 'box_a': None, 'box_b': {'x': 0.1, 'y': 0.2, \
'w': 0.3, 'h': 0.1}, 'confidence': None}], dropped_boxes=0, clipped_boxes=0)
    >>> read_issues("No issues found.").state
    'unparsed'
    """
    reply = reply or ""
    text, _ = outside_thinking(reply, ((one.start, one.end) for one in find_json(reply) if not one.open))
    cut = finish_reason == "length"
    if is_blank(text):
        return IssuesRead("truncated" if cut else "refused" if finish_reason == "refusal" else "empty")
    found = [] if _STRING.fullmatch(text) else list(find_json(text))  # JSON inside a string is text
    # {issues: [{...}]} is as little an answer as {issues: []}: its list is not at top level.
    free = [one for one in found if not (one.enclosed and isinstance(one.value, list))]
    answers = [answer for one in free if not one.open and (answer := _answer(one.value)) is not None]
    if answers or _is_empty_list(text, found):
        return _read("ok", answers[-1] if answers else [], box_frame, original_sizes, processed_sizes)
    if cut:
        return _read("truncated", _unfinished(free), box_frame, original_sizes, processed_sizes)
    if finish_reason == "refusal" or is_refusal(_prose(text, found)):
        return IssuesRead("refused")
    return IssuesRead("unparsed")


def _answer(value: Any) -> list[Any] | None:
    """The elements of the complete answer that the JSON `value` is, or None."""
    if isinstance(value, list):
        if any(_is_issue(element) for element in value):
            return value
        value = value[0] if len(value) == 1 and isinstance(value[0], dict) and "issues" in value[0] else None
    level = [value] if isinstance(value, dict) else []
    for _ in range(MAX_WRAPPERS + 1):
        answers = [issues for one in level if (issues := _issues_of(one)) is not None]
        if answers:
            return answers[-1]
        level = [inner for one in level if "issues" not in one for inner in one.values() if isinstance(inner, dict)]
    return None


def _issues_of(value: dict[str, Any]) -> list[Any] | None:
    issues = value.get("issues")
    # A list that names something without a single object must not pass for an abstention.
    if not isinstance(issues, list) or (issues and not any(isinstance(one, dict) and one for one in issues)):
        return None
    return issues


def _is_issue(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in _ISSUE_KEYS)


def _is_empty_list(text: str, found: Sequence[Found]) -> bool:
    """True if the whole reply, a code fence aside, is an empty list."""
    if len(found) != 1 or found[0].open or found[0].value != []:
        return False
    one = found[0]
    around = text[: one.start] + "[]" + text[one.end :]
    fenced = _FENCED.fullmatch(without_markers(around))
    return (fenced.group(1) if fenced else without_markers(around).strip()) == "[]"


def _unfinished(found: Sequence[Found]) -> list[Any]:
    """The complete issues of the answer that the end of the text cut, or []."""
    if not found or not found[-1].open:
        return []
    opened = list(found[-1].open)
    if isinstance(opened[0][0], list):
        complete, _ = opened.pop(0)
        if complete:
            return _answer(complete) or []
    within: list[Any] = []
    for depth, (container, key) in enumerate(opened[: MAX_WRAPPERS + 1]):
        if not isinstance(container, dict):
            break
        below = opened[depth + 1][0] if depth + 1 < len(opened) else None
        if key == "issues" and below is not None:
            return below if isinstance(below, list) else []
        if "issues" in container:
            return _issues_of(container) or []
        within = _answer(container) or within
    return within


def _prose(text: str, found: Sequence[Found]) -> str:
    """`text` without its JSON."""
    edges = [0, *(edge for one in found for edge in (one.start, one.end)), len(text)]
    return "\n".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _read(
    state: State, elements: Sequence[Any], frame: BoxFrame | None, original: Sizes, processed: Sizes
) -> IssuesRead:
    issues: list[dict[str, Any]] = []
    dropped = clipped = 0
    for element in elements:
        if not isinstance(element, dict):
            continue
        note = element.get("note")
        issue: dict[str, Any] = {
            "labels": read_labels(element["labels"] if element.get("labels") is not None else element.get("label")),
            "note": note if isinstance(note, str) else "",
        }
        for side, key in enumerate(("box_a", "box_b")):
            value, box, was_clipped = element.get(key), None, False
            if value is not None:
                box, was_clipped = read_box(value, frame, original[side], processed[side])
                dropped += box is None
                clipped += was_clipped
            issue[key] = box
        issue["confidence"] = number(element.get("confidence"))
        issues.append(issue)
    return IssuesRead(state, issues, dropped, clipped)
