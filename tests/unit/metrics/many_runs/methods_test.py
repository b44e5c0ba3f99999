"""Means over seeds and folds: their variance by definition, and differences at their level."""

from __future__ import annotations

from itertools import combinations
from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from offdiag.domain.labels import LabelSet
from offdiag.metrics.many_runs.methods import (
    difference_of_methods,
    differences,
    mean_of_folds,
    mean_of_seeds,
    moments_of,
)
from offdiag.metrics.many_runs.paired_runs import PairedRuns
from support.optional import present

LABELS = LabelSet(("a", "b"))


def drawn(
    rng: np.random.Generator, *, n: int, n_runs: int, ability: float = 1.2, seeds: float = 0.2
) -> PairedRuns:
    """Runs on samples that are hard or easy for all, each with its own luck of training."""
    actual = (rng.random(n) < 0.3).astype(np.uint8)
    easy = rng.standard_normal(n)
    predictions = []
    for _ in range(n_runs):
        threshold = ability + seeds * rng.standard_normal(2)
        right = easy + rng.standard_normal(n) < threshold[actual]
        predictions.append(np.where(right, actual, 1 - actual).astype(np.uint8))
    return PairedRuns(actual, tuple(predictions), LABELS)


def accuracies(runs: PairedRuns) -> list[float]:
    return [float(np.mean(codes == runs.actual)) for codes in runs.predictions]


def test_what_seeds_share_is_the_mean_covariance_of_two_of_them() -> None:
    runs = drawn(np.random.default_rng(1), n=400, n_runs=5)
    right = np.stack([codes == runs.actual for codes in runs.predictions]).astype(float)
    covariance = np.cov(right, ddof=0) / 400

    moments = present(moments_of(runs, [0, 0, 0, 1, 1], "overall_accuracy"))

    first = [covariance[i, j] for i, j in combinations(range(3), 2)]
    assert moments.shared(0, 3) == pytest.approx(np.mean(first))
    assert moments.shared(1, 2) == pytest.approx(covariance[3, 4])
    assert moments.covariance[0, 1] == pytest.approx(covariance[:3, 3:].mean())
    assert moments.single[0] == pytest.approx(np.mean(np.diagonal(covariance)[:3]))


def test_the_mean_of_seeds_adds_their_spread_and_what_they_share() -> None:
    values, shared = [0.80, 0.84, 0.82], 0.0001
    s2 = np.var(values, ddof=1)

    found = mean_of_seeds(values, shared)

    assert found.value == pytest.approx(0.82)
    assert found.variance == pytest.approx(s2 / 3 + shared)
    assert found.freedom == pytest.approx(2 * (1 + 3 * shared / s2) ** 2)
    reach = stats.t.ppf(0.975, found.freedom) * sqrt(found.variance)
    assert found.ends() == pytest.approx((0.82 - reach, 0.82 + reach))


def test_a_difference_of_methods_is_that_of_welch_where_nothing_is_shared() -> None:
    first, second = [0.80, 0.84, 0.82, 0.79], [0.85, 0.86, 0.88]
    welch = stats.ttest_ind(first, second, equal_var=False)

    found = difference_of_methods(first, second, shared=(0.0, 0.0), in_common=0.0)

    assert found.freedom == pytest.approx(welch.df)
    assert found.p() == pytest.approx(welch.pvalue)
    assert found.p(n_compared=3) == pytest.approx(min(1.0, 3 * welch.pvalue))
    assert found.ends() == pytest.approx(tuple(welch.confidence_interval()))


def test_folds_are_compared_by_the_corrected_resampled_t() -> None:
    apart = np.array([0.02, 0.01, 0.03, 0.00, 0.02])
    t = apart.mean() / sqrt((1 / 5 + 1 / 4) * apart.var(ddof=1))

    found = mean_of_folds(apart.tolist(), 1 / 4)

    assert found.p() == pytest.approx(2 * stats.t.sf(t, 4))


def test_one_run_has_no_interval_and_equal_seeds_have_none_to_tell() -> None:
    assert mean_of_seeds([0.8], 0.001).ends() is None
    assert mean_of_folds([0.8], 0.25).ends() is None
    assert mean_of_seeds([0.8, 0.8], 0.0).ends() is None
    same = mean_of_seeds([0.8, 0.8], 0.0004)
    assert same.freedom == inf
    assert same.ends() == pytest.approx((0.8 - 1.959964 * 0.02, 0.8 + 1.959964 * 0.02))


def test_a_metric_without_slopes_has_no_moments() -> None:
    runs = drawn(np.random.default_rng(1), n=50, n_runs=2)

    assert moments_of(runs, [0, 0], "n_classes_actual") is None


def test_equally_good_methods_differ_five_times_in_a_hundred() -> None:
    rng = np.random.default_rng(5)
    n_trials, n_wrong, n_covered = 150, 0, 0
    for _ in range(n_trials):
        runs = drawn(rng, n=300, n_runs=8)
        moments = present(moments_of(runs, [0] * 4 + [1] * 4, "overall_accuracy"))
        values = accuracies(runs)
        shared = moments.shared(0, 4), moments.shared(1, 4)
        difference = difference_of_methods(
            values[:4], values[4:], shared=shared, in_common=float(moments.covariance[0, 1])
        )
        p = present(difference.p())
        n_wrong += p <= 0.05
        ends = present(mean_of_seeds(values[:4], shared[0]).ends())
        truth = float(stats.norm.cdf(1.2 / sqrt(2.04)))
        n_covered += ends[0] <= truth <= ends[1]

    # Four standard errors of a share of 0.05 among 150.
    assert n_wrong / n_trials <= 0.12
    assert n_covered / n_trials >= 0.90


def test_equal_values_have_no_variance_however_their_mean_is_rounded() -> None:
    assert mean_of_folds([0.1] * 3, 0.5).variance == 0
    assert mean_of_seeds([0.7] * 3, 0.0).variance == 0


def test_differences_that_only_rounding_tells_apart_are_equal() -> None:
    assert len(set(differences([0.95, 0.5], [0.9, 0.45]))) == 1
    assert differences([0.95, 0.5], [0.9, 0.4]) == pytest.approx([0.05, 0.1])
