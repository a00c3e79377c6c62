"""DiffSpot's rates: recall, specificity, accuracy, each with numerator and denominator.

A row counts as a true positive if the judge called its change ``correct`` (partial is a miss), and as a true negative
if the pair has no change, the reply is complete (state ``ok``) and nothing was invented. Source: the official
`metrics.py`/`judge.py` as described in the data card; an empty denominator gives 0.0 as there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ..types import STATES
from .operators import OPERATORS, TIERS, bare_operator

GROUPS: tuple[str, ...] = ("tier", "operator", "family", "domain")


class Rate(TypedDict):
    """A share with what it is a share of; `ci95` is Wilson's interval (None without rows)."""

    value: float
    numerator: int
    denominator: int
    ci95: tuple[float, float] | None


def rate(numerator: int, denominator: int) -> Rate:
    """`numerator` / `denominator` as a `Rate`; 0.0 when there is nothing to count.

    >>> rate(1, 4)["value"], rate(0, 0)["value"]
    (0.25, 0.0)
    """
    value = numerator / denominator if denominator else 0.0
    return {"value": value, "numerator": numerator, "denominator": denominator, "ci95": wilson(numerator, denominator)}


def wilson(successes: int, n: int, z: float = 1.959963984540054) -> tuple[float, float] | None:
    """Wilson score interval (default 95 %) for a binomial rate, None if n is 0. Source: Wilson 1927.

    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    if n == 0:
        return None
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (0.0 if successes == 0 else max(0.0, centre - half), 1.0 if successes == n else min(1.0, centre + half))


class Outcome(TypedDict):
    """What scoring needs of one row. `tier`, `operator`, `family` are None on a pair without a change."""

    has_diff: bool
    correct: bool
    tier: str | None
    operator: str | None
    family: str | None
    domain: str
    state: str


def outcome(
    *,
    has_diff: bool,
    correct: bool,
    state: str = "ok",
    tier: str | None = None,
    operator: str | None = None,
    family: str | None = None,
    domain: str = "other",
) -> Outcome:
    """An `Outcome`; a row without a change is only `correct` when its reply is complete (`state` ``ok``)."""
    if state not in STATES:
        raise ValueError(f"unknown state {state!r}; there are {', '.join(STATES)}")
    if not has_diff:
        correct = correct and state == "ok"
        tier = operator = family = None
    return {
        "has_diff": has_diff,
        "correct": correct,
        "tier": tier,
        "operator": bare_operator(operator) if operator else None,
        "family": family,
        "domain": domain,
        "state": state,
    }


def diffspot_rates(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All DiffSpot figures over `outcomes`, under the official names and ours.

    Headline figures count every row. ``over_parsed`` repeats them over the rows in state ``ok``. ``health`` counts
    each state and sums to ``n_total``.
    """
    figures = _headline(outcomes)
    for group in GROUPS:
        figures[f"by_{group}"] = _by(outcomes, group)
    figures["health"] = health(row["state"] for row in outcomes)
    figures["over_parsed"] = _headline([row for row in outcomes if row["state"] == "ok"])
    return figures


def _headline(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    diff = [row for row in outcomes if row["has_diff"]]
    same = [row for row in outcomes if not row["has_diff"]]
    n_tp, n_tn = sum(row["correct"] for row in diff), sum(row["correct"] for row in same)
    rates = {
        "overall_accuracy": rate(n_tp + n_tn, len(outcomes)),
        "diff_overall_recall": rate(n_tp, len(diff)),
        "no_diff_specificity": rate(n_tn, len(same)),
        "hallucination_rate": rate(len(same) - n_tn, len(same)),
    }
    counts = {"n_total": len(outcomes), "n_has_diff": len(diff), "n_no_diff": len(same), "n_tp": n_tp, "n_tn": n_tn}
    return {name: value["value"] for name, value in rates.items()} | counts | {"rates": rates}


_ORDER: dict[str, Sequence[str]] = {
    "tier": TIERS,
    "operator": [operator for members in OPERATORS.values() for operator in members],
    "family": list(OPERATORS),
}


def _by(outcomes: Sequence[Outcome], group: str) -> dict[str, Any]:
    pairs: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for row in outcomes:
        if row["has_diff"]:
            key = str(row[group] or "unknown")  # type: ignore[literal-required]
            pairs[key] += 1
            hits[key] += row["correct"]
    known = [key for key in _ORDER.get(group, ()) if key in pairs]
    return {
        key: {"recall": rate(hits[key], pairs[key])["value"], "n_pairs": pairs[key], "n_tp": hits[key]}
        | {"ci95": wilson(hits[key], pairs[key])}
        for key in known + sorted(pairs.keys() - known)
    }


def health(states: Iterable[str]) -> dict[str, int]:
    """How many rows ended in each state, every state named; the counts sum to the number of rows."""
    counted = Counter(states)
    return {state: counted[state] for state in STATES}


def outcome_of(row: Mapping[str, Any], correct: bool, state: str) -> Outcome:
    """The `Outcome` of a data set row with the columns `task_type`, `difficulty`, `operator`, `family`, `domain`."""
    return outcome(
        has_diff=row["task_type"] != "no_diff",
        correct=correct,
        state=state,
        tier=row["difficulty"],
        operator=row.get("operator"),
        family=row.get("family"),
        domain=row.get("domain") or "other",
    )
