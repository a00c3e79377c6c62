from __future__ import annotations

import math
import random

import pytest

from diffspot_hf.scoring.stats import chi_square, cluster_bootstrap, mcnemar, paired_bootstrap, wilson


def test_wilson_of_known_counts():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) is None


def test_bootstrap_is_reproducible_and_depends_on_the_seed():
    clusters = [(random.Random(n).randint(0, 3), 3) for n in range(60)]
    first = cluster_bootstrap(clusters, draws=1500, seed=4)
    assert first == cluster_bootstrap(clusters, draws=1500, seed=4)
    assert first != cluster_bootstrap(clusters, draws=1500, seed=5)
    assert first.low <= first.value <= first.high
    assert first.value == sum(a for a, _ in clusters) / sum(b for _, b in clusters)


def test_bootstrap_agrees_with_the_normal_interval_when_clusters_are_single_rows():
    clusters = [(float(n % 4 == 0), 1.0) for n in range(400)]
    interval = cluster_bootstrap(clusters, draws=4000, seed=0)
    half = 1.96 * math.sqrt(0.25 * 0.75 / 400)
    assert interval.low == pytest.approx(0.25 - half, abs=0.01)
    assert interval.high == pytest.approx(0.25 + half, abs=0.01)


def test_clusters_that_agree_within_widen_the_interval():
    rows = [(float(n % 2), 1.0) for n in range(200)]
    clustered = [(10.0 * (n % 2), 10.0) for n in range(20)]
    narrow, wide = cluster_bootstrap(rows, draws=2000), cluster_bootstrap(clustered, draws=2000)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


@pytest.mark.parametrize("clusters", [[], [(0.0, 0.0)], [(0.0, 0.0)] * 5], ids=["none", "one empty", "all empty"])
def test_bootstrap_of_nothing(clusters):
    assert cluster_bootstrap(clusters, draws=50) == (0.0, 0.0, 0.0)


def test_bootstrap_without_draws_is_the_value():
    assert cluster_bootstrap([(1, 2)], draws=0) == (0.5, 0.5, 0.5)


def test_paired_bootstrap_sees_a_small_steady_difference_that_single_intervals_hide():
    rng = random.Random(0)
    first = [(float(rng.random() < 0.5), 1.0) for _ in range(300)]
    second = [(min(1.0, a + (n % 20 == 0)), b) for n, (a, b) in enumerate(first)]
    difference = paired_bootstrap(first, second, draws=2000, seed=1)
    assert 0 < difference.low <= difference.value <= difference.high
    alone = cluster_bootstrap(first, draws=2000, seed=1)
    assert alone.low < alone.value + difference.value < alone.high


def test_paired_bootstrap_of_a_model_with_itself_is_zero():
    rows = [(1.0, 2.0), (0.0, 1.0), (3.0, 3.0)]
    assert paired_bootstrap(rows, rows, draws=300) == (0.0, 0.0, 0.0)


def test_paired_bootstrap_needs_the_same_clusters():
    with pytest.raises(ValueError, match="same"):
        paired_bootstrap([(1, 1)], [])


@pytest.mark.parametrize(
    ("b", "c", "p"), [(0, 0, 1.0), (5, 5, 1.0), (0, 5, 0.0625), (1, 9, 22 / 1024), (9, 1, 22 / 1024), (0, 1, 1.0)]
)
def test_mcnemar(b, c, p):
    assert mcnemar(b, c) == pytest.approx(p)


def test_mcnemar_of_thousands_of_rows():
    assert mcnemar(1000, 3000) < 1e-200
    assert mcnemar(2000, 2010) > 0.8


@pytest.mark.parametrize(
    ("statistic", "cells", "p"),
    [
        (3.841459, 2, 0.05),
        (5.991465, 3, 0.05),
        (7.814728, 4, 0.05),
        (9.487729, 5, 0.05),
        (11.070498, 6, 0.05),
        (18.467, 5, 0.001),
    ],
)
def test_p_values_of_chi_square_tables(statistic, cells, p):
    # All cells expect 1 and one deviates by the root of the statistic.
    observed = [1 + math.sqrt(statistic)] + [1.0] * (cells - 1)
    found, freedom, value = chi_square(observed, [1.0] * cells)
    assert (found, freedom) == (pytest.approx(statistic), cells - 1)
    assert value == pytest.approx(p, rel=1e-3)


@pytest.mark.parametrize(("observed", "expected"), [([], []), ([3], [3]), ([3, 0], [3, 0])])
def test_chi_square_needs_two_cells(observed, expected):
    assert chi_square(observed, expected) == (0.0, 0, 1.0)
