"""Gradients of the aggregates that depend on single cells: information and weighted kappas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.dual import Codes, Floats, Gradient


def _mutual_information(matrix: ConfusionMatrix) -> Gradient:
    """I = sum q ln q - sum t ln t - sum p ln p over cells q and margins t, p."""
    cells, actual, predicted = _shares(matrix)
    value = _sum_x_log_x(cells) - _sum_x_log_x(actual) - _sum_x_log_x(predicted)
    return Gradient(
        value,
        np.zeros(matrix.n_classes),
        -_log_or_zero(actual),
        -_log_or_zero(predicted),
        lambda i, j: np.log(cells[i, j]),
    )


def _normalized_mutual_information(matrix: ConfusionMatrix) -> Gradient:
    """2 I / (H_t + H_p): slope 2/H of I, and I/H (2 ln t + 2 ln p)/H of the entropies."""
    _, actual, predicted = _shares(matrix)
    information = _mutual_information(matrix)
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


def _kappa_linear(matrix: ConfusionMatrix) -> Gradient:
    return _weighted_kappa(matrix, lambda distance: distance, _mean_distance)


def _kappa_quadratic(matrix: ConfusionMatrix) -> Gradient:
    return _weighted_kappa(matrix, lambda distance: distance * distance, _mean_squared_distance)


def _weighted_kappa(
    matrix: ConfusionMatrix,
    disagreement: Callable[[Floats], Floats],
    mean_disagreement: Callable[[Floats], Floats],
) -> Gradient:
    """1 - D/E with D = sum w q and E = sum w t p, if the labels have an order."""
    cells, actual, predicted = _shares(matrix)
    rows, columns = np.nonzero(cells)

    def weight(i: Codes, j: Codes) -> Floats:
        return disagreement(np.abs(i - j).astype(np.float64))

    observed = float((weight(rows, columns) * cells[rows, columns]).sum())
    to_predicted = mean_disagreement(predicted)
    expected = float(actual @ to_predicted) if matrix.labels.has_declared_order else np.nan
    of_expected = np.divide(observed, expected**2)
    return Gradient(
        float(1.0 - np.divide(observed, expected)),
        np.zeros(matrix.n_classes),
        of_expected * to_predicted,
        of_expected * mean_disagreement(actual),
        lambda i, j: -weight(i, j) / expected,
    )


def _mean_distance(shares: Floats) -> Floats:
    """sum over j of |i - j| shares_j for every i, from two running sums."""
    place = np.arange(len(shares), dtype=np.float64)
    below, moment_below = np.cumsum(shares), np.cumsum(place * shares)
    mean: Floats = place * (2 * below - below[-1]) + moment_below[-1] - 2 * moment_below
    return mean


def _mean_squared_distance(shares: Floats) -> Floats:
    """sum over j of (i - j)^2 shares_j for every i."""
    place = np.arange(len(shares), dtype=np.float64)
    squares = place**2 * shares.sum() - 2 * place * (place @ shares)
    mean: Floats = squares + place**2 @ shares
    return mean


def _shares(matrix: ConfusionMatrix) -> tuple[Floats, Floats, Floats]:
    return (
        matrix.counts / matrix.total,
        matrix.actual / matrix.total,
        matrix.predicted / matrix.total,
    )


def _log_or_zero(shares: Floats) -> Floats:
    return np.log(np.where(shares > 0, shares, 1.0))


def _sum_x_log_x(shares: Floats) -> float:
    return float((shares * _log_or_zero(shares)).sum())


CELL_FORMULAS: Mapping[str, Callable[[ConfusionMatrix], Gradient]] = MappingProxyType(
    {
        "mutual_information": _mutual_information,
        "normalized_mutual_information": _normalized_mutual_information,
        "kappa_linear": _kappa_linear,
        "kappa_quadratic": _kappa_quadratic,
    }
)
