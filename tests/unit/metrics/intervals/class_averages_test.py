"""Draws of a confusion matrix from its posterior."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.class_averages import (
    DrawnMargins,
    drawn_margins,
    drawn_recalls,
    shifted,
)
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of

THREE_WITH_EMPTY_CELLS = [[40, 6, 0], [5, 38, 7], [0, 0, 12]]


def all_margins(matrix: ConfusionMatrix, draws: int) -> DrawnMargins:
    parts = [found for _, found in drawn_margins(matrix, seed=2, draws=draws)]
    return DrawnMargins(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("actual", "predicted", "correct")
        )
    )


@pytest.mark.parametrize("counts", [[[30, 4], [2, 9]], THREE_WITH_EMPTY_CELLS])
def test_margins_of_a_draw_are_those_of_one_matrix(counts: list[list[int]]) -> None:
    found = all_margins(matrix_of(counts), 500)

    assert found.actual.sum(axis=1) == pytest.approx(np.ones(500))
    assert found.predicted.sum(axis=1) == pytest.approx(np.ones(500))
    assert (found.correct <= np.minimum(found.actual, found.predicted) + 1e-12).all()


def test_metrics_of_margins_are_those_of_the_matrix() -> None:
    counts = np.array(THREE_WITH_EMPTY_CELLS)
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


@pytest.mark.parametrize("counts", [[[30, 4], [2, 9]], THREE_WITH_EMPTY_CELLS])
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


TWO = [[30, 4], [2, 9]]
THREE = [[40, 6, 4], [5, 38, 7], [2, 8, 40]]


def test_balanced_accuracy_of_two_classes_combines_the_wilson_ends_of_both_recalls() -> None:
    z = norm.ppf(0.975)

    def wilson(x: int, n: int) -> tuple[float, float]:
        centre = (x + z * z / 2) / (n + z * z)
        reach = z / (n + z * z) * np.sqrt(x * (n - x) / n + z * z / 4)
        return centre - reach, centre + reach

    (l1, u1), (l2, u2) = wilson(30, 34), wilson(9, 11)
    p1, p2 = 30 / 34, 9 / 11
    mean = (p1 + p2) / 2
    low = mean - np.hypot(p1 - l1, p2 - l2) / 2
    high = mean + np.hypot(u1 - p1, u2 - p2) / 2

    found = suite_intervals(matrix_of(TWO), seed=1).aggregate

    for key in ("balanced_accuracy", "macro_recall", "macro_recall_strict"):
        assert found[key].bounds.at() == pytest.approx((low, high), rel=1e-12), key
        assert found[key].method == "wilson ends combined (MOVER)"
    adjusted = found["balanced_accuracy_adjusted"].bounds.at()
    assert adjusted == pytest.approx((2 * low - 1, 2 * high - 1), rel=1e-12)


@pytest.mark.parametrize(
    ("counts", "key", "method"),
    [
        (TWO, "macro_f1", "posterior draws with Jeffreys' prior, 2000 draws"),
        (TWO, "mcc", "posterior draws with Jeffreys' prior, 2000 draws"),
        (THREE, "balanced_accuracy", "posterior draws with prior 1/K, 2000 draws"),
        (THREE, "cohen_kappa", "posterior draws with prior 1/K, 2000 draws"),
        (THREE, "macro_f1", "multinomial bootstrap, shifted, 2000 replicates"),
        (
            THREE,
            "macro_f1_strict",
            "multinomial bootstrap, shifted, 2000 replicates",
        ),
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


def test_a_shift_moves_resamples_by_twice_their_bias() -> None:
    values = np.array([0.70, 0.74, np.nan, 0.78])

    found = shifted(values, np.asarray(0.76))

    np.testing.assert_allclose(found, [0.74, 0.78, np.nan, 0.82])
