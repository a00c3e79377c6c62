"""Pairs predicted issues with human ones, each used at most once.

Two issues can be paired if they share at least one tag and, on side A or on side B, their boxes overlap with an IoU of
at least the threshold. Source: the Scry paper; that the *largest* possible number of pairs is made, and of these
choices the one with the highest sum of IoUs, is ours, as the paper names no method. Greedy matching can lose pairs, and
which ones depends on the order of the predictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

    ``maximum`` makes as many pairs as can be made, and among all ways to do so takes one with the highest sum of IoUs;
    what is paired depends on the issues alone, not on their order. ``greedy`` goes through the predictions in order,
    and each takes the free human issue of highest IoU.

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
    return choose_pairs(predicted, human, possible_pairs(predicted, human, iou_threshold), method)


def choose_pairs(
    predicted: Sequence[Issue], human: Sequence[Issue], possible: Sequence[Sequence[tuple[float, int]]], method: str
) -> list[tuple[int, int]]:
    """The pairs that `method` makes out of what `possible_pairs` returned, as (predicted, human), sorted."""
    return sorted(_maximum(predicted, human, possible) if method == "maximum" else _greedy(possible))


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


def _maximum(
    predicted: Sequence[Issue], human: Sequence[Issue], possible: Sequence[Sequence[tuple[float, int]]]
) -> Iterable[tuple[int, int]]:
    """Each human issue with its closest prediction where no two want the same one, else the best exchange."""
    human_of: dict[int, int] = {}
    for issue, near in enumerate(possible):
        if not near:
            continue
        value, index = near[0]
        if index in human_of or (len(near) > 1 and near[1][0] == value):
            return _exchanged(predicted, human, possible)
        human_of[index] = issue
    return human_of.items()


def _exchanged(
    predicted: Sequence[Issue], human: Sequence[Issue], possible: Sequence[Sequence[tuple[float, int]]]
) -> Iterable[tuple[int, int]]:
    """As many pairs as can be made, of the highest sum of IoUs: human issues come in one by one, each by the chain of
    exchanges that gains most (the Hungarian method on lists of neighbours). Equal chains go by content, not by order.
    """
    place = {index: at for at, index in enumerate(sorted(range(len(predicted)), key=lambda i: _content(predicted[i])))}
    near = [sorted(pairs, key=lambda pair: (-pair[0], place[pair[1]])) for pairs in possible]
    human_of: dict[int, int] = {}
    taken: dict[int, tuple[float, int]] = {}  # human issue -> its IoU and prediction
    for start in sorted(range(len(human)), key=lambda i: _content(human[i])):
        gain, gain_at, came_from = {start: 0.0}, dict[int, float](), dict[int, int]()
        queue = [start]
        for issue in queue:
            for value, index in near[issue]:
                if gain[issue] + value > gain_at.get(index, -1.0) + _ROUNDING:
                    gain_at[index], came_from[index] = gain[issue] + value, issue
                    if (owner := human_of.get(index)) is not None:
                        gain[owner] = gain_at[index] - taken[owner][0]
                        queue.append(owner)
        free = [index for index in gain_at if index not in human_of]
        if free:
            end = max(free, key=lambda index: (gain_at[index], -place[index]))
        else:
            loser = max(gain, key=lambda issue: gain[issue])  # the first of equals, and `start` is the first of all
            if loser == start:
                continue
            end = taken.pop(loser)[1]
        while True:
            issue = came_from[end]
            given_up = taken.get(issue)
            human_of[end] = issue
            taken[issue] = next(pair for pair in near[issue] if pair[1] == end)
            if given_up is None:
                break
            end = given_up[1]
    return human_of.items()


def _content(issue: Issue) -> tuple[Any, ...]:
    """What tells two issues of one screen apart, in a form that can be sorted."""
    boxes = [tuple(box[key] for key in "xywh") if (box := issue.get(side)) else () for side in ("box_a", "box_b")]
    return tuple(issue["labels"]), *boxes


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
