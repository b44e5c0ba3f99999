"""A price that is moved, and the choice that follows it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from offdiag.metrics.costs.break_even import CostRay, Stretch
from offdiag.metrics.costs.flips import (
    HIGHEST,
    LOWEST,
    Lever,
    choices,
    lever_on_cell,
    lever_on_class,
    rays_of,
    times_the_cheapest,
)
from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from support.matrices import matrix_of, numbered_labels

LABELS = numbered_labels(3)
COSTS = cost_matrix([[0, 2, 1], [20, 0, 8], [3, 0, -1]], labels=LABELS)
CAREFUL = matrix_of([[70, 25, 5], [1, 48, 1], [4, 4, 42]])
SLOPPY = matrix_of([[98, 1, 1], [15, 33, 2], [4, 2, 44]])


def test_the_price_of_an_error_is_a_multiple_of_the_opposite_error() -> None:
    assert lever_on_cell(COSTS, 1, 0) == Lever(1, 0, unit=2.0, now=10.0)


def test_without_a_price_of_the_opposite_error_the_lowest_other_price_is_the_unit() -> None:
    assert lever_on_cell(COSTS, 1, 2) == Lever(1, 2, unit=1.0, now=8.0)


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
    for lever in (lever_on_cell(COSTS, 1, 0), lever_on_class(1)):
        assert lever is not None

        assert np.array_equal(lever.moved(COSTS, lever.now).weights, COSTS.weights)


def test_a_lever_on_a_class_leaves_right_answers_alone() -> None:
    moved = lever_on_class(2).moved(COSTS, 10)

    assert moved.weights.tolist() == [[0, 2, 1], [20, 0, 8], [30, 0, -1]]


@pytest.mark.parametrize("prevalence", [None, np.array([0.5, 0.3, 0.2])])
def test_the_cheapest_run_is_the_one_that_costs_least_there(
    prevalence: np.ndarray[tuple[int], np.dtype[np.float64]] | None,
) -> None:
    runs = (CAREFUL, SLOPPY)
    lever = lever_on_cell(COSTS, 1, 0)
    assert lever is not None

    stretches = choices(rays_of(runs, COSTS, lever, prevalence=prevalence))

    assert len(stretches) == 2
    for stretch in stretches:
        middle = (stretch.low * min(stretch.high, 1e3)) ** 0.5
        weights = lever.moved(COSTS, middle).weights
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
