"""Samples by what they cost, drawn from the posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix, zero_one_costs
from offdiag.metrics.intervals import posterior
from offdiag.metrics.intervals.costs import SampleCosts, cost_intervals, sample_costs
from offdiag.metrics.intervals.draws import generator
from support.matrices import matrix_of, numbered_labels

COSTS = cost_matrix([[0, 2, 2], [5, 0, 2], [5, 0, 0]], labels=numbered_labels(3))
FEW_COUNTS = np.array([[3, 1, 0], [1, 2, 1], [0, 1, 4]])
SPREAD_OUT = np.array([0.2, 0.5, 0.3])
COSTS_OF_TWO = cost_matrix([[0, 1], [9, 0]], labels=numbered_labels(2))


def test_cells_of_one_cost_are_one_group_and_so_are_costs_that_no_sample_has() -> None:
    (found,) = sample_costs(FEW_COUNTS, COSTS, None)
    of_classes = sample_costs(FEW_COUNTS, COSTS, SPREAD_OUT)

    assert found.costs.tolist() == [0.0, 2.0, 5.0]
    assert found.counts.tolist() == [10, 2, 1]
    assert [each.costs.tolist() for each in of_classes] == [[0, 2], [0, 2, 5], [0, 5]]
    assert [each.counts.tolist() for each in of_classes] == [[3, 1], [2, 1, 1], [5, 0]]
    assert [each.share for each in of_classes] == SPREAD_OUT.tolist()


def test_without_samples_of_an_expected_class_nothing_is_drawn() -> None:
    counts = np.array([[5, 1], [0, 0]])

    assert sample_costs(counts, COSTS_OF_TWO, np.array([0.5, 0.5])) == ()
    assert len(sample_costs(counts, COSTS_OF_TWO, np.array([1.0, 0.0]))) == 1


@pytest.mark.parametrize("seen", [1, 3], ids=["many unseen", "one unseen"])
def test_drawn_means_have_the_moments_of_a_dirichlet_variable(seen: int) -> None:
    """Mean sum a_i c_i / A and variance (sum a_i c_i^2 / A - mean^2) / (A + 1)."""
    costs = np.array([0.0, 1.0, 10.0, 50.0])
    counts = np.where(np.arange(4) < seen, [20, 3, 1, 0], 0)
    shape = counts + 0.25
    mean = (shape @ costs) / shape.sum()
    variance = ((shape @ costs**2) / shape.sum() - mean**2) / (shape.sum() + 1)

    found = SampleCosts(costs, counts).drawn_means(generator(1), 40_000)

    assert found.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 40_000))
    assert found.var() == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize("prevalence", [None, (0.9, 0.1)], ids=["as tested", "as deployed"])
def test_a_rare_costly_error_that_no_sample_has_is_in_the_interval(
    prevalence: tuple[float, float] | None,
) -> None:
    """Of 100 samples 5 are of the class whose errors cost 50; a tenth of it is missed."""
    rng = np.random.default_rng(3)
    labels = numbered_labels(2)
    costs = cost_matrix([[0, 1], [50, 0]], labels=labels)
    shares = np.array([0.95, 0.05]) if prevalence is None else np.array(prevalence)
    truth = shares @ np.array([0.03, 0.1 * 50])
    n_held = n_tried = 0
    for _ in range(200):
        n_rare = rng.binomial(100, 0.05)
        missed, added = rng.binomial(n_rare, 0.1), rng.binomial(100 - n_rare, 0.03)
        matrix = matrix_of([[100 - n_rare - added, added], [missed, n_rare - missed]])
        found = cost_intervals(
            matrix,
            costs,
            prevalence=None if prevalence is None else shares,
            seed=1,
            keys=("mean_cost",),
        )["mean_cost"]
        if found.low is not None and found.high is not None:
            n_tried += 1
            n_held += found.low <= truth <= found.high

    assert n_tried >= 190
    assert n_held / n_tried >= 0.9


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


@pytest.mark.parametrize("others", [0.1, 1.0])
@pytest.mark.parametrize(
    "weights", [COSTS.weights, 1 - np.eye(3), np.arange(9.0).reshape(3, 3)], ids=str
)
def test_classes_cost_as_in_drawn_matrices_however_many_cells_cost_the_same(
    weights: NDArray[np.float64], others: float
) -> None:
    evidence = replace(posterior.Evidence.of_counts(matrix_of(FEW_COUNTS)), others=others)
    draws = 20_000
    ((_, drawn),) = posterior.drawn_cells(evidence, seed=1, draws=draws, n_cells=1)
    matrices = drawn.matrices(1e9)
    expected = (matrices * weights).sum(axis=2) / matrices.sum(axis=2)

    ((_, _, found),) = posterior.drawn_class_costs(evidence, weights, seed=2, draws=draws)

    for code in range(3):
        one, other = (costs[:, code].round(6) for costs in (found, expected))
        assert ks_2samp(one, other).pvalue > 1e-4


def test_the_ratio_of_many_classes_knows_of_a_costly_error_that_no_sample_has() -> None:
    """Of nine classes the last is rare, and its errors cost 50; draws of matrices held 82 %."""
    recall, shares = 0.85, np.array([0.12] * 8 + [0.04])
    cells = np.full((9, 9), (1 - recall) / 8) * shares[:, np.newaxis]
    np.fill_diagonal(cells, recall * shares)
    weights = 1 - np.eye(9)
    weights[-1, :-1] = 50
    costs = cost_matrix(weights, labels=numbered_labels(9))
    truth = (cells * weights).sum() / (shares @ weights).min()
    rng, n_held = np.random.default_rng(2), 0
    for _ in range(100):
        matrix = matrix_of(rng.multinomial(300, cells.ravel()).reshape(9, 9))
        keys = ("cost_ratio_to_best_trivial",)
        (found,) = cost_intervals(matrix, costs, seed=1, keys=keys, replicates=500).values()
        assert found.low is not None
        assert found.high is not None
        n_held += found.low <= truth <= found.high

    assert n_held >= 90


def test_a_matrix_of_very_many_cells_is_drawn_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "MOST_NUMBERS", 1)

    found = cost_intervals(matrix_of(COUNTS), WEIGHTS, seed=1)

    assert all(each.method.endswith(", 400 draws") for each in found.values())


def test_the_ratio_of_costs_that_depend_on_the_class_alone_is_certain() -> None:
    costs = cost_matrix([[0, 0], [7, 7]], labels=numbered_labels(2))

    found = cost_intervals(matrix_of([[90, 3], [2, 5]]), costs, seed=1)

    ratio = found["cost_ratio_to_best_trivial"]
    assert (ratio.low, ratio.high) == pytest.approx((1.0, 1.0), abs=1e-9)


def test_a_constant_answer_at_a_declared_prevalence_costs_the_same_in_every_sample() -> None:
    found = cost_intervals(matrix_of(COUNTS), WEIGHTS, prevalence=DEPLOYED, seed=1)

    assert found["best_trivial_cost"].note == "no variation among draws"


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
def test_the_mean_cost_alone_has_the_same_interval(
    prevalence: NDArray[np.float64] | None,
) -> None:
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
