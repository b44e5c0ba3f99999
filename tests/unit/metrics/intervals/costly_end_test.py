"""The costly end of costs, of two classes and of many."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.intervals.bounds import Bounds
from offdiag.metrics.intervals.costs import cost_intervals, costlier_ends, costliest_class
from offdiag.metrics.intervals.posterior import Evidence
from support.matrices import matrix_of, numbered_labels


def test_the_costliest_class_has_half_a_wrong_answer_in_all() -> None:
    costs = CostMatrix(np.array([[0, 1, 1], [1, 0, 1], [90, 30, 0]]), numbered_labels(3))
    evidence = Evidence.of_counts(matrix_of([[50, 2, 0], [0, 40, 1], [0, 0, 6]]))

    found = costliest_class(evidence, costs, 0.25)

    more = found.cells - evidence.cells
    assert more[:2].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert more[2].tolist() == pytest.approx([1 / 12, 1 / 12, 0])
    assert found.others == 0.25


def test_the_dear_end_is_the_high_one_of_costs_and_the_low_one_of_skill() -> None:
    def ends(low: float, high: float) -> dict[str, Bounds]:
        keys = ("total_cost", "mean_cost", "cost_ratio_to_best_trivial", "skill_vs_trivial")
        return {key: Bounds(np.array(low), np.array(high)) for key in keys}

    found = costlier_ends(ends(0.2, 0.6), ends(0.1, 0.9))

    assert found["mean_cost"].at() == (0.2, 0.9)
    assert found["skill_vs_trivial"].at() == (0.1, 0.6)


def times_held(
    costs: CostMatrix, cells: NDArray[np.float64], n: int, *, sets: int, rng: np.random.Generator
) -> int:
    """In how many sets of n samples, of cells (K, K) with these shares, the true cost is held."""
    truth, held = float((cells * costs.weights).sum()), 0
    for _ in range(sets):
        matrix = matrix_of(rng.multinomial(n, cells.ravel()).reshape(cells.shape))
        found = cost_intervals(matrix, costs, seed=1, keys=("mean_cost",), replicates=400)
        low, high = found["mean_cost"].low, found["mean_cost"].high
        assert low is not None
        assert high is not None
        held += low <= truth <= high
    return held


def test_costs_of_many_classes_that_differ_by_orders_of_magnitude_hold_the_truth() -> None:
    """Without the costly end 82 of 100: the costliest class has 2 or 3 of 300 samples."""
    n_classes, rng = 30, np.random.default_rng(30)
    of_class = np.sort(rng.lognormal(0.0, 2.0, n_classes))
    weights = np.repeat(of_class[:, np.newaxis], n_classes, axis=1)
    np.fill_diagonal(weights, 0.0)
    costs = CostMatrix(weights, numbered_labels(n_classes))
    shares = 1 / np.arange(1, n_classes + 1)
    shares /= shares.sum()
    cells = np.full((n_classes, n_classes), 0.15 / (n_classes - 1))
    np.fill_diagonal(cells, 0.85)
    cells *= shares[:, np.newaxis]

    assert times_held(costs, cells, 300, sets=100, rng=rng) >= 91


def test_two_costly_errors_that_are_expected_may_be_missing() -> None:
    """Of 100 samples 40 are of the class whose errors cost 20, and a twentieth of it is missed.

    Without the costly end 81 to 86 of 100: the interval ends below the truth where none is missed.
    """
    costs = CostMatrix(np.array([[0.0, 1.0], [20.0, 0.0]]), numbered_labels(2))
    cells = np.array([[0.6, 0.0], [0.02, 0.38]])

    assert times_held(costs, cells, 100, sets=200, rng=np.random.default_rng(2)) >= 186


def test_costs_of_many_classes_at_declared_shares_hold_the_truth() -> None:
    """With a prior of one sample for each class 51 of 100: half an error more in each of 30."""
    n_classes, recall = 30, 0.97
    shares = 1 / np.arange(1, n_classes + 1)
    shares /= shares.sum()
    cells = np.full((n_classes, n_classes), (1 - recall) / (n_classes - 1))
    np.fill_diagonal(cells, recall)
    costs = CostMatrix(1 - np.eye(n_classes), numbered_labels(n_classes))
    even = np.full(n_classes, 1 / n_classes)
    rng, n_held, n_tried = np.random.default_rng(4), 0, 0
    for _ in range(60):
        counts = rng.multinomial(1_000, (cells * shares[:, np.newaxis]).ravel())
        found = cost_intervals(
            matrix_of(counts.reshape(cells.shape)),
            costs,
            prevalence=even,
            seed=1,
            keys=("mean_cost",),
            replicates=400,
        )["mean_cost"]
        if found.low is not None and found.high is not None:
            n_tried += 1
            n_held += found.low <= 1 - recall <= found.high

    assert n_tried >= 54
    assert n_held / n_tried >= 0.9
