"""What the prediction tells about the actual class, in nats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.classes import Classified
from offdiag.metrics.quantity import Quantity, as_float, cause, first_cause, fraction
from offdiag.metrics.tally import Tally, over_classes

LOWEST_EXCESS = 2.0**-53 - 1.0
"""The float64 next to -1, from above."""
CELLS_AT_A_TIME = 10_000
"""Cells worked on together, so that intermediate arrays stay in the cache."""


def mutual_information(m: Classified) -> Quantity:
    """sum c/N ln(c N / (t p)). Both products are exact, so independence gives exactly 0."""
    tally = m.tally
    n_matrices, n_classes = tally.actual.shape
    sums = np.zeros(n_matrices)
    for block in _slices(n_matrices, CELLS_AT_A_TIME // n_classes**2):
        for rows in _slices(n_classes, CELLS_AT_A_TIME // n_classes):
            sums[block] += _weighted_logarithms(
                tally.counts[block, rows],
                tally.actual[block, rows],
                tally.predicted[block],
                tally.total[block],
            )
    # Rounding may leave a sum of almost nothing just below zero.
    return fraction(np.maximum(sums, 0.0), tally.total, tally.no_cases)


def normalized_mutual_information(m: Classified) -> Quantity:
    """Mutual information over the mean entropy of the two margins."""
    tally = m.tally
    is_constant = (tally.n_actual_classes == 1) & (tally.n_predicted_classes == 1)
    undefined = first_cause(tally.no_cases, cause(Reason.CONSTANT_MARGIN, is_constant))
    of_actual, of_predicted = _entropies(tally)
    shared = m.aggregate["mutual_information"].or_zero()
    return fraction(2.0 * shared, of_actual + of_predicted, undefined).map(_at_most_one)


def _weighted_logarithms(
    cells: NDArray[Any], actual: NDArray[Any], predicted: NDArray[Any], total: NDArray[Any]
) -> NDArray[np.float64]:
    """sum c ln(c N / (t p)) over n actual classes of R matrices, shape (R,).

    `cells` has shape (R, n, K), `actual` (R, n), `predicted` (R, K) and `total` (R,).
    """
    cells = cells.astype(total.dtype, copy=False)
    expected = np.einsum("ra,rp->rap", actual, predicted)
    # The difference is exact, so next to independence, where the ratio is almost 1, its
    # logarithm keeps all digits. In an empty cell the excess is -1; there the bound makes the
    # logarithm finite, and it counts nothing.
    excess = as_float(cells * total[:, np.newaxis, np.newaxis] - expected)
    excess /= np.maximum(as_float(expected), 0.5)
    terms = np.log1p(np.maximum(excess, LOWEST_EXCESS, out=excess), out=excess)
    terms *= as_float(cells)
    return over_classes(terms.reshape(len(terms), -1))


def _slices(length: int, step: int) -> Iterator[slice]:
    step = max(1, step)
    return (slice(start, start + step) for start in range(0, length, step))


def _entropies(tally: Tally) -> NDArray[np.float64]:
    """Entropies of the actual and of the predicted margin, shape (2, R), 0 without cases."""
    margins = np.array((tally.actual, tally.predicted))
    cases, others = as_float(margins), as_float(tally.wide_total - margins)
    total = np.maximum(as_float(tally.wide_total), 0.5)
    # The share of a class that has almost all cases is known best from the others.
    logarithms = np.where(
        cases > others,
        np.log1p(-np.minimum(others / total, 0.5)),
        np.log(np.maximum(cases, 0.5) / total),
    )
    return -over_classes(cases / total * logarithms)


def _at_most_one(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(values, 1.0)
