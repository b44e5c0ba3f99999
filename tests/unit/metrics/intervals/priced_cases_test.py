"""Cases by price: the same law as cells, with fewer numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from offdiag.metrics.costs.matrix import cost_matrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.intervals.costs import priced_cases
from support.matrices import matrix_of, numbered_labels

COSTS = cost_matrix([[0, 2, 2], [5, 0, 2], [5, 0, 0]], labels=numbered_labels(3))
COUNTS = np.array([[3, 1, 0], [1, 2, 1], [0, 1, 4]])
DEPLOYED = np.array([0.2, 0.5, 0.3])
COSTS_OF_TWO = cost_matrix([[0, 1], [9, 0]], labels=numbered_labels(2))


def test_cells_of_one_price_are_one_group() -> None:
    found = priced_cases(matrix_of(COUNTS), COSTS, None)

    assert found.costs.tolist() == [0.0, 2.0, 5.0]
    assert found.counts.tolist() == [10, 2, 1]
    assert found.total == 13


def test_at_a_declared_prevalence_each_class_has_its_own_groups() -> None:
    found = priced_cases(matrix_of(COUNTS), COSTS, DEPLOYED)

    assert found.actual.tolist() == [0, 0, 1, 1, 1, 2]
    assert found.costs.tolist() == [0, 2, 0, 2, 5, 0]


@pytest.mark.parametrize("prevalence", [None, DEPLOYED])
def test_the_mean_of_the_groups_is_that_of_the_matrix(
    prevalence: np.ndarray[tuple[int], np.dtype[np.float64]] | None,
) -> None:
    cases = priced_cases(matrix_of(COUNTS), COSTS, prevalence)
    expected = evaluate_costs(COUNTS, COSTS.weights, prevalence=prevalence)["mean_cost"]

    assert cases.means(cases.counts[np.newaxis]).tolist() == pytest.approx([expected.at().value])


def test_every_resample_of_cases_gives_the_mean_of_its_matrix_equally_often() -> None:
    # All 4^4 ordered resamples of four cases, by cells and by prices.
    cells = [(0, 0), (0, 1), (1, 2), (2, 1)]
    matrix = np.zeros((3, 3), np.int64)
    for cell in cells:
        matrix[cell] += 1
    cases = priced_cases(matrix_of(matrix), COSTS, None)
    prices = [float(COSTS.weights[cell]) for cell in cells]

    of_cells, of_prices = [], []
    for drawn in product(range(4), repeat=4):
        resampled = np.zeros((3, 3), np.int64)
        for place in drawn:
            resampled[cells[place]] += 1
        of_cells.append(float(evaluate_costs(resampled, COSTS.weights)["mean_cost"].value))
        counts = [sum(prices[place] == cost for place in drawn) for cost in cases.costs]
        of_prices.append(float(cases.means(np.array([counts]))[0]))

    assert sorted(of_cells) == sorted(of_prices)


def test_a_class_that_a_resample_misses_leaves_its_mean_undefined() -> None:
    cases = priced_cases(matrix_of([[5, 1], [0, 1]]), COSTS_OF_TWO, np.array([0.5, 0.5]))

    found = cases.means(np.array([[6, 1, 0], [5, 1, 1]]))

    assert np.isnan(found).tolist() == [True, False]


def test_cases_that_earn_what_they_cost_have_the_opposite_mean() -> None:
    cases = priced_cases(matrix_of(COUNTS), COSTS, DEPLOYED)

    negated = cases.negated()

    assert negated.means(negated.counts[np.newaxis]) == pytest.approx(
        -cases.means(cases.counts[np.newaxis])
    )
