"""Mutual information: what the prediction says about the actual class, in nats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import Reason
from offdiag.metrics.aggregates.classified import AggregateMetric, Classified
from offdiag.metrics.gradients import Cells, Floats, Gradient, margin_shares
from offdiag.metrics.quantity import Quantity, as_float, at_most_one, cause, first_cause, fraction
from offdiag.metrics.spec import BOTH_ROLES_ALIKE, NO_SAMPLES
from offdiag.metrics.tally import Tally, over_classes

LOWEST_EXCESS = 2.0**-53 - 1.0
"""The smallest float64 above -1."""

CELLS_AT_A_TIME = 10_000
"""Cells processed together, so that intermediate arrays stay in the cache."""


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
    return fraction(np.maximum(sums, 0.0), tally.total, tally.no_samples)


def _mutual_information_gradient(matrix: Cells) -> Gradient:
    """I = sum q ln q - sum t ln t - sum p ln p over cells q and margins t, p."""
    actual, predicted = margin_shares(matrix)
    cells = matrix.counts / matrix.total
    value = _sum_x_log_x(cells) - _sum_x_log_x(actual) - _sum_x_log_x(predicted)
    return Gradient(
        value,
        np.zeros(matrix.n_classes),
        -_log_or_zero(actual),
        -_log_or_zero(predicted),
        lambda i, j: np.log(matrix.counts[i, j] / matrix.total),
    )


def normalized_mutual_information(m: Classified) -> Quantity:
    """Mutual information over the mean entropy of the two margins."""
    tally = m.tally
    is_constant = (tally.n_actual_classes == 1) & (tally.n_predicted_classes == 1)
    undefined = first_cause(tally.no_samples, cause(Reason.CONSTANT_MARGIN, is_constant))
    of_actual, of_predicted = _entropies(tally)
    shared = m.aggregate["mutual_information"].or_zero()
    return fraction(2.0 * shared, of_actual + of_predicted, undefined).map(at_most_one)


def _normalized_mutual_information_gradient(matrix: Cells) -> Gradient:
    """2 I / (H_t + H_p): slope 2/H of I, and I/H (2 ln t + 2 ln p)/H of the entropies."""
    actual, predicted = margin_shares(matrix)
    information = _mutual_information_gradient(matrix)
    entropies = -_sum_x_log_x(actual) - _sum_x_log_x(predicted)
    value = np.divide(2.0 * information.value, entropies)
    of_information, of_entropy = np.divide(2.0, entropies), np.divide(value, entropies)
    cell_term = information.cell_term
    return Gradient(
        float(value),
        information.hits,
        of_information * information.actual + of_entropy * _log_or_zero(actual),
        of_information * information.predicted + of_entropy * _log_or_zero(predicted),
        None if cell_term is None else lambda i, j: of_information * cell_term(i, j),
    )


def _weighted_logarithms(
    cells: NDArray[Any], actual: NDArray[Any], predicted: NDArray[Any], total: NDArray[Any]
) -> NDArray[np.float64]:
    """sum c ln(c N / (t p)) over n actual classes of R matrices, shape (R,).

    `cells` has shape (R, n, K), `actual` (R, n), `predicted` (R, K) and `total` (R,).
    """
    cells = cells.astype(total.dtype, copy=False)
    expected = np.einsum("ra,rp->rap", actual, predicted)
    # The difference is exact, so near independence, where the ratio is almost 1, its
    # logarithm keeps all digits. In an empty cell the excess is -1; there the bound makes the
    # logarithm finite, and it is multiplied by 0.
    excess = as_float(cells * total[:, np.newaxis, np.newaxis] - expected)
    excess /= np.maximum(as_float(expected), 0.5)
    terms = np.log1p(np.maximum(excess, LOWEST_EXCESS, out=excess), out=excess)
    terms *= as_float(cells)
    return over_classes(terms.reshape(len(terms), -1))


def _slices(length: int, step: int) -> Iterator[slice]:
    step = max(1, step)
    return (slice(start, start + step) for start in range(0, length, step))


def _entropies(tally: Tally) -> NDArray[np.float64]:
    """Entropies of the actual and of the predicted margin, shape (2, R), 0 without samples."""
    margins = np.array((tally.actual, tally.predicted))
    cases, others = as_float(margins), as_float(tally.wide_total - margins)
    total = np.maximum(as_float(tally.wide_total), 0.5)
    # The share of a class that has almost all samples is most precise as 1 less the others.
    logarithms = np.where(
        cases > others,
        np.log1p(-np.minimum(others / total, 0.5)),
        np.log(np.maximum(cases, 0.5) / total),
    )
    return -over_classes(cases / total * logarithms)


def _log_or_zero(shares: Floats) -> Floats:
    return np.log(np.where(shares > 0, shares, 1.0))


def _sum_x_log_x(shares: Floats) -> float:
    return float((shares * _log_or_zero(shares)).sum())


_NOISE_ADDS = (
    "Two classes: draws from the posterior with Jeffreys' prior. More classes: None, because "
    "noise increases the value by about (K - 1)^2 / (2 n) nats for K classes and n examples."
)

SPECS: tuple[AggregateMetric, ...] = (
    AggregateMetric(
        key="mutual_information",
        compute=mutual_information,
        gradient=_mutual_information_gradient,
        title="Mutual information",
        symbol="I",
        formula="sum c_ij / N ln(c_ij N / (t_i p_j)), in nats",
        high=math.inf,
        source="Shannon 1948, Bell System Technical Journal 27(3), 379-423",
        interval=_NOISE_ADDS,
        undefined_when=NO_SAMPLES,
        other_names={
            "scikit-learn": "mutual_info_score",
            "PyCM": "Mutual Information (in bits)",
        },
        notes="How much a prediction reveals about the actual class, whatever it is called: a "
        "classifier that swaps the classes consistently scores as high as a perfect one.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
    AggregateMetric(
        key="normalized_mutual_information",
        compute=normalized_mutual_information,
        gradient=_normalized_mutual_information_gradient,
        title="Normalised mutual information",
        symbol="NMI",
        formula="2 I / (H(actual) + H(predicted))",
        source="Vinh et al. 2010, Journal of Machine Learning Research 11, 2837-2854 (sum)",
        interval=_NOISE_ADDS,
        undefined_when=NO_SAMPLES
        | {Reason.CONSTANT_MARGIN: "only one class has examples and only one is predicted"},
        other_names={"scikit-learn": "normalized_mutual_info_score (1 where undefined)"},
        notes="Like mutual information, it does not depend on which prediction stands for which "
        "class.",
        symmetry=BOTH_ROLES_ALIKE,
    ),
)
