"""Calibration bins: which one a score belongs to, and the errors they give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from offdiag.metrics.scores.calibration import (
    CalibrationBins,
    calibrated_shares,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_error,
    maximum_calibration_error,
)
from offdiag.metrics.scores.ranking import rank_scores
from support.forecasts import ranked


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [1, 2, 3, 7, 10, 15, 100])
def test_a_score_on_an_edge_belongs_to_the_upper_bin(kind: type, n_bins: int) -> None:
    edges: NDArray[Any] = (np.arange(n_bins + 1) / n_bins).astype(kind)

    bins = equal_width_bins(rank_scores(np.ones(n_bins + 1, np.bool_), edges), n_bins=n_bins)

    assert bins.count.tolist() == [1] * (n_bins - 1) + [2]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_score_just_below_an_edge_belongs_to_the_lower_bin(kind: type) -> None:
    edges: NDArray[Any] = (np.arange(1, 15) / 15).astype(kind)
    below = np.nextafter(edges, np.zeros(1, kind))

    bins = equal_width_bins(rank_scores(np.ones(14, np.bool_), below), n_bins=15)

    assert bins.count.tolist() == [1] * 14 + [0]


def test_a_score_of_exactly_one_is_in_the_last_bin() -> None:
    # 0.95 and 1.0 share a bin: (0.95 + 1.0 - 1) / 2.
    bins = equal_width_bins(ranked([1, 0], [0.95, 1.0]), n_bins=10)

    assert bins.count.tolist() == [0] * 9 + [2]
    assert expected_calibration_error(bins) == pytest.approx(0.475)


def test_the_errors_follow_their_definitions() -> None:
    bins = equal_width_bins(ranked([0, 1, 1, 0, 1], [0.1, 0.2, 0.7, 0.8, 0.9]), n_bins=2)

    low, high = abs(0.15 - 1 / 2), abs(0.8 - 2 / 3)
    assert expected_calibration_error(bins) == pytest.approx((2 * low + 3 * high) / 5)
    assert maximum_calibration_error(bins) == pytest.approx(low)


def test_empty_bins_do_not_count() -> None:
    bins = equal_width_bins(ranked([1, 1], [1.0, 1.0]), n_bins=15)

    assert expected_calibration_error(bins) == 0
    assert maximum_calibration_error(bins) == 0


def test_bins_of_equal_mass_hold_equally_many_cases() -> None:
    scores = np.linspace(0, 1, 12) ** 3

    bins = equal_mass_bins(ranked([1] * 12, scores.tolist()), n_bins=4)

    assert bins.count.tolist() == [3, 3, 3, 3]
    assert bins.edges.tolist() == [scores[0], scores[3], scores[6], scores[9], scores[11]]


def test_equal_scores_are_never_split() -> None:
    bins = equal_mass_bins(ranked([1, 0, 1, 0, 1, 0], [0.5] * 5 + [0.9]), n_bins=3)

    assert bins.count.tolist() == [5, 0, 1]
    assert bins.score_sum.tolist() == [2.5, 0.0, 0.9]


def test_more_bins_of_equal_mass_than_cases_leave_some_empty() -> None:
    bins = equal_mass_bins(ranked([1, 0], [0.3, 0.6]), n_bins=5)

    assert bins.count.tolist() == [1, 0, 1, 0, 0]
    assert expected_calibration_error(bins) == pytest.approx((0.7 + 0.6) / 2)


def test_single_and_double_precision_put_a_stored_score_into_one_bin() -> None:
    scores = np.arange(1, 15) / 15
    everyone = np.ones(14, np.bool_)

    double = equal_width_bins(rank_scores(everyone, scores))
    single = equal_width_bins(rank_scores(everyone, scores.astype(np.float32)))

    assert single.count.tolist() == double.count.tolist()


def test_calibrated_shares_are_binomial_quantiles_at_the_mean_score() -> None:
    count = np.array([0, 1, 12, 400, 7, 9])
    mean = np.array([0.1, 0.03, 0.3, 0.55, 0.0, 1.0])
    bins = CalibrationBins(np.arange(7) / 6, count, count // 2, count * mean)

    low, high = calibrated_shares(bins)

    assert np.isnan([low[0], high[0]]).all()
    for level, shares in ((0.05, low), (0.95, high)):
        expected = np.asarray(binom.ppf(level, count[1:], mean[1:])) / count[1:]
        assert shares[1:].tolist() == pytest.approx(expected.tolist())


def test_calibrated_shares_hold_nine_of_ten_samples_of_calibrated_scores() -> None:
    rng = np.random.default_rng(3)
    p = np.sort(rng.random(3_000))
    n_held = []

    for _ in range(200):
        bins = equal_width_bins(rank_scores(rng.random(len(p)) < p, p))
        low, high = calibrated_shares(bins)
        share = bins.happened / bins.count
        n_held.append(((low <= share) & (share <= high)).mean())

    assert 0.9 <= np.mean(n_held) <= 0.95
