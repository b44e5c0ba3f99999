"""One test of "no difference" for every smooth metric of the confusion matrix.

What one more sample of actual class y gains a metric when it is predicted a, its slope, is taken
at the matrix of all compared runs together. A sample that both runs predict alike then adds
nothing, and under "no difference" the others are as likely to count for one run as for the
other: the variance of the sum of their moves is the sum of their squares, not centred. It is
the variance of the test that swaps the predictions of random samples, and for accuracy the
statistic is (c - b)/sqrt(b + c), the root of McNemar's chi-square (1947, Psychometrika 12, 153).

A bootstrap of a class with 20 samples underestimates the spread just where all of its few
discordant samples point one way; this does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.delta import class_gradients
from offdiag.metrics.intervals.gradients import Floats, Gradient
from offdiag.metrics.paired.joint import JointCounts

METHOD = "normal, pooled slopes"
"""Of intervals: the difference -+ a quantile x its standard error if there is no difference."""
NOTHING_COUNTS = "no sample on which the runs differ counts"
ROUNDING = 1e-12
"""Spreads below this share of the slopes they are made of are zeros that rounding blurred."""


def pooled_matrix(matrices: Sequence[ConfusionMatrix]) -> ConfusionMatrix:
    """The matrix of all runs together, at which slopes are taken; one matrix at least.

    `aggregate_gradients`, `class_gradient` and `cost_gradients` of it are the slopes.
    """
    counts = np.zeros_like(matrices[0].counts)
    for matrix in matrices:
        counts += matrix.counts
    return ConfusionMatrix(counts, matrices[0].labels)


def class_gradient(matrix: ConfusionMatrix, key: str, code: int) -> Gradient:
    """Slopes of a per-class metric of one class at every cell of a non-empty matrix.

    Value and slopes are not finite where the metric is undefined or has no derivative.
    """
    dual = class_gradients(matrix, (key,))[key]
    hit, missed, false_alarm, rejected = dual.slope[:, code]
    diagonal, actual, predicted = np.zeros((3, matrix.n_classes))
    # The cell of the other classes has slope 0; what is constant over all cells moves nothing.
    actual[code] = missed - rejected
    predicted[code] = false_alarm - rejected
    diagonal[code] = hit - missed - false_alarm + rejected
    return Gradient(float(dual.value[code]), diagonal, actual, predicted)


@dataclass(frozen=True, slots=True)
class Statistic:
    """How far a metric of the second run is from that of the first, in standard errors.

    `difference` is second minus first, NaN where undefined; `linear` is what the slopes make of
    it, `error` the standard error of `linear` if there is no difference.
    """

    difference: float
    linear: float
    error: float

    @property
    def t(self) -> float:
        """T, see `smaller_statistic`."""
        return float(smaller_statistic(self.difference, self.linear, self.error))

    def reach(self, critical: float) -> float | None:
        """Half the length of the interval of the difference that decides |T| > `critical`.

        `critical` errors where `difference` decides, longer where `linear` does. None where no
        interval agrees with the test: undefined, without error, or T = 0 with a difference.
        """
        t = self.t
        if not isfinite(t) or self.error == 0:
            return None
        if self.difference == 0:
            return critical * self.error
        return critical * abs(self.difference / t) if t else None


def smaller_statistic(
    difference: Floats | float, linear: Floats | float, error: Floats | float
) -> Floats:
    """T = difference / error or linear / error, whichever is nearer to 0; arrays broadcast.

    0 where their signs differ or `error` is 0, NaN where an argument is. With fewer than five
    samples in a class the metric is far from its linear part and either alone claims too much.
    """
    metric, sloped, spread = np.broadcast_arrays(*map(np.asarray, (difference, linear, error)))
    nearer = np.where(np.abs(metric) < np.abs(sloped), metric, sloped)
    agree = (np.sign(metric) == np.sign(sloped)) & (spread > 0)
    found: Floats = np.divide(nearer, spread, out=np.zeros(spread.shape), where=agree)
    found[np.isnan(metric) | np.isnan(sloped) | np.isnan(spread)] = np.nan
    return found


def moves(joint: JointCounts, gradients: Mapping[str, Gradient]) -> Floats:
    """What one sample of each triple moves each metric from the first run to the second.

    Shape (number of gradients, number of triples); the covariance of the sums is
    `np.inner(moves * counts, moves)`. Moves that are only rounding are 0.
    """
    found = np.empty((len(gradients), len(joint.counts)))
    with np.errstate(invalid="ignore"):
        for row, gradient in zip(found, gradients.values(), strict=True):
            before = gradient.at(joint.actual, joint.first)
            after = gradient.at(joint.actual, joint.second)
            size = np.abs(before) + np.abs(after)
            row[:] = np.where(np.abs(after - before) <= ROUNDING * size, 0.0, after - before)
    return found / joint.total


def paired_statistics(
    joint: JointCounts, gradients: Mapping[str, Gradient], differences: Mapping[str, float]
) -> dict[str, Statistic]:
    """The statistic of each metric of two runs on the same samples, at least one.

    `gradients` belong to the pooled matrix, `differences` are second minus first by the same
    keys, NaN where undefined.
    """
    moved = moves(joint, gradients)
    with np.errstate(invalid="ignore"):
        # Not a matrix product, whose last bits depend on which other metrics are in it.
        linear = np.einsum("qc,c->q", moved, joint.counts)
        error = np.sqrt(np.einsum("qc,c->q", moved**2, joint.counts))
    return {
        key: Statistic(differences[key], float(sloped), float(spread))
        for key, sloped, spread in zip(gradients, linear, error, strict=True)
    }


def value_covariance(matrix: ConfusionMatrix, gradients: Mapping[str, Gradient]) -> Floats:
    """First-order covariance of the metrics of one non-empty matrix, one row for each metric.

    (sum q g h - sum q g sum q h)/N over cell shares q. The covariances of unpaired runs add up.
    """
    actual, predicted = np.nonzero(matrix.counts)
    shares = matrix.counts[actual, predicted] / matrix.total
    with np.errstate(invalid="ignore"):
        slopes = np.stack([gradient.at(actual, predicted) for gradient in gradients.values()])
        centred = slopes - (slopes @ shares)[:, np.newaxis]
        found: Floats = np.inner(centred * shares, centred) / matrix.total
    return found


def unpaired_statistics(
    first: ConfusionMatrix,
    second: ConfusionMatrix,
    gradients: Mapping[str, Gradient],
    differences: Mapping[str, float],
) -> dict[str, Statistic]:
    """The same for runs on different samples: their variances add up.

    The linear part is the sum over the cells of slope times difference of shares.
    """
    covariance = value_covariance(first, gradients) + value_covariance(second, gradients)
    actual, predicted = np.nonzero(first.counts + second.counts)
    gained = (
        second.counts[actual, predicted] / second.total
        - first.counts[actual, predicted] / first.total
    )
    found = {}
    with np.errstate(invalid="ignore"):
        for place, (key, gradient) in enumerate(gradients.items()):
            linear = float(gradient.at(actual, predicted) @ gained)
            found[key] = Statistic(differences[key], linear, sqrt(covariance[place, place]))
    return found
