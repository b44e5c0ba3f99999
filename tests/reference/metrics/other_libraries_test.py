"""Single values against imbalanced-learn, statsmodels and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score, specificity_score
from numpy.typing import NDArray
from scipy.stats import binomtest

from offdiag.metrics.suite import Suite, evaluate_stack
from support.published_matrices import ALWAYS_NEGATIVE, EXERCISE, THREE_CLASSES, WINE

PUBLISHED = [np.array(matrix) for matrix in (WINE, THREE_CLASSES, EXERCISE, ALWAYS_NEGATIVE)]


def cases(matrix: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    actual, predicted = np.indices(matrix.shape)
    return np.repeat(actual.ravel(), matrix.ravel()), np.repeat(predicted.ravel(), matrix.ravel())


def suite(matrix: NDArray[np.int64]) -> Suite:
    return evaluate_stack(matrix, ordinal=True)


@pytest.mark.parametrize("matrix", PUBLISHED)
def test_imbalanced_learn_knows_the_same_geometric_mean(matrix: NDArray[np.int64]) -> None:
    expected = geometric_mean_score(*cases(matrix), average="multiclass")

    assert suite(matrix).aggregate["gmean_multiclass"].at().value == pytest.approx(expected)


@pytest.mark.parametrize("matrix", PUBLISHED)
def test_imbalanced_learn_knows_the_same_specificity(matrix: NDArray[np.int64]) -> None:
    expected = specificity_score(*cases(matrix), average=None)

    np.testing.assert_allclose(suite(matrix).per_class["specificity"].value, expected)


@pytest.mark.parametrize("matrix", PUBLISHED)
@pytest.mark.parametrize("factor", [1, 7, 1000])
def test_scipy_knows_the_same_tail_of_the_binomial_distribution(
    matrix: NDArray[np.int64], factor: int
) -> None:
    counts = matrix * factor
    hits, total = int(np.diagonal(counts).sum()), int(counts.sum())
    largest = int(counts.sum(axis=1).max())

    expected = binomtest(hits, total, largest / total, alternative="greater").pvalue

    found = suite(counts).aggregate["nir_p_value"].at().value
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)
