"""The figures of Scry Design Diff: how many known issues were found, how many reports were known issues, who abstained.

Source: the Scry paper, for the names and what they mean. The annotations it scores against are known positives only,
so its precision is *diagnostic*: an unmatched report may be a defect that nobody marked. Where the truth is exhaustive
(our built screens) it is precision proper. What the paper leaves open is a parameter or reported in both readings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ..errors import UsageError
from ..types import STATES
from .boxes import Box, number
from .matching import IOU_THRESHOLD, Issue, choose_pairs, match_issues, possible_pairs
from .rates import Rate, rate
from .tags import TAGS

MalformedControls = Literal["failed", "abstained", "excluded"]
"""What a control without a readable answer is: ``failed`` (stays in the denominator and is no abstention; ours, the
headline), ``abstained`` (it reported nothing; how the paper seems to count), ``excluded`` (leaves the denominator)."""

ISSUE_STATES = (*STATES, "missing")
"""States of a row; ``missing`` is a row for which there is no prediction at all."""

BUCKETS = ("no-tagged", "single", "multi", "dense")
FEW = 5
"""A tag with fewer issues is marked: the paper leaves such tags out of its table."""

FRAME_SLACK = 1e-6
"""How far an edge may lie outside the picture unnoticed (ours): sums of single-precision numbers are not exact."""

NO_FRACTION = 1.0
"""A known issue that lies further outside than a whole picture cannot be in fractions of it (ours)."""

_OTHER = {"maximum": "greedy", "greedy": "maximum"}
_NO_READING = ("known_issue_recall", "diff_screens")  # controls hold no known issue
_HEADLINE = ("known_issue_recall", "diagnostic_precision", "issue_f1", "diff_screen_recall", "no_diff_specificity")


class Screen(NamedTuple):
    """What one row contributes. `pairs`: (predicted, human) indices; `by_method`: how many pairs each method makes."""

    predicted: Sequence[Issue]
    human: Sequence[Issue]
    pairs: Sequence[tuple[int, int]]
    by_method: Mapping[str, int]
    state: str
    bucket: str


def read_screens(
    predictions: Sequence[Sequence[Issue]],
    references: Sequence[Sequence[Issue]],
    states: Sequence[str] | None = None,
    buckets: Sequence[str | None] | None = None,
    *,
    iou_threshold: float = IOU_THRESHOLD,
    method: str = "maximum",
) -> list[Screen]:
    """Each row matched. Issues are read in the states ``ok`` and ``truncated`` only; in the others there are none.

    Raises `UsageError` for lists of unequal length, for states or a method that do not exist, for an `iou_threshold`
    that is no number, and for known issues with a box that cannot be in fractions.
    """
    iou_threshold = read_threshold(iou_threshold)
    match_issues([], [], iou_threshold=iou_threshold, method=method)
    rows = len(references)
    columns = {"predictions": predictions, "states": states, "buckets": buckets}
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise UsageError(f"there are {rows} references but {len(column)} {name}: give one for each row")
    check_states(states or ())
    check_frame(references)
    screens = []
    for index, human in enumerate(references):
        state = states[index] if states else "ok"
        predicted = predictions[index] if state in ("ok", "truncated") else ()
        possible = possible_pairs(predicted, human, iou_threshold)
        pairs, other = (choose_pairs(predicted, human, possible, name) for name in (method, _OTHER[method]))
        by_method = {method: len(pairs), _OTHER[method]: len(other)}
        screens.append(Screen(predicted, human, pairs, by_method, state, (buckets[index] if buckets else None) or ""))
    return screens


def read_threshold(value: Any) -> float:
    """`value` as a plain number; `UsageError` for what is none, such as a string or None.

    >>> read_threshold(1)
    1.0
    """
    found = None if isinstance(value, str) else number(value.item() if hasattr(value, "item") else value)
    if found is None:
        raise UsageError(f"iou_threshold is {value!r}: give a number above 0 and at most 1")
    return found


def boxes_outside_frame(screens: Iterable[Screen]) -> int:
    """How many predicted boxes leave the picture, as boxes in pixels do: xywh_norm is the one frame of scoring."""
    return sum(
        is_outside(issue.get(side)) for screen in screens for issue in screen.predicted for side in ("box_a", "box_b")
    )


def score_issues(
    predictions: Sequence[Sequence[Issue]],
    references: Sequence[Sequence[Issue]],
    states: Sequence[str] | None = None,
    buckets: Sequence[str | None] | None = None,
    *,
    iou_threshold: float = IOU_THRESHOLD,
    method: str = "maximum",
    malformed_controls: str = "failed",
) -> dict[str, Any]:
    """All figures over the rows; a row whose reference is empty is a control.

    The five headline figures stand at the top, with numerator, denominator and 95 % Wilson interval under ``rates``
    (issues of one screen are not independent: for a comparison use `stats.cluster_bootstrap`). A figure whose
    denominator is 0 is 0.0 and named in ``undefined``. ``health`` counts the states and sums to ``n_total``;
    ``boxes_outside_frame`` counts the predicted boxes that leave the picture (a known issue with one is an error).
    ``over_parsed`` repeats the headline over the rows in state ``ok``; ``readings`` holds what the paper leaves open.

    >>> issue = {"labels": ["Typography"], "box_a": {"x": 0.1, "y": 0.1, "w": 0.2, "h": 0.1}, "box_b": None}
    >>> scores = score_issues(predictions=[[issue, issue], []], references=[[issue], []])
    >>> scores["known_issue_recall"], scores["diagnostic_precision"], scores["no_diff_specificity"]
    (1.0, 0.5, 1.0)
    """
    if malformed_controls not in get_args(MalformedControls):
        raise UsageError(f"malformed_controls is {malformed_controls!r}: use {', '.join(get_args(MalformedControls))}")
    screens = read_screens(predictions, references, states, buckets, iou_threshold=iou_threshold, method=method)
    scores = _headline(screens, malformed_controls)
    counted = Counter(screen.state for screen in screens)
    return scores | {
        "n_total": len(screens),
        "coverage": rate(len(screens) - counted["missing"], len(screens)),
        "health": {state: counted[state] for state in ISSUE_STATES},
        "boxes_outside_frame": boxes_outside_frame(screens),
        "by_tag": _by_tag(screens),
        "by_bucket": _by_bucket(screens) if buckets else {},
        "over_parsed": _headline([screen for screen in screens if screen.state == "ok"], malformed_controls),
        "readings": _readings(screens),
        "settings": {
            "iou_threshold": read_threshold(iou_threshold),
            "method": method,
            "malformed_controls": malformed_controls,
        },
    }


def issue_rates(matched: int, predicted: int, human: int) -> dict[str, Rate]:
    """Recall, precision and F1 of `matched` pairs; F1 = 2 matched / (predicted + human), their harmonic mean.

    >>> {name: round(figure["value"], 3) for name, figure in issue_rates(209, 1033, 557).items()}
    {'known_issue_recall': 0.375, 'diagnostic_precision': 0.202, 'issue_f1': 0.263}
    """
    f1 = rate(2 * matched, predicted + human)
    f1["ci95"] = None  # no share of independent cases
    return {
        "known_issue_recall": rate(matched, human),
        "diagnostic_precision": rate(matched, predicted),
        "issue_f1": f1,
    }


def check_states(states: Iterable[str]) -> None:
    unknown = [state for state in states if state not in ISSUE_STATES]
    if unknown:
        raise UsageError(f"unknown state {unknown[0]!r}: use one of {', '.join(ISSUE_STATES)}")


def check_frame(references: Iterable[Sequence[Issue]]) -> None:
    for row, issues in enumerate(references):
        for index, issue in enumerate(issues):
            for side in ("box_a", "box_b"):
                if is_outside(issue.get(side), NO_FRACTION):
                    raise UsageError(
                        f"references, row {row}, issue {index}: {side} {issue[side]} leaves the picture; boxes are "
                        "fractions of it (xywh_norm, 0 to 1), so divide pixels by its width and height"
                    )


def is_outside(box: Box | None, slack: float = FRAME_SLACK) -> bool:
    if box is None:
        return False
    low, high = -slack, 1 + slack
    x, y = box["x"], box["y"]
    return x < low or y < low or x + box["w"] > high or y + box["h"] > high


# -- counting -------------------------------------------------------------------------------------------------------


def _headline(screens: Sequence[Screen], malformed_controls: str) -> dict[str, Any]:
    matched, predicted, human = _counts(screens)
    marked = [screen for screen in screens if screen.human]
    controls = [screen for screen in screens if not screen.human]
    rates = issue_rates(matched, predicted, human)
    rates["diff_screen_recall"] = rate(sum(bool(screen.pairs) for screen in marked), len(marked))
    rates["no_diff_specificity"] = _specificity(controls)[malformed_controls]
    return {name: rates[name]["value"] for name in _HEADLINE} | {
        "matched": matched,
        "predicted": predicted,
        "human": human,
        "n_diff_screens": len(marked),
        "n_controls": len(controls),
        "flagged_controls": sum(bool(screen.predicted) for screen in controls),
        "malformed_controls": sum(_is_malformed(screen) for screen in controls),
        "rates": rates,
        "undefined": [name for name in _HEADLINE if rates[name]["denominator"] == 0],
    }


def _counts(screens: Iterable[Screen]) -> tuple[int, int, int]:
    """Matched, predicted and human issues."""
    matched = predicted = human = 0
    for screen in screens:
        matched += len(screen.pairs)
        predicted += len(screen.predicted)
        human += len(screen.human)
    return matched, predicted, human


def _is_malformed(screen: Screen) -> bool:
    """True if the row names nothing without having said so: only ``ok`` with an empty list is an abstention."""
    return screen.state != "ok" and not screen.predicted


def _specificity(controls: Sequence[Screen]) -> dict[str, Rate]:
    malformed = sum(_is_malformed(screen) for screen in controls)
    silent = sum(not screen.predicted for screen in controls)
    return {
        "failed": rate(silent - malformed, len(controls)),
        "abstained": rate(silent, len(controls)),
        "excluded": rate(silent - malformed, len(controls) - malformed),
    }


def _readings(screens: Sequence[Screen]) -> dict[str, Any]:
    """The headline under each reading of what the paper leaves open."""
    matched, predicted, human = _counts(screens)
    on_marked = _counts(screen for screen in screens if screen.human)
    counted = {"all_rows": (matched, predicted, human), "diff_screens": on_marked} | {
        method: (sum(screen.by_method[method] for screen in screens), predicted, human) for method in _OTHER
    }
    rates = {reading: issue_rates(*counts) for reading, counts in counted.items()}
    figures = {
        name: {reading: rates[reading][name] for reading in counted if (name, reading) != _NO_READING}
        for name in ("known_issue_recall", "diagnostic_precision", "issue_f1")
    }
    return figures | {
        "no_diff_specificity": _specificity([screen for screen in screens if not screen.human]),
        "by_tag_of_first_label": _first_label(screens),
    }


def _first_label(screens: Sequence[Screen]) -> dict[str, Rate]:
    """Recall by tag if an issue with several tags counted under its first one only."""
    human: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for screen in screens:
        found = {index for _, index in screen.pairs}
        for index, issue in enumerate(screen.human):
            for label in issue["labels"][:1]:
                human[label] += 1
                matched[label] += index in found
    return {tag: rate(matched[tag], human[tag]) for tag in _in_order(human, TAGS)}


def _by_tag(screens: Sequence[Screen]) -> dict[str, dict[str, Any]]:
    """Recall by tag; an issue with several tags counts under each, so the tags add up to more than all issues."""
    human: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for screen in screens:
        found = {index for _, index in screen.pairs}
        for index, issue in enumerate(screen.human):
            human.update(issue["labels"])
            if index in found:
                matched.update(issue["labels"])
        for issue in screen.predicted:
            predicted.update(issue["labels"])
    table = {}
    for tag in _in_order(human | predicted, TAGS):
        recall = rate(matched[tag], human[tag])
        table[tag] = {
            "recall": recall["value"],
            "matched": matched[tag],
            "human": human[tag],
            "predicted": predicted[tag],
            "few": human[tag] < FEW,
            "ci95": recall["ci95"],
        }
    return table


def _by_bucket(screens: Sequence[Screen]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Screen]] = {}
    for screen in screens:
        groups.setdefault(screen.bucket or "unknown", []).append(screen)
    table = {}
    for bucket in _in_order(groups, BUCKETS):
        matched, predicted, human = _counts(groups[bucket])
        rates = issue_rates(matched, predicted, human)
        table[bucket] = {
            "n_screens": len(groups[bucket]),
            "recall": rates["known_issue_recall"]["value"],
            "precision": rates["diagnostic_precision"]["value"],
            "matched": matched,
            "predicted": predicted,
            "human": human,
            "screens_with_a_report": sum(bool(screen.predicted) for screen in groups[bucket]),
            "ci95": rates["known_issue_recall"]["ci95"],
            "undefined": [name for name, count in (("recall", human), ("precision", predicted)) if not count],
        }
    return table


def _in_order(names: Mapping[str, Any], known: Sequence[str]) -> list[str]:
    return [name for name in known if name in names] + sorted(names.keys() - set(known))
