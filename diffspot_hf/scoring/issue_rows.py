"""Brings rows of issues, as users and files hold them, to the one form that scoring compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from .boxes import numbers
from .tags import read_labels

_SIDES = ("x", "y", "w", "h")


def normal_issue(issue: Mapping[str, Any]) -> dict[str, Any]:
    """`issue` with the keys `labels`, `box_a`, `box_b` and no other; what is missing is [] or None.

    A box that lacks a finite number or has no area is None; boxes are not clipped. Raises `UsageError` for what is no
    issue at all, such as a string, and for a box that is no object.

    >>> normal_issue({"label": "typography", "box_b": {"x": 0, "y": 0, "w": 1, "h": "0.5"}, "note": "thin"})
    {'labels': ['Typography'], 'box_a': None, 'box_b': {'x': 0.0, 'y': 0.0, 'w': 1.0, 'h': 0.5}}
    """
    if not isinstance(issue, Mapping):
        raise UsageError(f"an issue is {issue!r}: give an object with labels, box_a and box_b")
    labels = issue["labels"] if issue.get("labels") is not None else issue.get("label")
    return {
        "labels": read_labels(labels),
        "box_a": _normal_box(issue.get("box_a")),
        "box_b": _normal_box(issue.get("box_b")),
    }


def normal_row(row: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The issues of one row, each as `normal_issue`; [] for None.

    >>> normal_row(None), normal_row([{"labels": ["other"]}])
    ([], [{'labels': ['other'], 'box_a': None, 'box_b': None}])
    """
    if row is None:
        return []
    if isinstance(row, (str, Mapping)) or not hasattr(row, "__iter__"):
        raise UsageError(f"a row is {row!r}: give a list of issues, [] for none")
    return [normal_issue(issue) for issue in row]


def normal_states(rows: Sequence[Any], states: Sequence[str | None] | None) -> list[str]:
    """The state of each of `rows`: as given, else ``ok``; a row that is None and was said to be ``ok`` is ``missing``.

    >>> normal_states([[], None], None)
    ['ok', 'missing']
    """
    given = [None] * len(rows) if states is None else list(states)
    if len(given) != len(rows):
        raise UsageError(f"there are {len(rows)} rows but {len(given)} states: give one for each row")
    return [
        "missing" if row is None and state in (None, "ok") else state or "ok"
        for row, state in zip(rows, given, strict=True)
    ]


def _normal_box(box: Any) -> dict[str, float] | None:
    if box is None:
        return None
    if not isinstance(box, Mapping):
        raise UsageError(f"a box is {box!r}: give an object with x, y, w and h in fractions of the picture, or None")
    four = numbers(box, _SIDES)
    if four is None or four[2] <= 0 or four[3] <= 0:
        return None
    return dict(zip(_SIDES, four, strict=True))
