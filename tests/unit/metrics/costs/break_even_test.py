"""Where the cheapest run changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from offdiag.errors import InvalidInput
from offdiag.metrics.costs.break_even import (
    BreakEven,
    CostRay,
    Stretch,
    break_even,
    cheapest_along,
    ray_between,
    ray_of_ratio,
)
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from support.matrices import matrix_of, numbered_labels

FEW_ALARMS = matrix_of([[980, 0], [12, 8]])
FEW_MISSES = matrix_of([[920, 60], [2, 18]])
COSTS = cost_matrix([[0, 2], [7, 0]], labels=numbered_labels(2))


def ray(intercept: int, slope: int) -> CostRay:
    return CostRay(Fraction(intercept), Fraction(slope))


def test_the_ratio_at_which_two_runs_cost_the_same() -> None:
    # 60 more false alarms against 10 fewer misses: even at 6 to 1.
    found = break_even(ray_of_ratio(FEW_ALARMS, COSTS), ray_of_ratio(FEW_MISSES, COSTS))

    assert found == BreakEven(6.0, 0, None)


def test_at_the_break_even_ratio_both_cost_the_same() -> None:
    weights = np.array([[0.0, 1.0], [6.0, 0.0]])

    first, second = (
        evaluate_costs(matrix.counts, weights)["mean_cost"].at().value
        for matrix in (FEW_ALARMS, FEW_MISSES)
    )

    assert first == pytest.approx(second)


def test_costs_on_the_diagonal_move_the_ratio() -> None:
    # In units of the false alarm (2): a hit gains 1.5, so 10 more hits are worth 15 more.
    gains = cost_matrix([[0, 2], [7, -3]], labels=numbered_labels(2))

    found = break_even(ray_of_ratio(FEW_ALARMS, gains), ray_of_ratio(FEW_MISSES, gains))

    assert found.s == pytest.approx(4.5)


def test_a_ray_runs_from_one_cost_matrix_to_another() -> None:
    labels = numbered_labels(3)
    matrix = matrix_of([[40, 6, 4], [5, 38, 7], [2, 8, 40]])
    start = cost_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], labels=labels)
    end = cost_matrix([[0.5, 1, 2], [3, -1, 40], [5, 0.6, 0]], labels=labels)

    found = ray_between(matrix, start, end)

    for s in (0.0, 0.25, 1.0, 3.0):
        weights = start.weights + s * (end.weights - start.weights)
        mean = evaluate_costs(matrix.counts, weights)["mean_cost"].at().value
        assert found.at(s) == pytest.approx(mean)


def test_parallel_runs_never_cost_the_same_or_always_do() -> None:
    assert break_even(ray(1, 2), ray(3, 2)) == BreakEven(None, None, "never_equal")
    assert break_even(ray(1, 2), ray(1, 2)) == BreakEven(None, None, "same_everywhere")


def test_the_run_that_rises_less_is_cheaper_beyond_the_crossing() -> None:
    assert break_even(ray(4, 1), ray(0, 3)) == BreakEven(2.0, 1, None)
    assert break_even(ray(0, 3), ray(4, 1)) == BreakEven(2.0, 0, None)


def test_the_lower_envelope_names_the_cheapest_run_of_every_stretch() -> None:
    found = cheapest_along([ray(0, 6), ray(4, 2), ray(9, 1), ray(20, 1)], low=0.0, high=100.0)

    assert found == (
        Stretch(0.0, 1.0, (0,)),
        Stretch(1.0, 5.0, (1,)),
        Stretch(5.0, 100.0, (2,)),
    )


def test_a_run_that_only_touches_the_envelope_gets_no_stretch() -> None:
    # All three cross at s = 2, where the middle one is never alone the cheapest.
    found = cheapest_along([ray(0, 4), ray(4, 2), ray(8, 0)], low=0.0, high=5.0)

    assert found == (Stretch(0.0, 2.0, (0,)), Stretch(2.0, 5.0, (2,)))


def test_runs_with_equal_costs_share_a_stretch() -> None:
    assert cheapest_along([ray(1, 1), ray(3, 3), ray(1, 1)], low=0.0, high=1.0) == (
        Stretch(0.0, 1.0, (0, 2)),
    )


def test_crossings_that_no_grid_would_see_are_found() -> None:
    # The middle run is cheapest only between 1 and 1 + 1e-12.
    tiny = Fraction(1, 10**12)
    runs = [ray(0, 3), CostRay(Fraction(1), Fraction(2)), CostRay(2 + tiny, Fraction(1))]

    found = cheapest_along(runs, low=0.0, high=2.0)

    assert [stretch.cheapest for stretch in found] == [(0,), (1,), (2,)]
    assert found[1].high == pytest.approx(1.0, abs=1e-11)


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, float("inf"))])
def test_a_range_that_does_not_rise_is_refused(low: float, high: float) -> None:
    with pytest.raises(InvalidInput, match="low < high"):
        cheapest_along([ray(0, 1)], low=low, high=high)


def test_no_runs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there are no runs"):
        cheapest_along([], low=0.0, high=1.0)


@pytest.mark.parametrize("weights", [[[0, 0], [5, 0]], [[0, -1], [5, 0]]])
def test_a_ratio_to_a_free_false_alarm_is_refused(weights: list[list[float]]) -> None:
    free = cost_matrix(weights, labels=numbered_labels(2))

    with pytest.raises(InvalidInput, match="positive W"):
        ray_of_ratio(FEW_ALARMS, free)


def test_three_classes_have_no_single_ratio() -> None:
    costs = cost_matrix(1 - np.eye(3), labels=numbered_labels(3))

    with pytest.raises(InvalidInput, match="Use a ray between two cost matrices"):
        ray_of_ratio(matrix_of(np.eye(3)), costs)


def test_a_matrix_without_cases_or_with_other_labels_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has no cases"):
        ray_between(matrix_of(np.zeros((2, 2))), COSTS, COSTS)
    with pytest.raises(InvalidInput, match="different labels"):
        ray_between(matrix_of(np.eye(3)), COSTS, COSTS)
