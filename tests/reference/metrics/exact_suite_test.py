"""Every key of the suite against its definition, evaluated without rounding."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from support import exact_metrics
from support.exact_metrics import Exact
from support.published_matrices import (
    ALWAYS_NEGATIVE,
    COVID_TEST,
    EXERCISE,
    FIGURE,
    LOGISTIC_REGRESSION,
    SCREENING,
    THREE_CLASSES,
    WINE,
)

PUBLISHED = (
    *(WINE, COVID_TEST, LOGISTIC_REGRESSION, ALWAYS_NEGATIVE),
    *(THREE_CLASSES, FIGURE, SCREENING, EXERCISE),
)


def generated(n_classes: int, highest: int, how_many: int) -> Iterator[NDArray[np.int64]]:
    generator = np.random.default_rng([n_classes, highest % 2**32])
    for _ in range(how_many):
        yield generator.integers(0, highest, (n_classes, n_classes), endpoint=True)


def assert_equals_definition(
    matrix: NDArray[np.int64] | NDArray[np.float64], *, relative: float
) -> None:
    cells = [[Fraction(cell) for cell in row] for row in matrix.tolist()]
    suite = evaluate_stack(matrix, ordinal=True)
    expected = exact_metrics.aggregate(cells)
    expected_by_class = exact_metrics.per_class(cells)
    assert set(AGGREGATE_KEYS) - set(expected) == set(), "define them in support/exact_metrics.py"
    assert set(expected) - set(AGGREGATE_KEYS) == set()
    assert set(PER_CLASS_KEYS) - set(expected_by_class) == set(), "define them there, too"
    assert set(expected_by_class) - set(PER_CLASS_KEYS) == set()
    for key, exact in expected.items():
        if key != "nir_p_value" or exact is not None:
            assert_equal(suite.aggregate[key].at().value, exact, relative, key)
    for key, exact_values in expected_by_class.items():
        for code, exact in enumerate(exact_values):
            assert_equal(suite.per_class[key].at(code).value, exact, relative, key)


def assert_equal(found: float | None, exact: Exact, relative: float, key: str) -> None:
    if exact is None or found is None:
        assert found is None, key
        assert exact is None, key
    else:
        # Values near zero are differences of values near one.
        assert found == pytest.approx(float(exact), rel=relative, abs=relative), key


@pytest.mark.parametrize("matrix", PUBLISHED)
def test_published_matrices(matrix: list[list[int]]) -> None:
    assert_equals_definition(np.array(matrix), relative=1e-14)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
@pytest.mark.parametrize("highest", [1, 2, 40])
def test_small_and_sparse_matrices(n_classes: int, highest: int) -> None:
    for matrix in generated(n_classes, highest, how_many=8):
        assert_equals_definition(matrix, relative=1e-13)


@pytest.mark.parametrize("highest", [10**7, 10**9, 10**13, 10**16])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_huge_counts(n_classes: int, highest: int) -> None:
    for matrix in generated(n_classes, highest, how_many=4):
        assert_equals_definition(matrix, relative=1e-13)


def test_a_dozen_rare_cases_beside_a_thousand_billion_others() -> None:
    for negatives in (10**12, 10**15, 10**16):
        matrix = np.array([[negatives, 7], [5, 8]])

        assert_equals_definition(matrix, relative=1e-13)


def test_sums_of_fractional_weights() -> None:
    generator = np.random.default_rng(9)
    for n_classes in (2, 3, 4):
        for _ in range(10):
            weights = generator.gamma(0.5, size=(n_classes, n_classes))
            weights *= generator.integers(0, 2, weights.shape)

            assert_equals_definition(weights, relative=1e-13)
