"""How well the boxes of found issues fit: IoU of the matched pairs, and recall as the demand on overlap rises."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

from .issue_scores import boxes_outside_frame, read_screens, read_threshold
from .matching import IOU_THRESHOLD, Issue, choose_pairs, overlap, possible_pairs
from .rates import rate

THRESHOLDS: tuple[float, ...] = tuple(tenth / 10 for tenth in range(1, 10))


def score_overlap(
    predictions: Sequence[Sequence[Issue]],
    references: Sequence[Sequence[Issue]],
    states: Sequence[str] | None = None,
    *,
    iou_threshold: float = IOU_THRESHOLD,
    method: str = "maximum",
) -> dict[str, Any]:
    """Mean and quartiles of the IoU of matched pairs, and ``recall_at``: recall if a pair had to overlap by 0.1 … 0.9.

    The IoU of a pair is the higher one of its two sides. Each recall is a matching of its own, so a pair lost at one
    threshold may free a partner. Without a matched pair the mean is 0.0 and the quartiles are None.
    ``boxes_outside_frame`` counts the predicted boxes that leave the picture; a known issue whose box
    cannot be in fractions of it is an error.

    >>> near = {"labels": ["other"], "box_a": {"x": 0, "y": 0, "w": 0.5, "h": 1}, "box_b": None}
    >>> exact = {"labels": ["other"], "box_a": {"x": 0, "y": 0, "w": 0.25, "h": 1}, "box_b": None}
    >>> scores = score_overlap([[near]], [[exact]])
    >>> scores["mean_iou"], scores["recall_at"]["0.5"]["value"], scores["recall_at"]["0.6"]["value"]
    (0.5, 1.0, 0.0)
    """
    screens = read_screens(predictions, references, states, iou_threshold=iou_threshold, method=method)
    values = sorted(overlap(one.predicted[i], one.human[j]) for one in screens for i, j in one.pairs)
    human = sum(len(one.human) for one in screens)
    possible = [possible_pairs(one.predicted, one.human, THRESHOLDS[0]) for one in screens]
    recall_at = {}
    for threshold in THRESHOLDS:
        # As in `match_issues`, an IoU within rounding of the threshold is the threshold.
        possible = [[[pair for pair in near if pair[0] >= threshold - 1e-12] for near in one] for one in possible]
        matched = [
            len(choose_pairs(screen.predicted, screen.human, near, method))
            for screen, near in zip(screens, possible, strict=True)
        ]
        recall_at[f"{threshold:.1f}"] = rate(sum(matched), human)
    return {
        "mean_iou": fsum(values) / len(values) if values else 0.0,
        "quartiles": [_quantile(values, share) for share in (0.25, 0.5, 0.75)],
        "recall_at": recall_at,
        "matched": len(values),
        "human": human,
        "n_total": len(screens),
        "boxes_outside_frame": boxes_outside_frame(screens),
        "settings": {"iou_threshold": read_threshold(iou_threshold), "method": method},
    }


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    """The value at `share` of `ordered`, interpolated between neighbours."""
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])
