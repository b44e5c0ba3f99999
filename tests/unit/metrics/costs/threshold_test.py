"""Cost against threshold."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.threshold import (
    FOLDS,
    cheapest_point,
    cost_at_each,
    crossfitted,
    matrix_at,
    side_costs,
)
from offdiag.metrics.intervals.costs import cost_intervals, threshold_bounds
from offdiag.metrics.paired.joint_counts import joint_of_points
from offdiag.metrics.scores.operating_points import OperatingPoints, operating_points
from offdiag.metrics.scores.ranking import rank_scores
from support.optional import present

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

    found = cost_at_each(points, side_costs(prices, positive, shares))

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

    place = cheapest_point(points, side_costs(TEN_TO_ONE, ILL))

    costs_at = {
        at: TEN_TO_ONE.weights[is_ill.astype(int), (score >= at).astype(int)].sum()
        for at in score.tolist()
    }
    assert points.thresholds[present(place)] == min(costs_at, key=lambda at: costs_at[at])


def test_of_equally_cheap_thresholds_the_strictest_is_taken() -> None:
    points = points_of([True, False], [1.0, 1.0])

    assert cheapest_point(points, side_costs(costs([[0, 1], [1, 0]]), ILL)) == 0


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3])
def test_thresholds_that_cost_the_same_up_to_rounding_are_equally_cheap(unit: float) -> None:
    """Three false alarms at 0.1 cost more than one miss at 0.3 in the last digit only."""
    is_ill = [True, False, False, False] * 10 + [False] * 30
    points = points_of(is_ill, [-float(place // 4) for place in range(len(is_ill))])
    prices = side_costs(costs([[0, unit], [round(3 * unit, 12), 0]]), ILL)

    assert cheapest_point(points, prices) == 0
    assert present(crossfitted(points, prices, seed=1)).false_alarms == pytest.approx(
        present(crossfitted(points, side_costs(costs([[0, 1], [3, 0]]), ILL), seed=1)).false_alarms
    )


def test_a_class_that_is_expected_and_has_no_cases_leaves_nothing_to_choose() -> None:
    points = points_of([False, False], [0.2, 0.4])

    assert cheapest_point(points, side_costs(TEN_TO_ONE, ILL, np.array([0.5, 0.5]))) is None


def test_without_cases_there_is_nothing_to_choose() -> None:
    points = points_of([], [])

    assert cheapest_point(points, side_costs(TEN_TO_ONE, ILL)) is None
    assert crossfitted(points, side_costs(TEN_TO_ONE, ILL), seed=1) is None


def test_a_choice_among_noise_pays_more_where_it_was_not_made() -> None:
    prices = side_costs(costs([[0, 1], [2, 0]]), ILL)
    gains = []
    for seed in range(10):
        points = drawn(60, seed=seed, gap=0.0)
        on_others = present(crossfitted(points, prices, seed=1))
        gains.append(on_others.mean_cost - float(cost_at_each(points, prices).min()))

    assert np.mean(gains) > 0.02


def test_many_cases_leave_little_to_luck() -> None:
    points, prices = drawn(20_000, seed=1, gap=2.0), side_costs(TEN_TO_ONE, ILL)

    found = present(crossfitted(points, prices, seed=1))

    assert found.mean_cost == pytest.approx(float(cost_at_each(points, prices).min()), rel=0.02)


def test_the_errors_of_a_choice_cost_what_it_costs() -> None:
    points, prices = drawn(200, seed=3), side_costs(costs([[0, 3], [7, 0]]), ILL)

    found = present(crossfitted(points, prices, seed=1))

    assert 0 < found.missed < points.n_positive
    paid = 7 * found.missed + 3 * found.false_alarms
    assert paid / (points.n_positive + points.n_negative) == pytest.approx(found.mean_cost)


def test_the_seed_decides_alone() -> None:
    points, prices = drawn(100, seed=2), side_costs(TEN_TO_ONE, ILL, np.array([0.8, 0.2]))

    assert crossfitted(points, prices, seed=7) == crossfitted(points, prices, seed=7)


def test_fewer_cases_than_parts_cannot_be_dealt() -> None:
    few = FOLDS - 1
    points = points_of([True] * few + [False] * 50, list(np.linspace(0, 1, few + 50)))

    assert crossfitted(points, side_costs(TEN_TO_ONE, ILL), seed=1) is None


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
        side_costs(three, 0)


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        (((275, 8), (0, 17)), None),
        (((275, 8), (0, 17)), (0.9, 0.1)),
        (((250, 30), (5, 15)), None),
        (((250, 30), (5, 15)), (0.9, 0.1)),
        (((283, 0), (17, 0)), None),
    ],
)
def test_the_interval_of_a_threshold_is_nearly_that_of_its_matrix(
    counts: tuple[tuple[int, int], tuple[int, int]], shares: tuple[float, float] | None
) -> None:
    labels = LabelSet.numbered(2)
    costs = cost_matrix([[0, 1], [50, 0]], labels=labels)
    prevalence = None if shares is None else np.array(shares)
    (right, added), (missed, hits) = counts
    drawn = cost_intervals(
        ConfusionMatrix(np.array(counts), labels),
        costs,
        prevalence=prevalence,
        seed=1,
        keys=("mean_cost",),
        replicates=20_000,
    )["mean_cost"]

    found = threshold_bounds(
        side_costs(costs, 1, prevalence),
        np.array([hits]),
        np.array([added]),
        n_positive=missed + hits,
        n_negative=right + added,
    )

    near = 0.1 * (present(drawn.high) - present(drawn.low))
    assert found.low[0] == pytest.approx(present(drawn.low), abs=near)
    assert found.high[0] == pytest.approx(present(drawn.high), abs=near)
