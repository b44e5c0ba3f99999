"""Draws of a confusion matrix from its posterior."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from offdiag.metrics.intervals.posterior import Evidence, drawn_cells, less_bias
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of

TWO = [[30, 4], [2, 9]]
THREE = [[40, 6, 4], [5, 38, 7], [2, 8, 40]]
THREE_WITH_EMPTY_CELLS = [[40, 6, 0], [5, 38, 7], [0, 0, 12]]


def all_draws(counts: ArrayLike, draws: int) -> NDArray[np.int64]:
    evidence = Evidence.of_counts(matrix_of(counts))
    parts = drawn_cells(evidence, seed=2, draws=draws, n_cells=evidence.n_classes**2)
    return np.concatenate([each.matrices(evidence.parts) for _, each in parts])


def dense_draws(
    counts: NDArray[np.int64], rng: np.random.Generator, draws: int
) -> NDArray[np.int64]:
    """Whole matrices, each row on its own, as the posterior is written down."""
    n_classes = len(counts)
    prior = 0.5 if n_classes == 2 else 1 / n_classes
    cells = np.zeros((draws, n_classes, n_classes))
    shares = rng.dirichlet(counts.sum(axis=1) + prior, size=draws)
    for row in range(n_classes):
        hits = counts[row, row]
        recall = rng.beta(hits + prior, counts[row].sum() - hits + prior, size=draws)
        others = [column for column in range(n_classes) if column != row]
        split = rng.dirichlet(counts[row, others] + 1 / (n_classes * (n_classes - 1)), size=draws)
        cells[:, row, row] = recall
        cells[:, row, others] = (1 - recall[:, np.newaxis]) * split
        cells[:, row] *= shares[:, row, np.newaxis]
    return np.rint(cells * 1e7).astype(np.int64)


@pytest.mark.parametrize("counts", [TWO, THREE_WITH_EMPTY_CELLS])
def test_draws_follow_the_posterior_as_it_is_written_down(counts: list[list[int]]) -> None:
    expected = evaluate_stack(
        dense_draws(np.array(counts), np.random.default_rng(7), 20_000), ordinal=False
    )

    found = evaluate_stack(all_draws(counts, 20_000), ordinal=False)

    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    for key in ("mcc", "cohen_kappa", "macro_f1", "weighted_precision", "balanced_accuracy"):
        wanted = np.quantile(expected.aggregate[key].value, levels)
        drawn = np.quantile(found.aggregate[key].value, levels)
        assert drawn == pytest.approx(wanted, abs=0.008), key


def test_two_hundred_classes_with_few_errors_are_drawn_from_their_occupied_cells() -> None:
    counts = np.diag(np.full(200, 30))
    counts[0, 1] = counts[7, 9] = 3

    found = all_draws(counts, 50)

    shares = found.sum(axis=1) / found.sum(axis=(1, 2))[:, np.newaxis]
    assert shares.mean(axis=0) == pytest.approx(counts.sum(axis=0) / 6_006, abs=2e-3)


@pytest.mark.parametrize(
    ("counts", "key", "method"),
    [
        (TWO, "macro_f1", "posterior draws with Jeffreys' prior, 2000 draws"),
        (TWO, "mcc", "posterior draws with Jeffreys' prior, 2000 draws"),
        (THREE, "balanced_accuracy", "posterior draws with prior 1/K, 2000 draws"),
        (THREE, "cohen_kappa", "posterior draws with prior 1/K, 2000 draws"),
        (THREE, "macro_f1_strict", "posterior draws with prior 1/K, 2000 draws"),
    ],
)
def test_the_method_depends_on_the_number_of_classes(
    counts: list[list[int]], key: str, method: str
) -> None:
    assert suite_intervals(matrix_of(counts), seed=1).aggregate[key].method == method


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_but_right_answers_still_leaves_something_open(n_classes: int) -> None:
    found = suite_intervals(matrix_of(np.diag(np.full(n_classes, 25))), seed=1).aggregate

    for key in ("balanced_accuracy", "mcc", "cohen_kappa"):
        low, high = found[key].bounds.at()
        assert low is not None
        assert 0.8 < low < 1.0, key
        assert high == 1.0, key


def test_draws_have_as_many_samples_as_the_matrix() -> None:
    """A declared metric may depend on how many there are."""
    evidence = Evidence.of_counts(matrix_of(THREE))

    drawn = evaluate_stack(
        all_draws(THREE, 50), ordinal=False, unit=evidence.parts / evidence.total
    )

    assert drawn.aggregate["n"].value == pytest.approx(np.full(50, 150), rel=1e-5)


def test_draws_are_moved_by_twice_their_bias() -> None:
    values = np.array([0.70, 0.74, np.nan, 0.78])

    found = less_bias(values, np.asarray(0.76), times=2.0, low=0.0, high=1.0)

    np.testing.assert_allclose(found, [0.74, 0.78, np.nan, 0.82])
