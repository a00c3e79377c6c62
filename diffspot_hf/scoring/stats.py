"""Intervals and tests in plain Python: what a difference between two runs is worth.

Rates over independent rows get Wilson's interval. Rows that share a page, screen or base image are not independent:
resample those clusters. Two models on the same rows are compared pairwise. An interval covers the choice of rows, not
the spread between runs of a model that answers differently each time.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from .rates import wilson

__all__ = ["Interval", "chi_square", "cluster_bootstrap", "mcnemar", "paired_bootstrap", "wilson"]

_Item = TypeVar("_Item")
_CHUNK = 500  # draws that share one generator: any chunk can be drawn alone and gives the same numbers

Cluster = tuple[float, float]
"""(numerator, denominator) that one cluster contributes to a ratio, such as (matched, human) issues of a screen."""


class Interval(NamedTuple):
    """A figure and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


def cluster_bootstrap(
    clusters: Sequence[Cluster], *, draws: int = 10_000, seed: int = 0, level: float = 0.95
) -> Interval:
    """Percentile interval of (sum of numerators) / (sum of denominators), whole clusters drawn with replacement.

    Seeded by (seed, chunk of draws), so equal input gives equal bounds, in one process or several. A ratio whose
    denominator is 0 is 0.0.

    >>> cluster_bootstrap([(1, 1), (0, 1)] * 50, draws=2000, seed=1)
    Interval(value=0.5, low=0.4, high=0.6)
    """
    packed = [complex(numerator, denominator) for numerator, denominator in clusters]
    return _percentiles(packed, _ratio, draws, seed, level)


def paired_bootstrap(
    first: Sequence[Cluster], second: Sequence[Cluster], *, draws: int = 10_000, seed: int = 0, level: float = 0.95
) -> Interval:
    """Interval of the difference second - first of two ratios over the same clusters, drawn together.

    `first[i]` and `second[i]` are what cluster i contributes under either model. Raises `ValueError` if their numbers
    differ.

    >>> paired_bootstrap([(0, 1)] * 30, [(1, 1)] * 30, draws=500)
    Interval(value=1.0, low=1.0, high=1.0)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} clusters against {len(second)}: a paired comparison needs the same ones")
    # One number per cluster and model keeps a draw to two sums; both use the same drawn indices.
    one = [complex(*cluster) for cluster in first]
    two = [complex(*cluster) for cluster in second]

    def difference(drawn: Sequence[int]) -> float:
        return _ratio([two[i] for i in drawn]) - _ratio([one[i] for i in drawn])

    return _percentiles(range(len(one)), difference, draws, seed, level)


def _ratio(drawn: Sequence[complex]) -> float:
    total = sum(drawn)
    return total.real / total.imag if total.imag else 0.0


def _percentiles(
    items: Sequence[_Item], figure: Callable[[Sequence[_Item]], float], draws: int, seed: int, level: float
) -> Interval:
    value = figure(items)
    if not items or draws < 1:
        return Interval(value, value, value)
    values: list[float] = []
    for chunk in range(math.ceil(draws / _CHUNK)):
        generator = random.Random(f"{seed}:{chunk}")
        for _ in range(min(_CHUNK, draws - len(values))):
            values.append(figure(generator.choices(items, k=len(items))))
    values.sort()
    tail = (1 - level) / 2
    return Interval(value, values[math.floor(tail * (draws - 1))], values[math.ceil((1 - tail) * (draws - 1))])


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p-value of McNemar's test: rows that only the first, or only the second model got right.

    1.0 if there are none. Source: McNemar 1947, with the binomial distribution in place of chi-square.

    >>> mcnemar(0, 0), mcnemar(1, 9)
    (1.0, 0.021484375)
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**n))


def chi_square(observed: Sequence[float], expected: Sequence[float]) -> tuple[float, int, float]:
    """Pearson's statistic, degrees of freedom and p-value of counts against expected counts.

    (0.0, 0, 1.0) with fewer than two cells or nothing expected.

    >>> chi_square([20, 20, 20, 20, 20], [20] * 5)
    (0.0, 4, 1.0)
    >>> statistic, freedom, p = chi_square([40, 15, 15, 15, 15], [20] * 5)
    >>> statistic, freedom, round(p, 6)
    (25.0, 4, 5e-05)
    """
    cells = [(seen, wanted) for seen, wanted in zip(observed, expected, strict=True) if wanted > 0]
    if len(cells) < 2:
        return 0.0, 0, 1.0
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    return statistic, len(cells) - 1, _upper_gamma((len(cells) - 1) / 2, statistic / 2)


def _upper_gamma(shape: float, x: float) -> float:
    """The regularised upper incomplete gamma function for a `shape` that is a multiple of 1/2.

    By its recurrence Q(s + 1, x) = Q(s, x) + x^s e^-x / Γ(s + 1), from Q(1, x) = e^-x or Q(1/2, x) = erfc(√x).
    """
    if x <= 0:
        return 1.0
    step = 1.0 if shape == int(shape) else 0.5
    value = math.exp(-x) if step == 1.0 else math.erfc(math.sqrt(x))
    while step < shape:
        value += math.exp(step * math.log(x) - x - math.lgamma(step + 1))
        step += 1
    return min(1.0, value)
