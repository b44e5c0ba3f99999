"""The delta method: gradients against closed forms, and its limits."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.delta import (
    aggregate_gradients,
    aggregate_standard_errors,
    normal_bounds,
    standard_error,
)
from offdiag.metrics.suite import AGGREGATE_KEYS
from support.matrices import matrix_of

COUNTS = np.array([[19, 2, 4], [3, 30, 1], [5, 6, 12]])


def test_the_error_of_accuracy_is_that_of_a_proportion() -> None:
    matrix = matrix_of(COUNTS)
    p, n = np.trace(COUNTS) / COUNTS.sum(), COUNTS.sum()

    errors = aggregate_standard_errors(
        matrix, aggregate_gradients(matrix, ("overall_accuracy", "error_rate"))
    )

    assert errors["overall_accuracy"] == pytest.approx(np.sqrt(p * (1 - p) / n), rel=1e-13)
    assert errors["error_rate"] == pytest.approx(errors["overall_accuracy"], rel=1e-13)


def test_slopes_are_the_same_by_codes_of_any_integer_type() -> None:
    matrix = matrix_of(COUNTS, ordinal=True)
    gradients = aggregate_gradients(matrix, AGGREGATE_KEYS)
    signed = np.indices((3, 3))

    for key, gradient in gradients.items():
        for unsigned in (np.uint8, np.uint16, np.uint32):
            assert (
                gradient.at(*signed.astype(unsigned)).tolist() == gradient.at(*signed).tolist()
            ), key


def test_classes_and_cells_that_never_occur_change_nothing() -> None:
    wide = np.zeros((5, 5), np.int64)
    wide[np.ix_([0, 2, 4], [0, 2, 4])] = COUNTS
    keys = ("macro_f1", "mcc", "mutual_information", "cohen_kappa", "macro_recall_defined")

    errors, padded = (
        aggregate_standard_errors(matrix, aggregate_gradients(matrix, keys))
        for matrix in (matrix_of(COUNTS), matrix_of(wide))
    )

    for key in keys:
        assert padded[key] == pytest.approx(errors[key], rel=1e-12)


def test_slopes_of_empty_cells_take_no_part() -> None:
    slopes = np.array([1.0, np.inf, np.nan, 3.0])
    cells = np.array([0.5, 0.0, 0.0, 0.5])

    assert standard_error(slopes, cells, n_samples=4) == pytest.approx(0.5)


def test_a_perfect_matrix_has_no_error_and_hence_no_bounds() -> None:
    matrix = matrix_of([[30, 0], [0, 20]])
    gradients = aggregate_gradients(matrix, ("mcc", "macro_f1"))
    errors = aggregate_standard_errors(matrix, gradients)

    for key in gradients:
        bounds = normal_bounds(key, np.array(1.0), errors[key], confidence=0.95)
        assert bounds.at() == (None, None)


@pytest.mark.parametrize(
    ("key", "value", "low", "high"),
    [
        ("macro_f1", 0.9, 0.312, 1.0),
        ("mcc", -0.8, -1.0, -0.212),
        ("mutual_information", 1.4, 0.812, 1.988),
        ("mutual_information", 0.1, 0.0, 0.688),
    ],
)
def test_bounds_stay_within_the_range_of_the_metric(
    key: str, value: float, low: float, high: float
) -> None:
    bounds = normal_bounds(key, np.array(value), np.array(0.3), confidence=0.95)

    assert bounds.low == pytest.approx(low, abs=1e-3)
    assert bounds.high == pytest.approx(high, abs=1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_undefined_value_has_no_bounds(value: float) -> None:
    assert normal_bounds("mcc", np.array(value), np.array(0.1), confidence=0.95).at() == (
        None,
        None,
    )


def test_weighted_kappas_need_an_order_for_a_gradient() -> None:
    declared = matrix_of(COUNTS)
    found = ConfusionMatrix(declared.counts, LabelSet.inferred_from(declared.labels.names))

    unordered = aggregate_gradients(found, ("kappa_linear",))["kappa_linear"]
    ordered = aggregate_gradients(declared, ("kappa_linear",))

    assert np.isnan(unordered.value)
    assert np.isfinite(ordered["kappa_linear"].value)
