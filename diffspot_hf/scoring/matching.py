"""Pairs predicted issues with human ones, each used at most once.

Two issues can be paired if they share at least one tag and, on side A or on side B, their boxes overlap with an IoU of
at least the threshold. Source: the Scry paper; that the *largest* possible number of pairs is made is our choice, as
the paper names no method. Greedy matching can lose pairs, and which ones depends on the order of the predictions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..errors import UsageError
from .boxes import iou

Method = Literal["maximum", "greedy"]

IOU_THRESHOLD = 0.10
"""Source: the Scry paper."""

_ROUNDING = 1e-12  # decimal fractions have no exact binary form: an IoU this close to the threshold is the threshold

Issue = Mapping[str, Any]
"""`labels`: list of tags; `box_a`, `box_b`: a box in ``xywh_norm`` or None."""


def match_issues(
    predicted: Sequence[Issue], human: Sequence[Issue], *, iou_threshold: float = IOU_THRESHOLD, method: str = "maximum"
) -> list[tuple[int, int]]:
    """Index pairs (predicted, human), sorted, every index at most once.

    ``maximum`` makes as many pairs as can be made. Which human issues are in them does not depend on the order of the
    predictions; of several partners the one of higher IoU is preferred. ``greedy`` goes through the predictions in
    order, and each takes the free human issue of highest IoU.

    >>> box = {"x": 0.1, "y": 0.1, "w": 0.2, "h": 0.2}
    >>> issue = {"labels": ["Typography"], "box_a": box, "box_b": None}
    >>> match_issues([issue, issue], [issue])
    [(0, 0)]
    """
    if method not in ("maximum", "greedy"):
        raise UsageError(f"unknown matching method {method!r}: use 'maximum' or 'greedy'")
    if not 0 < iou_threshold <= 1:
        raise UsageError(f"iou_threshold is {iou_threshold}: it must be above 0 and at most 1")
    if not predicted or not human:
        return []
    return choose_pairs(possible_pairs(predicted, human, iou_threshold), method)


def choose_pairs(possible: Sequence[Sequence[tuple[float, int]]], method: str) -> list[tuple[int, int]]:
    """The pairs that `method` makes out of what `possible_pairs` returned, as (predicted, human), sorted."""
    return sorted(_maximum(possible) if method == "maximum" else _greedy(possible))


def overlap(predicted: Issue, human: Issue) -> float:
    """The IoU of two issues: the higher one of the two sides."""
    on_a = iou(predicted.get("box_a"), human.get("box_a"))
    on_b = iou(predicted.get("box_b"), human.get("box_b"))
    return on_a if on_a > on_b else on_b


def possible_pairs(
    predicted: Sequence[Issue], human: Sequence[Issue], iou_threshold: float = IOU_THRESHOLD
) -> list[list[tuple[float, int]]]:
    """For each human issue the predictions it can be paired with, as (IoU, index), the highest IoU first."""
    floor = iou_threshold - _ROUNDING
    by_tag: dict[str, list[int]] = {}
    for index, candidate in enumerate(predicted):
        for label in candidate["labels"]:
            by_tag.setdefault(label, []).append(index)
    possible: list[list[tuple[float, int]]] = []
    for issue in human:
        sharing = {index for label in issue["labels"] for index in by_tag.get(label, ())}
        near = [(value, index) for index in sharing if (value := overlap(predicted[index], issue)) >= floor]
        near.sort(key=_closest_first)
        possible.append(near)
    return possible


def _closest_first(pair: tuple[float, int]) -> tuple[float, int]:
    return -pair[0], pair[1]


def _maximum(possible: Sequence[Sequence[tuple[float, int]]]) -> list[tuple[int, int]]:
    """A largest set of pairs, grown by augmenting paths, one human issue after the other.

    A human issue that has a partner never loses it, so which of them are matched is decided by their own order alone.
    """
    human_of: dict[int, int] = {}
    predicted_of: dict[int, int] = {}
    for issue, near in enumerate(possible):
        free = next((index for _, index in near if index not in human_of), None)
        if free is not None:
            human_of[free], predicted_of[issue] = issue, free
        elif near:
            _augment(possible, human_of, predicted_of, issue)
    return list(human_of.items())


def _augment(
    possible: Sequence[Sequence[tuple[float, int]]],
    human_of: dict[int, int],
    predicted_of: dict[int, int],
    start: int,
) -> None:
    """Finds, breadth first, a chain of exchanges from the human issue `start` to a free prediction, and makes them."""
    reached_from: dict[int, int] = {}
    queue = [start]
    for issue in queue:
        for _, index in possible[issue]:
            if index in reached_from:
                continue
            reached_from[index] = issue
            if index in human_of:
                queue.append(human_of[index])
                continue
            free: int | None = index
            while free is not None:
                taker = reached_from[free]
                given_up = predicted_of.get(taker)
                human_of[free], predicted_of[taker] = taker, free
                free = given_up
            return


def _greedy(possible: Sequence[Sequence[tuple[float, int]]]) -> list[tuple[int, int]]:
    wanted: dict[int, list[tuple[float, int]]] = {}
    for issue, near in enumerate(possible):
        for value, index in near:
            wanted.setdefault(index, []).append((-value, issue))
    pairs: dict[int, int] = {}  # human -> predicted
    for index in sorted(wanted):
        free = [(value, issue) for value, issue in wanted[index] if issue not in pairs]
        if free:
            pairs[min(free)[1]] = index
    return [(index, issue) for issue, index in pairs.items()]
