"""How far chance moves the metrics of several runs on the same samples from each other.

The contributions of samples to a metric (its slopes) are looked up, summed over pairs of runs, and
turned into the errors of all differences; `paired_runs` provides what is known about the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.paired.simultaneous_tests import ROUNDING, Statistic

MOST_TABULATED = 1_024
"""Classes up to which slopes are looked up in a table of all cells."""
FIRST_RUN_AXIS, SECOND_RUN_AXIS, LAST_AXIS = 1, 2, -1
"""Axes of counts by class and two runs, shape (C, m, m), and of slopes, (Q, m, n)."""

Codes = NDArray[np.unsignedinteger[Any]]
Slopes = Callable[[Codes, Codes], Floats]
"""Contribution to a metric of samples with actual (n,) and predicted codes (n,) or (m, n)."""


@dataclass(frozen=True)
class RunSpread:
    """How far chance moves Q metrics of m equally good runs from each other.

    For a difference, the run of the first axis minus that of the second, `linear` (Q, m, m) is
    its linear approximation by the slopes and `errors` (Q, m, m) its standard error; `own_errors`
    (Q, m, m) use the slopes of each run at its own matrix, and are 0 unless requested.
    `covariance` (Q m, Q m), metric by metric, is that of the metrics, up to what all runs share.
    """

    linear: Floats
    covariance: Floats
    errors: Floats
    own_errors: Floats

    def statistic(self, difference: float, at: tuple[int, int, int]) -> Statistic:
        """The statistic of a difference at the positions of its metric and runs."""
        found = (float(each[at]) for each in (self.linear, self.errors, self.own_errors))
        return Statistic(difference, *found)


def spread_of_gains(
    gained: Iterable[tuple[Floats, Floats]], n_metrics: int, n_runs: int
) -> RunSpread:
    """The spread from the contributions of samples to each metric of each run, (Q, m, b) blocks.

    Each block is given for all samples of a kind together, and for one sample.
    """
    linear = np.zeros((n_metrics, n_runs))
    covariance = np.zeros((n_metrics * n_runs, n_metrics * n_runs))
    shape = n_metrics * n_runs, -1
    for together, single in gained:
        linear += together.sum(axis=LAST_AXIS)
        covariance += np.inner(together.reshape(shape), single.reshape(shape))
    return spread_of(linear, covariance, difference_errors(covariance, n_runs))


def covariance_of_slopes(
    blocks: Iterable[tuple[Floats, NDArray[np.int64]]], n_runs: int, *, n_samples: int
) -> Floats:
    """First-order covariance (m, m) of the values of runs.

    Computed from slopes (m, b) of each run at its own matrix, and samples per slope, (b,).
    """
    sums, products = np.zeros(n_runs), np.zeros((n_runs, n_runs))
    for slopes, counts in blocks:
        weighed = slopes * counts
        sums += weighed.sum(axis=LAST_AXIS)
        products += np.inner(weighed, slopes)
    return _centred(products / n_samples, sums / n_samples) / n_samples


def spread_of_recall(
    both_right: NDArray[np.int64], cases: NDArray[np.int64]
) -> tuple[RunSpread, ...]:
    """The spread of the recall of each class or label, each alone; NaN if it has no samples.

    `both_right` (K, m, m) counts the samples of each that two runs both find, of `cases` (K,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return tuple(
            spread_of_counts(both[np.newaxis], np.array([[np.divide(1.0, total)]]))
            for both, total in zip(both_right, cases, strict=True)
        )


def differences(values: Floats) -> Floats:
    """Each run minus every other run, (Q, m, m), from values (Q, m)."""
    return values[:, :, np.newaxis] - values[:, np.newaxis, :]


def difference_errors(covariance: Floats, n_runs: int) -> Floats:
    """Standard errors (Q, m, m) of differences within each metric; rounding is 0."""
    n_metrics = len(covariance) // n_runs
    blocks = covariance.reshape(n_metrics, n_runs, n_metrics, n_runs)
    return np.stack([errors_within(blocks[at, :, at]) for at in range(n_metrics)])


def errors_within(covariance: Floats) -> Floats:
    """Standard errors of differences of one metric, (m, m)."""
    variances = np.diagonal(covariance)
    sums = variances[:, np.newaxis] + variances
    squared = sums - 2.0 * covariance
    return np.asarray(np.sqrt(np.where(squared <= ROUNDING * sums, 0.0, squared)))


def spread_of(linear: Floats, covariance: Floats, errors: Floats) -> RunSpread:
    """The spread from linear parts (Q, m), without the errors at the matrix of each run."""
    return RunSpread(differences(linear), covariance, errors, np.zeros(errors.shape))


def gain_of(gradient: Gradient, n_classes: int) -> Slopes:
    """What a prediction gains over the correct class, by the slopes of a metric."""

    def gain(actual: Codes, predicted: Codes) -> Floats:
        with np.errstate(invalid="ignore"):
            return gradient.at(actual[np.newaxis], predicted) - gradient.at(actual, actual)

    return gain if n_classes > MOST_TABULATED else tabulated(gain, n_classes)


def tabulated(slopes: Slopes, n_classes: int) -> Slopes:
    """The slopes, looked up in a table of all cells."""
    codes = np.arange(n_classes, dtype=np.uint16)
    table = slopes(np.repeat(codes, n_classes), np.tile(codes, n_classes)).ravel()

    def looked_up(actual: Codes, predicted: Codes) -> Floats:
        return table.take(actual.astype(np.int64) * n_classes + predicted)

    return looked_up


def covariance_of_two_classes(
    matrices: Sequence[ConfusionMatrix],
    both_right: NDArray[np.int64],
    gradients: Sequence[Gradient],
) -> Floats:
    """First-order covariance (m, m) of a metric, using that a prediction is right or wrong.

    Slopes are those of a wrong prediction plus the gain of a right one; slopes of cells that no
    sample is in do not count.
    """
    code = np.arange(2)
    counts = np.stack([matrix.counts for matrix in matrices])
    slopes = np.where(
        counts > 0, [each.at(code[:, np.newaxis], code[np.newaxis]) for each in gradients], 0.0
    )
    right, wrong = slopes[:, code, code], slopes[:, code, 1 - code]
    gained, n_right = right - wrong, counts[:, code, code]
    cases, n_samples = matrices[0].actual, matrices[0].total
    means = (wrong * cases + gained * n_right).sum(axis=LAST_AXIS) / n_samples
    products = np.inner(wrong * cases, wrong)
    products += np.inner(gained * n_right, wrong) + np.inner(wrong, gained * n_right)
    products += np.einsum("jc,kc,cjk->jk", gained, gained, both_right.astype(np.float64))
    return _centred(products / n_samples, means) / n_samples


def _centred(squares: Floats, means: Floats) -> Floats:
    """Covariances from mean products (m, m) and means (m,); mere rounding is exactly 0."""
    found: Floats = squares - np.outer(means, means)
    sizes = np.sqrt(np.diagonal(squares))
    found[np.abs(found) <= ROUNDING * np.outer(sizes, sizes)] = 0.0
    return found


def spread_of_counts(both_right: NDArray[np.int64], gained: Floats) -> RunSpread:
    """The spread from samples right in both runs by class (C, m, m), and gains (Q, C) if right."""
    n_metrics, n_runs = len(gained), both_right.shape[LAST_AXIS]
    right = np.diagonal(both_right, axis1=FIRST_RUN_AXIS, axis2=SECOND_RUN_AXIS)
    covariance = np.einsum("qc,pc,cjk->qjpk", gained, gained, both_right.astype(np.float64))
    apart = right[:, :, np.newaxis] + right[:, np.newaxis, :] - 2 * both_right
    errors = np.sqrt(np.einsum("qc,cjk->qjk", gained**2, apart))
    covariance = covariance.reshape(n_metrics * n_runs, n_metrics * n_runs)
    return spread_of(gained @ right, covariance, errors)
