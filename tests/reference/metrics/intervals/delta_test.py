"""Standard errors and coverage of the delta method."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from statsmodels.stats.inter_rater import cohens_kappa

from offdiag.metrics.intervals.delta import aggregate_gradients, aggregate_standard_errors
from offdiag.metrics.suite import evaluate_stack
from support.matrices import matrix_of

LECTURE = np.array([[72, 6, 2], [8, 6, 1], [2, 1, 2]]) / 100
BALANCED = (np.full((3, 3), 0.1) + 0.7 * np.eye(3)) / 3


def macro_f1_coverage(cells: NDArray[np.float64], n_samples: int, *, draws: int = 800) -> float:
    """Share of samples whose 95 % interval of macro F1 holds the true value."""
    rng = np.random.default_rng(1)
    many = (cells * 10**9).astype(np.int64)
    truth = float(evaluate_stack(many, ordinal=False).aggregate["macro_f1"].value)
    covered = 0
    for sample in rng.multinomial(n_samples, cells.ravel(), size=draws):
        matrix = matrix_of(sample.reshape(cells.shape))
        gradients = aggregate_gradients(matrix, ("macro_f1",))
        error = float(aggregate_standard_errors(matrix, gradients)["macro_f1"])
        covered += abs(gradients["macro_f1"].value - truth) <= 1.96 * error
    return covered / draws


@pytest.mark.parametrize(
    ("key", "weights"),
    [("cohen_kappa", None), ("kappa_linear", "linear"), ("kappa_quadratic", "quadratic")],
)
def test_errors_of_kappas_are_those_of_statsmodels(key: str, weights: str | None) -> None:
    # The figures of Fleiss, Cohen and Everitt (1969) for the wine data and a random table.
    tables = [
        np.array([[8, 3, 8], [1, 17, 3], [5, 2, 7]]),
        np.random.default_rng(0).integers(1, 30, (5, 5)),
    ]
    for table in tables:
        matrix = matrix_of(table, ordinal=True)

        found = aggregate_standard_errors(matrix, aggregate_gradients(matrix, (key,)))[key]

        oracle = cohens_kappa(table, wt=weights, return_results=True)
        assert found == pytest.approx(oracle.std_kappa, rel=1e-10)


@pytest.mark.parametrize(
    ("cells", "n_samples", "coverage"),
    [
        (BALANCED, 200, 0.95),
        (BALANCED, 1000, 0.955),
        (LECTURE, 50, 0.70),
        (LECTURE, 100, 0.84),
        (LECTURE, 1000, 0.935),
    ],
    ids=["balanced 200", "balanced 1000", "lecture 50", "lecture 100", "lecture 1000"],
)
def test_coverage_of_macro_f1_is_nominal_only_with_enough_cases_in_every_class(
    cells: NDArray[np.float64], n_samples: int, coverage: float
) -> None:
    assert macro_f1_coverage(cells, n_samples) == pytest.approx(coverage, abs=0.03)
