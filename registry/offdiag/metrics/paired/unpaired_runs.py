"""Test of aggregates of two runs on different samples, whose variances add up."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.intervals.bounds import smallest_class
from offdiag.metrics.intervals.delta import SidedErrors, aggregate_gradients, errors_of_moves
from offdiag.metrics.paired import proportions
from offdiag.metrics.paired.simultaneous_tests import (
    ROUNDING,
    JointTest,
    Statistic,
    pooled_matrix,
    statistics_of,
    tested_statistics,
)
from offdiag.metrics.paired.unseen_hits import with_unseen_hits

CELL_AXIS = -1
"""Axis of slopes (Q, m) along which the cell changes."""


def value_covariance(matrix: ConfusionMatrix, gradients: Mapping[str, Gradient]) -> Floats:
    """First-order covariance of the metrics of one non-empty matrix, one row for each metric.

    (sum q g h - sum q g sum q h)/N over cell shares q. The covariances of unpaired runs add up.
    Where a metric cannot vary but for rounding, they are exactly 0.
    """
    if not gradients:
        return np.empty((0, 0))
    actual, predicted = np.nonzero(matrix.counts)
    shares = matrix.counts[actual, predicted] / matrix.total
    with np.errstate(invalid="ignore"):
        slopes = np.stack([gradient.at(actual, predicted) for gradient in gradients.values()])
        centred = slopes - (slopes @ shares)[:, np.newaxis]
        smallest = ROUNDING * np.abs(slopes).max(axis=CELL_AXIS, keepdims=True)
        centred[np.abs(centred) <= smallest] = 0.0
        found: Floats = np.inner(centred * shares, centred) / matrix.total
    return found


def unpaired_statistics(
    first: ConfusionMatrix,
    second: ConfusionMatrix,
    gradients: Mapping[str, Gradient],
    differences: Mapping[str, float],
    own_errors: Mapping[str, SidedErrors] = MappingProxyType({}),
) -> dict[str, Statistic]:
    """The statistics for runs on different samples, whose variances add up.

    The linear part is the sum over the cells of slope times difference of shares. The variance is
    that of each run at its own matrix, or at the matrix of both together if that is larger: a run
    without errors, or with nothing but errors, would have none, and with ten samples per run one
    run is called better twice as often as allowed.
    """
    apart = np.diagonal(value_covariance(first, gradients) + value_covariance(second, gradients))
    together = np.diagonal(unpaired_covariance(first, second, gradients))
    actual, predicted = np.nonzero(first.counts + second.counts)
    gained = (
        second.counts[actual, predicted] / second.total
        - first.counts[actual, predicted] / first.total
    )
    with np.errstate(invalid="ignore"):
        linear = [gradient.at(actual, predicted) @ gained for gradient in gradients.values()]
        # If both together do not vary, neither does each alone.
        errors = np.where(together != 0, np.sqrt(np.maximum(apart, together)), 0.0)
    return statistics_of(differences, gradients, np.array(linear), errors, own_errors)


def unpaired_errors(
    first: ConfusionMatrix,
    second: ConfusionMatrix,
    own: tuple[Mapping[str, Gradient], Mapping[str, Gradient]],
) -> dict[str, SidedErrors]:
    """Errors of differences by the slopes `own` of each run at its own matrix, shape ().

    The distances of the ends of both runs add up in squares, as those of unseen hits do. Shares of
    right predictions have the same slopes everywhere, so they need none.
    """
    sides = []
    for sign, matrix, gradients in zip((-1, 1), (first, second), own, strict=True):
        cells = np.nonzero(matrix.counts)
        shares = matrix.counts[cells] / matrix.total
        with np.errstate(invalid="ignore"):
            moved = {
                key: sign * gradient.at(*cells)
                for key, gradient in gradients.items()
                if key not in proportions.AGGREGATE
            }
        sides.append(
            {key: errors_of_moves(each, shares, 1 / matrix.total) for key, each in moved.items()}
        )
    before, after = sides
    return {key: each.joined(after[key]) for key, each in before.items()}


def unpaired_covariance(
    first: ConfusionMatrix, second: ConfusionMatrix, gradients: Mapping[str, Gradient]
) -> Floats:
    """Covariance of the differences of metrics, assuming that both runs equal the pooled one."""
    pooled = pooled_matrix((first, second))
    times = pooled.total / first.total + pooled.total / second.total
    return times * value_covariance(pooled, gradients)


def judge_unpaired(
    first: ConfusionMatrix,
    second: ConfusionMatrix,
    differences: Mapping[str, float],
    *,
    confidence: float = 0.95,
) -> JointTest:
    """The test for runs on different samples, at least one each, whose covariances add up."""
    gradients = aggregate_gradients(pooled_matrix((first, second)), differences, n_runs=2)
    own = aggregate_gradients(first, gradients), aggregate_gradients(second, gradients)
    own_errors = with_unseen_hits(
        unpaired_errors(first, second, own),
        (first, second),
        own,
        (first.actual, second.actual),
        None,
    )
    statistics = unpaired_statistics(first, second, gradients, differences, own_errors)
    tested = tested_statistics(statistics)
    taking_part = {key: gradients[key] for key in tested}
    covariance = unpaired_covariance(first, second, taking_part)
    smallest = np.minimum(smallest_class(first.actual), smallest_class(second.actual))
    return JointTest(statistics, tested, covariance, smallest, confidence_level(confidence))
