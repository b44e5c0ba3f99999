"""Samples by price: the same law as cells, with fewer numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix, zero_one_costs
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.intervals import costs as module
from offdiag.metrics.intervals.costs import cost_intervals, sample_costs
from support.matrices import matrix_of, numbered_labels

COSTS = cost_matrix([[0, 2, 2], [5, 0, 2], [5, 0, 0]], labels=numbered_labels(3))
FEW_COUNTS = np.array([[3, 1, 0], [1, 2, 1], [0, 1, 4]])
SPREAD_OUT = np.array([0.2, 0.5, 0.3])
COSTS_OF_TWO = cost_matrix([[0, 1], [9, 0]], labels=numbered_labels(2))


def test_cells_of_one_price_are_one_group() -> None:
    found = sample_costs(matrix_of(FEW_COUNTS), COSTS, None)

    assert found.costs.tolist() == [0.0, 2.0, 5.0]
    assert found.counts.tolist() == [10, 2, 1]
    assert found.total == 13


def test_at_a_declared_prevalence_each_class_has_its_own_groups() -> None:
    found = sample_costs(matrix_of(FEW_COUNTS), COSTS, SPREAD_OUT)

    assert found.actual.tolist() == [0, 0, 1, 1, 1, 2]
    assert found.costs.tolist() == [0, 2, 0, 2, 5, 0]


@pytest.mark.parametrize("prevalence", [None, SPREAD_OUT])
def test_the_mean_of_the_groups_is_that_of_the_matrix(
    prevalence: np.ndarray[tuple[int], np.dtype[np.float64]] | None,
) -> None:
    cases = sample_costs(matrix_of(FEW_COUNTS), COSTS, prevalence)
    expected = evaluate_costs(FEW_COUNTS, COSTS.weights, prevalence=prevalence)["mean_cost"]

    assert cases.means(cases.counts[np.newaxis]).tolist() == pytest.approx([expected.at().value])


def test_every_resample_of_cases_gives_the_mean_of_its_matrix_equally_often() -> None:
    # All 4^4 ordered resamples of four cases, by cells and by prices.
    cells = [(0, 0), (0, 1), (1, 2), (2, 1)]
    matrix = np.zeros((3, 3), np.int64)
    for cell in cells:
        matrix[cell] += 1
    cases = sample_costs(matrix_of(matrix), COSTS, None)
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
    cases = sample_costs(matrix_of([[5, 1], [0, 1]]), COSTS_OF_TWO, np.array([0.5, 0.5]))

    found = cases.means(np.array([[6, 1, 0], [5, 1, 1]]))

    assert np.isnan(found).tolist() == [True, False]


COUNTS = np.array([[4000, 300, 100], [200, 900, 60], [30, 50, 400]])
WEIGHTS = cost_matrix([[0, 1, 3], [5, -1, 4], [30, 20, 0.5]], labels=numbered_labels(3))
DEPLOYED = np.array([0.9, 0.06, 0.04])


def test_the_mean_cost_of_errors_has_the_interval_of_a_proportion() -> None:
    matrix = matrix_of(COUNTS)
    n = COUNTS.sum()
    rate = 1 - np.trace(COUNTS) / n
    reach = 1.96 * np.sqrt(rate * (1 - rate) / n)

    interval = cost_intervals(matrix, zero_one_costs(matrix.labels), seed=1)["mean_cost"]

    assert interval.low == pytest.approx(rate - reach, abs=0.15 * reach)
    assert interval.high == pytest.approx(rate + reach, abs=0.15 * reach)


@pytest.mark.parametrize("prevalence", [None, DEPLOYED], ids=["as tested", "as deployed"])
def test_the_delta_method_agrees_with_the_bootstrap(
    prevalence: NDArray[np.float64] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = matrix_of(COUNTS)
    resampled = cost_intervals(matrix, WEIGHTS, prevalence=prevalence, seed=1, replicates=20_000)
    monkeypatch.setattr(module, "LARGEST_BOOTSTRAPPED", 0)

    linear = cost_intervals(matrix, WEIGHTS, prevalence=prevalence, seed=1)

    for key, expected in resampled.items():
        found = linear[key]
        if key == "best_trivial_cost" and prevalence is not None:
            assert (found.low, expected.low) == (None, None)
            continue
        assert expected.low is not None
        assert expected.high is not None
        width = expected.high - expected.low
        assert found.low == pytest.approx(expected.low, abs=0.06 * width), key
        assert found.high == pytest.approx(expected.high, abs=0.06 * width), key


def test_a_constant_answer_at_a_declared_prevalence_costs_the_same_in_every_sample() -> None:
    found = cost_intervals(matrix_of(COUNTS), WEIGHTS, prevalence=DEPLOYED, seed=1)

    assert found["best_trivial_cost"].note == "no variation among resamples"


def test_an_undefined_ratio_has_no_interval() -> None:
    gains = CostMatrix(np.array([[-1.0, 0.0], [0.0, -1.0]]), numbered_labels(2))

    found = cost_intervals(matrix_of([[30, 10], [5, 40]]), gains, seed=1)

    assert found["cost_ratio_to_best_trivial"].low is None
    assert found["total_cost"].low is not None


def test_a_matrix_without_cases_has_no_intervals() -> None:
    found = cost_intervals(matrix_of(np.zeros((3, 3))), WEIGHTS, seed=1)

    assert all(interval.low is None and interval.high is None for interval in found.values())


def test_small_classes_are_pointed_out() -> None:
    found = cost_intervals(matrix_of([[90, 4, 0], [6, 30, 0], [1, 1, 2]]), WEIGHTS, seed=1)

    assert found["total_cost"].note == "unreliable, smallest class has n = 4"


@pytest.mark.parametrize("prevalence", [None, DEPLOYED], ids=["as tested", "as deployed"])
@pytest.mark.parametrize("most_cells", [2_500, 0], ids=["resampled", "delta"])
def test_the_mean_cost_alone_has_the_same_interval(
    prevalence: NDArray[np.float64] | None, most_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_BOOTSTRAPPED", most_cells)
    expected = cost_intervals(matrix_of(COUNTS), WEIGHTS, prevalence=prevalence, seed=1)

    found = cost_intervals(
        matrix_of(COUNTS), WEIGHTS, prevalence=prevalence, seed=1, keys=("mean_cost",)
    )["mean_cost"]

    assert found == expected["mean_cost"]


def test_the_total_is_as_uncertain_as_the_mean() -> None:
    found = cost_intervals(matrix_of(COUNTS), WEIGHTS, seed=1)

    assert found["total_cost"].low == pytest.approx((found["mean_cost"].low or 0) * COUNTS.sum())


def test_without_cases_the_mean_cost_has_no_interval() -> None:
    assert (
        cost_intervals(matrix_of(np.zeros((3, 3))), WEIGHTS, seed=1, keys=("mean_cost",))[
            "mean_cost"
        ].low
        is None
    )
