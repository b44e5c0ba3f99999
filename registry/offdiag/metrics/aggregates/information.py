"""What the prediction tells about the actual class, in nats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.classes import Classified
from offdiag.metrics.orientation import STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS
from offdiag.metrics.quantity import Quantity, as_float, cause, first_cause, fraction, quotient
from offdiag.metrics.tally import over_classes


def mutual_information(m: Classified) -> Quantity:
    """sum c/N ln(c N / (t p)). The two products are exact, so independence gives exactly 0."""
    return quotient(_information(m), m.tally.total, Reason.NO_CASES)


def normalized_mutual_information(m: Classified) -> Quantity:
    """Mutual information over the mean entropy of the two margins."""
    tally = m.tally
    is_constant = (tally.n_actual_classes <= 1) & (tally.n_predicted_classes <= 1)
    undefined = first_cause(
        cause(Reason.NO_CASES, tally.is_empty), cause(Reason.CONSTANT_MARGIN, is_constant)
    )
    entropies = _entropy(tally.actual, tally.total) + _entropy(tally.predicted, tally.total)
    return fraction(2.0 * _information(m), entropies, undefined).map(_at_most_one)


def _information(m: Classified) -> NDArray[np.float64]:
    """N times the mutual information, shape (R,)."""
    tally = m.tally
    counts = tally.counts.astype(tally.total.dtype, copy=False)
    expected = as_float(tally.actual[..., :, np.newaxis] * tally.predicted[..., np.newaxis, :])
    observed = as_float(counts * tally.total[..., np.newaxis, np.newaxis])
    is_empty = observed == 0
    # An empty cell adds nothing; a ratio of 1 makes its logarithm vanish.
    ratio = np.where(is_empty, 1.0, observed) / np.where(is_empty, 1.0, expected)
    terms = as_float(counts) * np.log(ratio)
    total: NDArray[np.float64] = terms.sum(axis=(STACK_ACTUAL_AXIS, STACK_PREDICTED_AXIS))
    # Rounding may leave a sum of almost nothing just below zero.
    return np.maximum(total, 0.0)


def _entropy(margin: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
    """N times the entropy of a margin, shape (R,)."""
    cases = as_float(margin)
    ratio = np.where(margin == 0, 1.0, as_float(total)[..., np.newaxis]) / np.where(
        margin == 0, 1.0, cases
    )
    summed: NDArray[np.float64] = over_classes(cases * np.log(ratio))
    return summed


def _at_most_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(values, 1.0)
