"""The cost curve and the hull it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.probabilistic.cost_curve import cost_curve, upper_hull
from offdiag.metrics.probabilistic.ranked import rank_scores
from support.forecasts import ranked


def test_scores_that_separate_perfectly_cost_nothing() -> None:
    curve = cost_curve(ranked([0, 1], [0.2, 0.8]))

    assert curve.columns["probability_cost"].tolist() == [0, 1]
    assert curve.columns["normalized_expected_cost"].tolist() == [0, 0]
    assert curve.columns["threshold"].tolist() == [0.8, 0.8]


def test_useless_scores_cost_as_much_as_the_better_constant_answer() -> None:
    curve = cost_curve(ranked([0, 1], [0.5, 0.5]))

    assert curve.columns["probability_cost"].tolist() == [0, 0.5, 1]
    assert curve.columns["normalized_expected_cost"].tolist() == [0, 0.5, 0]
    assert curve.columns["threshold"].tolist() == [np.nextafter(0.5, 1), 0.5, 0.5]


def test_each_corner_names_the_threshold_that_is_best_from_there_on() -> None:
    # Hull of the ROC points: (0, 0), (0, 1/2), (1/2, 1), (1, 1).
    curve = cost_curve(ranked([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8]))

    columns = curve.columns
    assert columns["probability_cost"].tolist() == [0, 0.5, 1]
    assert columns["threshold"].tolist() == [0.8, 0.4, 0.4]
    assert columns["normalized_expected_cost"].tolist() == [0, 0.25, 0]
    assert columns["false_negative_rate"].tolist() == [0.5, 0, 0]


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


def test_a_curve_bent_the_other_way_has_only_its_ends() -> None:
    x = np.arange(50)

    assert upper_hull(x, x * x).tolist() == [0, 49]


def test_a_curve_that_is_all_corners_keeps_every_point() -> None:
    x = np.arange(50)

    assert upper_hull(x, 2500 - (50 - x) ** 2).tolist() == x.tolist()


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
