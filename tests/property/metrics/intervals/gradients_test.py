"""Every gradient is the slope of the suite itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from offdiag.metrics.intervals.delta import aggregate_gradients, class_gradients
from offdiag.metrics.intervals.suite import WITHOUT_INTERVAL
from offdiag.metrics.suite import AGGREGATE_KEYS, PER_CLASS_KEYS, evaluate_stack
from support.matrices import matrix_of

SCALE = 10**9
STEP = 10**6
"""Cases added to one cell when each case stands for `SCALE`: a share of 1e-3 of a case."""

MATRICES = st.integers(2, 4).flatmap(
    lambda k: arrays(np.int64, (k, k), elements=st.integers(1, 60))
)


def slopes_of_suite(counts: NDArray[np.int64], keys: list[str]) -> dict[str, NDArray[np.float64]]:
    """Central differences of the suite at each cell, (K, K) or (K, K, K), class last."""
    size = len(counts)
    changes = np.eye(size * size, dtype=np.int64).reshape(-1, size, size) * STEP
    above = evaluate_stack(counts * SCALE + changes, ordinal=True)
    below = evaluate_stack(counts * SCALE - changes, ordinal=True)
    share = 2 * STEP / (SCALE * counts.sum())
    found = {}
    for key in keys:
        group = "aggregate" if key in AGGREGATE_KEYS else "per_class"
        higher, lower = (getattr(suite, group)[key].value for suite in (above, below))
        found[key] = ((higher - lower) / share).reshape(size, size, *higher.shape[1:])
    return found


def centred(slopes: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slopes less their mean: a constant over the cells has no part in a variance."""
    mean: NDArray[np.float64] = np.einsum("ij,ij...->...", shares, slopes)
    return slopes - mean


@settings(max_examples=25, deadline=None)
@given(MATRICES)
def test_gradients_of_aggregates_are_slopes_of_the_suite(counts: NDArray[np.int64]) -> None:
    keys = [key for key in AGGREGATE_KEYS if key not in WITHOUT_INTERVAL]
    matrix, shares = matrix_of(counts, ordinal=True), counts / counts.sum()
    suite = evaluate_stack(counts, ordinal=True).aggregate

    gradients = aggregate_gradients(matrix, keys)

    assert set(gradients) == set(keys)
    numeric = slopes_of_suite(counts, keys)
    for key, gradient in gradients.items():
        if not suite[key].is_defined:
            continue
        assert gradient.value == pytest.approx(float(suite[key].value), rel=1e-9, abs=1e-12), key
        exact = centred(gradient.at(*np.indices(counts.shape)), shares)
        assert exact == pytest.approx(
            centred(numeric[key], shares), rel=1e-3, abs=1e-4 * (1 + np.abs(exact).max())
        ), key


@settings(max_examples=25, deadline=None)
@given(MATRICES)
def test_gradients_of_class_metrics_are_slopes_of_the_suite(counts: NDArray[np.int64]) -> None:
    keys = [key for key in PER_CLASS_KEYS if key not in WITHOUT_INTERVAL]
    size, shares = len(counts), counts / counts.sum()
    suite = evaluate_stack(counts, ordinal=True).per_class

    duals = class_gradients(matrix_of(counts), keys)

    numeric = slopes_of_suite(counts, keys)
    actual, predicted = np.indices((size, size))
    for key, dual in duals.items():
        assert dual.value == pytest.approx(suite[key].value, rel=1e-9, abs=1e-12), key
        for code in range(size):
            # Outcome of each cell for this class: tp, fn, fp or tn.
            outcome = 2 * (actual != code) + (predicted != code)
            exact = centred(dual.slope[outcome, code], shares)
            assert exact == pytest.approx(
                centred(numeric[key][..., code], shares),
                rel=1e-3,
                abs=1e-4 * (1 + np.abs(exact).max()),
            ), key
