"""Curves as data: exact points, thresholds and honest thinning."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.scores.calibration import equal_width_bins
from offdiag.metrics.scores.curves import (
    Curve,
    cost_curve,
    precision_recall_curve,
    reliability_curve,
    roc_curve,
    thin,
    upper_hull,
)
from offdiag.metrics.scores.ranking import rank_scores
from support.forecasts import ranked

SCORES = ranked([0, 1, 0, 1, 1], [0.1, 0.4, 0.4, 0.8, 1.0])


def points(curve: Curve) -> list[tuple[float, float]]:
    return list(zip(curve.columns[curve.x].tolist(), curve.columns[curve.y].tolist(), strict=True))


def test_precision_is_undefined_where_nothing_is_reported() -> None:
    curve = precision_recall_curve(SCORES)

    assert math.isnan(curve.columns["precision"][0])
    assert points(curve)[1:] == [(1 / 3, 1), (2 / 3, 1), (1, 3 / 4), (1, 3 / 5)]


@pytest.mark.parametrize(
    ("actual", "reason"),
    [([0, 0], Reason.NO_ACTUAL_POSITIVES), ([1, 1], Reason.NO_ACTUAL_NEGATIVES)],
)
def test_one_class_alone_has_no_roc_curve(actual: list[int], reason: Reason) -> None:
    curve = roc_curve(ranked(actual, [0.1, 0.2]))

    assert curve.n_points == 0
    assert curve.reason == reason


def test_precision_and_recall_need_positive_cases() -> None:
    assert precision_recall_curve(ranked([0], [0.5])).reason == Reason.NO_ACTUAL_POSITIVES
    assert precision_recall_curve(ranked([1], [0.5])).n_points == 2


def test_empty_bins_have_no_place_on_the_reliability_curve() -> None:
    curve = reliability_curve(equal_width_bins(ranked([1, 0], [0.9, 0.7]), n_bins=2))

    assert curve.columns["count"].tolist() == [0, 2]
    assert math.isnan(curve.columns["mean_score"][0])
    assert points(curve)[1] == (0.8, 0.5)


def test_undefined_coordinates_are_null_in_json() -> None:
    written = json.dumps(precision_recall_curve(SCORES).to_dict(), allow_nan=False)

    curve = json.loads(written)

    assert curve["kind"] == "precision_recall"
    assert curve["columns"]["precision"][0] is None
    assert curve["columns"]["true_positives"] == [0, 1, 2, 3, 3]
    assert curve["thinned_from"] is None


def test_a_threshold_above_the_largest_number_is_null_in_json() -> None:
    curve = roc_curve(ranked([0, 1], [0.0, np.finfo(np.float64).max]))

    assert curve.to_dict()["columns"]["threshold"][0] is None


def test_thinning_leaves_no_gap_in_the_drawing() -> None:
    # 20 positive cases in 100,000: equal steps through the list would skip the whole rise.
    is_positive = np.arange(100_000) >= 99_980
    full = roc_curve(rank_scores(is_positive, np.arange(100_000.0)))

    short = thin(full, max_points=50)

    steps = np.abs(np.diff(points(short), axis=0)).sum(axis=1)
    assert steps.max() <= 2 * 2 / 49 + 0.05


def test_a_short_curve_is_not_thinned() -> None:
    curve = roc_curve(SCORES)

    assert thin(curve, max_points=5) is curve


def test_thinning_twice_remembers_the_exact_curve() -> None:
    full = roc_curve(rank_scores(np.arange(500) % 3 == 0, np.arange(500.0)))

    twice = thin(thin(full, max_points=100), max_points=10)

    assert twice.thinned_from == 501
    assert twice.n_points <= 10


def test_a_curve_without_length_keeps_both_ends() -> None:
    flat = Curve(
        roc_curve(SCORES).kind, "x", "y", {"x": np.zeros(9), "y": np.zeros(9), "i": np.arange(9)}
    )

    assert thin(flat, max_points=4).columns["i"].tolist() == [0, 8]


@pytest.mark.parametrize(
    ("actual", "reason"),
    [([0], Reason.NO_ACTUAL_POSITIVES), ([1], Reason.NO_ACTUAL_NEGATIVES)],
)
def test_one_class_alone_has_no_cost_curve(actual: list[int], reason: Reason) -> None:
    curve = cost_curve(ranked(actual, [0.5]))

    assert (curve.n_points, curve.reason) == (0, reason)


def test_points_on_a_line_are_no_corners() -> None:
    x = np.arange(6)

    assert upper_hull(x, 3 * x).tolist() == [0, 5]


def test_corners_that_rounding_would_lose_are_kept() -> None:
    # The middle point lies above the line by one part in 10^18.
    x = np.array([0, 10**9, 2 * 10**9])
    y = np.array([0, 10**9 + 1, 2 * 10**9 + 1])

    assert upper_hull(x, y).tolist() == [0, 1, 2]


def test_many_noisy_scores_leave_few_corners() -> None:
    generator = np.random.default_rng(0)
    is_positive = generator.random(200_000) < 0.4
    scores = generator.normal(size=200_000) + is_positive

    curve = cost_curve(rank_scores(is_positive, scores))

    cost = curve.columns["normalized_expected_cost"]
    position = curve.columns["probability_cost"]
    assert curve.n_points < 1000
    assert (np.diff(position) > 0).all()
    assert (cost <= np.minimum(position, 1 - position) + 1e-15).all()
