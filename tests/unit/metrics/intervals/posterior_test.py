"""Draws of a confusion matrix from its posterior."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.posterior import DrawnMargins, drawn_margins, drawn_recalls
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of

THREE = [[40, 6, 0], [5, 38, 7], [0, 0, 12]]


def all_margins(matrix: ConfusionMatrix, draws: int) -> DrawnMargins:
    parts = [found for _, found in drawn_margins(matrix, seed=2, draws=draws)]
    return DrawnMargins(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("actual", "predicted", "correct")
        )
    )


@pytest.mark.parametrize("counts", [[[30, 4], [2, 9]], THREE])
def test_margins_of_a_draw_are_those_of_one_matrix(counts: list[list[int]]) -> None:
    found = all_margins(matrix_of(counts), 500)

    assert found.actual.sum(axis=1) == pytest.approx(np.ones(500))
    assert found.predicted.sum(axis=1) == pytest.approx(np.ones(500))
    assert (found.correct <= np.minimum(found.actual, found.predicted) + 1e-12).all()


def test_metrics_of_margins_are_those_of_the_matrix() -> None:
    counts = np.array(THREE)
    total = counts.sum()
    margins = DrawnMargins(
        counts.sum(axis=1)[np.newaxis] / total,
        counts.sum(axis=0)[np.newaxis] / total,
        np.diagonal(counts)[np.newaxis] / total,
    )
    expected = evaluate_stack(counts, ordinal=False).aggregate

    for key in ("mcc", "cohen_kappa", "macro_f1"):
        assert getattr(margins, key)() == pytest.approx(float(expected[key].value)), key


def dense_draws(counts: NDArray[np.int64], rng: np.random.Generator, draws: int) -> DrawnMargins:
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
    return DrawnMargins(cells.sum(axis=2), cells.sum(axis=1), np.diagonal(cells, axis1=1, axis2=2))


@pytest.mark.parametrize("counts", [[[30, 4], [2, 9]], THREE])
def test_draws_follow_the_posterior_as_it_is_written_down(counts: list[list[int]]) -> None:
    matrix = matrix_of(counts)
    expected = dense_draws(matrix.counts, np.random.default_rng(7), 20_000)

    found = all_margins(matrix, 20_000)

    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    for key in ("mcc", "cohen_kappa", "macro_f1"):
        wanted = np.quantile(getattr(expected, key)(), levels)
        assert np.quantile(getattr(found, key)(), levels) == pytest.approx(wanted, abs=0.008), key
    assert drawn_recalls(matrix, seed=2, draws=20_000).mean(axis=0) == pytest.approx(
        (expected.correct / expected.actual).mean(axis=0), abs=0.003
    )


def test_two_hundred_classes_with_few_errors_are_drawn_from_their_occupied_cells() -> None:
    counts = np.diag(np.full(200, 30))
    counts[0, 1] = counts[7, 9] = 3

    found = all_margins(matrix_of(counts), 100)

    assert np.isfinite(found.mcc()).all()
    assert found.predicted.mean(axis=0) == pytest.approx(counts.sum(axis=0) / 6_006, abs=1e-3)
