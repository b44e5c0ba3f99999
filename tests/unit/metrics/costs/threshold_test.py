"""Cost against threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.threshold import (
    FOLDS,
    cheapest_point,
    cost_at_each,
    crossfitted_cost,
    matrix_at,
    side_prices,
    threshold_costs,
)
from offdiag.metrics.paired.joint import joint_of_points
from offdiag.metrics.scores.forecasts import rank_scores
from offdiag.metrics.scores.operating_points import OperatingPoints, operating_points
from support.matrices import numbered_labels

COSTS = cost_matrix([[0, 1], [5, -0.5]], labels=numbered_labels(2))
TRUTH = np.array([1, 1, 0, 0, 1, 0, 0, 0])
SCORE = np.array([0.9, 0.7, 0.7, 0.6, 0.4, 0.4, 0.2, 0.1])


def cost_at(threshold: float) -> float:
    answer = (threshold <= SCORE).astype(int)
    return float(COSTS.weights[TRUTH, answer].sum())


def test_each_distinct_score_is_a_threshold_with_its_cost() -> None:
    found = threshold_costs(TRUTH, SCORE, COSTS)

    assert found.thresholds.tolist() == [0.9, 0.7, 0.6, 0.4, 0.2, 0.1]
    assert found.costs.tolist() == [cost_at(threshold) for threshold in found.thresholds]


def test_a_threshold_above_all_scores_answers_no_throughout() -> None:
    found = threshold_costs(TRUTH, SCORE, COSTS)

    assert found.cost_of_none == cost_at(1.0) == 15.0


def test_the_cheapest_threshold_is_named() -> None:
    found = threshold_costs(TRUTH, SCORE, COSTS)

    assert found.best_threshold == 0.4
    assert found.best_cost == cost_at(0.4) == min(found.costs)


def test_of_equally_cheap_thresholds_the_highest_is_named() -> None:
    even = cost_matrix([[0, 1], [1, 0]], labels=numbered_labels(2))

    found = threshold_costs([1, 0, 1], [3, 2, 1], even)

    assert found.costs.tolist() == [1.0, 2.0, 1.0]
    assert found.best_threshold == 3.0


def test_flagging_nothing_wins_where_a_threshold_only_costs_the_same() -> None:
    even = cost_matrix([[0, 1], [1, 0]], labels=numbered_labels(2))

    found = threshold_costs([0, 1], [2, 1], even)

    assert found.costs.min() == found.cost_of_none == 1.0
    assert found.best_threshold is None


def test_flagging_nothing_wins_where_alarms_are_dear() -> None:
    dear = cost_matrix([[0, 100], [1, 0]], labels=numbered_labels(2))

    found = threshold_costs([0, 1, 0], [3, 2, 1], dear)

    assert found.best_threshold is None
    assert found.best_cost == found.cost_of_none == 1.0


def test_no_cases_cost_nothing() -> None:
    found = threshold_costs([], [], COSTS)

    assert (found.best_threshold, found.best_cost, found.cost_of_none) == (None, 0.0, 0.0)


@pytest.mark.parametrize(
    ("truth", "score", "field"),
    [
        ([0, 1], [1, 2, 3], "score"),
        ([0, 2], [1, 2], "y_true"),
        ([0, 1], [1, float("nan")], "score"),
    ],
)
def test_unusable_arrays_are_refused(truth: Any, score: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        threshold_costs(truth, score, COSTS)

    assert caught.value.field == field


def test_three_classes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="A threshold needs two classes"):
        threshold_costs([0, 1], [1, 2], cost_matrix(1 - np.eye(3), labels=numbered_labels(3)))


LABELS = LabelSet.declared(["well", "ill"])
ILL, WELL = 1, 0


def costs(weights: list[list[float]]) -> CostMatrix:
    return cost_matrix(weights, labels=LABELS)


TEN_TO_ONE = costs([[0, 1], [10, 0]])
PRICED_DIAGONAL = costs([[-1, 3], [10, 2]])


def points_of(is_ill: list[bool], score: list[float]) -> OperatingPoints:
    return operating_points(
        rank_scores(np.array(is_ill, dtype=bool), np.array(score, dtype=np.float32))
    )


def drawn(n: int, *, seed: int, gap: float = 1.0) -> OperatingPoints:
    rng = np.random.default_rng(seed)
    is_ill = rng.random(n) < 0.3
    return points_of(is_ill.tolist(), (rng.normal(size=n) + gap * is_ill).tolist())


@pytest.mark.parametrize("positive", [ILL, WELL])
@pytest.mark.parametrize("prevalence", [None, [0.9, 0.1], [0.0, 1.0]])
@pytest.mark.parametrize("prices", [TEN_TO_ONE, PRICED_DIAGONAL])
def test_every_threshold_costs_what_its_matrix_costs(
    positive: int, prevalence: list[float] | None, prices: CostMatrix
) -> None:
    points = drawn(40, seed=3)
    shares = None if prevalence is None else np.array(prevalence)

    found = cost_at_each(points, side_prices(prices, positive, shares))

    expected = [
        evaluate_costs(
            matrix_at(points, place, positive=positive, labels=LABELS).counts,
            prices.weights,
            prevalence=shares,
        )["mean_cost"]
        .at()
        .value
        for place in range(len(points))
    ]
    assert found.tolist() == pytest.approx(expected)


def test_the_cheapest_point_is_that_of_the_scores_themselves() -> None:
    rng = np.random.default_rng(5)
    is_ill = rng.random(200) < 0.2
    score = (rng.normal(size=200) + is_ill).astype(np.float32)
    points = points_of(is_ill.tolist(), score.tolist())

    place = cheapest_point(points, side_prices(TEN_TO_ONE, ILL))

    exact = threshold_costs(is_ill.astype(int), score, TEN_TO_ONE)
    assert place is not None
    assert points.thresholds[place] == exact.best_threshold


def test_of_equally_cheap_thresholds_the_strictest_is_taken() -> None:
    points = points_of([True, False], [1.0, 1.0])

    assert cheapest_point(points, side_prices(costs([[0, 1], [1, 0]]), ILL)) == 0


def test_a_class_that_is_expected_and_has_no_cases_leaves_nothing_to_choose() -> None:
    points = points_of([False, False], [0.2, 0.4])

    assert cheapest_point(points, side_prices(TEN_TO_ONE, ILL, np.array([0.5, 0.5]))) is None


def test_without_cases_there_is_nothing_to_choose() -> None:
    points = points_of([], [])

    assert cheapest_point(points, side_prices(TEN_TO_ONE, ILL)) is None
    assert crossfitted_cost(points, side_prices(TEN_TO_ONE, ILL), seed=1) is None


def test_a_choice_among_noise_pays_more_where_it_was_not_made() -> None:
    prices = side_prices(costs([[0, 1], [2, 0]]), ILL)
    gains = []
    for seed in range(10):
        points = drawn(60, seed=seed, gap=0.0)
        on_others = crossfitted_cost(points, prices, seed=1)
        assert on_others is not None
        gains.append(on_others - float(cost_at_each(points, prices).min()))

    assert np.mean(gains) > 0.02


def test_many_cases_leave_little_to_luck() -> None:
    points, prices = drawn(20_000, seed=1, gap=2.0), side_prices(TEN_TO_ONE, ILL)

    found = crossfitted_cost(points, prices, seed=1)

    assert found == pytest.approx(float(cost_at_each(points, prices).min()), rel=0.02)


def test_the_seed_decides_alone() -> None:
    points, prices = drawn(100, seed=2), side_prices(TEN_TO_ONE, ILL, np.array([0.8, 0.2]))

    assert crossfitted_cost(points, prices, seed=7) == crossfitted_cost(points, prices, seed=7)


def test_fewer_cases_than_parts_cannot_be_dealt() -> None:
    few = FOLDS - 1
    points = points_of([True] * few + [False] * 50, list(np.linspace(0, 1, few + 50)))

    assert crossfitted_cost(points, side_prices(TEN_TO_ONE, ILL), seed=1) is None


@pytest.mark.parametrize(("first", "second"), [(0, 5), (5, 0), (3, 3), (2, 6)])
def test_two_thresholds_are_paired_by_nesting(first: int, second: int) -> None:
    points = points_of([True, False, True, False, True, False], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])

    joint = joint_of_points(points, first, second, positive=ILL, labels=LABELS)

    for matrix, place in ((joint.first_matrix, first), (joint.second_matrix, second)):
        expected = matrix_at(points, place, positive=ILL, labels=LABELS).counts
        assert matrix.counts.tolist() == expected.tolist()
    assert joint.counts.min() > 0
    changed = joint.counts[joint.first != joint.second].sum()
    assert changed == abs(int(points.reported[first]) - int(points.reported[second]))


def test_more_than_two_classes_have_no_threshold() -> None:
    three = cost_matrix(1 - np.eye(3), labels=LabelSet.declared(["a", "b", "c"]))

    with pytest.raises(InvalidInput, match="3 classes"):
        side_prices(three, 0)
