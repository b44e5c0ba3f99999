"""Cost curves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from offdiag.metrics.costs.break_even import (
    HIGHEST,
    LOWEST,
    CostRay,
    Lever,
    Stretch,
    cheapest_along,
    choices,
    lever_on_cell,
    lever_on_class,
    ray_between,
    rays_of,
    times_the_cheapest,
)
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from support.matrices import matrix_of, numbered_labels

COSTS = cost_matrix([[0, 2], [7, 0]], labels=numbered_labels(2))


def ray(intercept: int, slope: int) -> CostRay:
    return CostRay(Fraction(intercept), Fraction(slope))


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


def test_a_run_that_only_touches_the_envelope_gets_no_stretch() -> None:
    # All three cross at s = 2, where the middle one is never alone the cheapest.
    found = cheapest_along([ray(0, 4), ray(4, 2), ray(8, 0)], low=0.0, high=5.0)

    assert found == (Stretch(0.0, 2.0, (0,)), Stretch(2.0, 5.0, (2,)))


def test_crossings_that_no_grid_would_see_are_found() -> None:
    # The middle run is cheapest only between 1 and 1 + 1e-12.
    tiny = Fraction(1, 10**12)
    runs = [ray(0, 3), CostRay(Fraction(1), Fraction(2)), CostRay(2 + tiny, Fraction(1))]

    found = cheapest_along(runs, low=0.0, high=2.0)

    assert [stretch.cheapest for stretch in found] == [(0,), (1,), (2,)]
    assert found[1].high == pytest.approx(1.0, abs=1e-11)


LABELS = numbered_labels(3)
PRICES = cost_matrix([[0, 2, 1], [20, 0, 8], [3, 0, -1]], labels=LABELS)
CAREFUL = matrix_of([[70, 25, 5], [1, 48, 1], [4, 4, 42]])
SLOPPY = matrix_of([[98, 1, 1], [15, 33, 2], [4, 2, 44]])


def test_the_price_of_an_error_is_a_multiple_of_the_opposite_error() -> None:
    assert lever_on_cell(PRICES, 1, 0) == Lever(1, 0, unit=2.0, now=10.0)


def test_without_a_price_of_the_opposite_error_the_lowest_other_price_is_the_unit() -> None:
    assert lever_on_cell(PRICES, 1, 2) == Lever(1, 2, unit=1.0, now=8.0)


@pytest.mark.parametrize(
    ("weights", "actual", "predicted"),
    [
        ([[0, 1], [5, 0]], 1, 1),
        ([[0, 1], [-5, 0]], 1, 0),
        ([[0, 0], [5, 0]], 1, 0),
    ],
)
def test_some_prices_cannot_be_moved(
    weights: list[list[float]], actual: int, predicted: int
) -> None:
    costs = cost_matrix(weights, labels=numbered_labels(2))

    assert lever_on_cell(costs, actual, predicted) is None


def test_where_the_lever_stands_now_the_costs_are_as_they_are() -> None:
    for lever in (lever_on_cell(PRICES, 1, 0), lever_on_class(1)):
        assert lever is not None

        assert np.array_equal(lever.moved(PRICES, lever.now).weights, PRICES.weights)


def test_a_lever_on_a_class_leaves_right_answers_alone() -> None:
    moved = lever_on_class(2).moved(PRICES, 10)

    assert moved.weights.tolist() == [[0, 2, 1], [20, 0, 8], [30, 0, -1]]


def test_the_cheapest_run_at_other_shares_is_the_one_that_costs_least_there() -> None:
    runs, prevalence = (CAREFUL, SLOPPY), np.array([0.5, 0.3, 0.2])
    lever = lever_on_cell(PRICES, 1, 0)
    assert lever is not None

    stretches = choices(rays_of(runs, PRICES, lever, prevalence=prevalence))

    assert len(stretches) == 2
    for stretch in stretches:
        middle = (stretch.low * min(stretch.high, 1e3)) ** 0.5
        weights = lever.moved(PRICES, middle).weights
        means = [
            evaluate_costs(run.counts, weights, prevalence=prevalence)["mean_cost"].at().value
            for run in runs
        ]
        assert stretch.cheapest == (int(np.argmin(np.array(means, float))),)


def test_the_choice_covers_every_multiple_that_anybody_asks_for() -> None:
    found = choices([CostRay(Fraction(1), Fraction(1)), CostRay(Fraction(3), Fraction(0))])

    assert found == (Stretch(LOWEST, 2.0, (0,)), Stretch(2.0, HIGHEST, (1,)))


def test_costs_are_shown_as_multiples_of_the_cheapest() -> None:
    rays = [CostRay(Fraction(1), Fraction(1)), CostRay(Fraction(3), Fraction(0))]

    found = times_the_cheapest(rays, np.array([1.0, 2.0, 5.0]))

    assert found.tolist() == [[1.0, 1.0, 2.0], [1.5, 1.0, 1.0]]


def test_nothing_is_a_multiple_of_a_gain() -> None:
    rays = [CostRay(Fraction(-1), Fraction(1)), CostRay(Fraction(3), Fraction(0))]

    found = times_the_cheapest(rays, np.array([0.5, 1.0, 2.0]))

    assert np.isnan(found[:, :2]).all()
    assert found[:, 2].tolist() == [1.0, 3.0]
