"""Several runs on the same samples, and how far chance moves their metrics from each other.

With slope g at the pooled matrix, run j has the sum L_j of g[y_i, a_ij] over the samples i. The
covariance of these sums under "no difference" is G_jk, the sum of u_ij u_ik with
u_ij = g[y_i, a_ij] - g[y_i, y_i]: what all runs share does not move their differences, so
samples that all predict alike are passed over. Then G_jj + G_kk - 2 G_jk is the squared error of
two runs, as `pooled_slopes` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.dual import Floats, Gradient
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.pooled_slopes import ROUNDING, pooled_matrix

BLOCK = 8_192
"""Samples that are looked at together: slopes of 50 runs and 5 metrics fit into 16 MB."""
MOST_TABULATED = 1_024
"""Classes up to which slopes are looked up in a table of all cells."""
RUN_AXIS, SAMPLE_AXIS = 0, 1
"""Axes of predictions and slopes, shape (m, n)."""
FIRST_RUN_AXIS, SECOND_RUN_AXIS = 1, 2
"""Axes of counts by class and two runs, shape (C, m, m); the first also of slopes (Q, m, n)."""
LAST_AXIS = -1

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class RunSpread:
    """How far chance moves Q metrics of m equally good runs from each other.

    Of a difference, the run of the first axis minus that of the second, `linear` (Q, m, m) is
    what the slopes make of it and `errors` (Q, m, m) its standard error. `covariance` (Q m, Q m),
    metric by metric, is that of the metrics, up to what all runs share.
    """

    linear: Floats
    covariance: Floats
    errors: Floats


@dataclass(frozen=True)
class PairedRuns:
    """m runs on the same n samples, at least one of each.

    `actual` are the n class codes, `predictions` the n codes that each run predicts, all
    of unsigned integer types and below the number of labels.
    """

    actual: Codes
    predictions: tuple[Codes, ...]
    labels: LabelSet

    @property
    def n_runs(self) -> int:
        return len(self.predictions)

    @cached_property
    def matrices(self) -> tuple[ConfusionMatrix, ...]:
        size = len(self.labels)
        return tuple(
            ConfusionMatrix(count_pairs(self.actual, codes, n_classes=size), self.labels)
            for codes in self.predictions
        )

    @property
    def counted(self) -> tuple[ConfusionMatrix, ...]:
        """Everything counted about each run."""
        return self.matrices

    @cached_property
    def pooled(self) -> ConfusionMatrix:
        """The matrix of all runs together, at which slopes are taken."""
        return pooled_matrix(self.matrices)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The runs in an order that depends on what they predict alone, shape (m,)."""
        digests = [blake2b(np.ascontiguousarray(each).data).digest() for each in self.predictions]
        return np.array(sorted(range(self.n_runs), key=digests.__getitem__), np.intp)

    def is_right(self, run: int) -> NDArray[np.bool_]:
        """Which samples a run predicts right, (n,)."""
        return np.asarray(self.predictions[run] == self.actual)

    @cached_property
    def both_right(self) -> NDArray[np.int64]:
        """Samples of each class that two runs both predict right, shape (K, m, m)."""
        found = np.zeros((len(self.labels), self.n_runs, self.n_runs), np.int64)
        for actual, predicted in self.blocks():
            order = np.argsort(actual, kind="stable")
            classes, starts = np.unique(actual[order], return_index=True)
            # Sums of so few zeros and ones are exact in four bytes.
            right = (predicted == actual).astype(np.float32)[:, order]
            ends = [*starts.tolist()[1:], len(actual)]
            for code, start, end in zip(classes.tolist(), starts.tolist(), ends, strict=True):
                part = right[:, start:end]
                found[code] += np.inner(part, part).astype(np.int64)
        return found

    def spread(self, gradients: Mapping[str, Gradient]) -> RunSpread:
        """How chance moves the metrics with these gradients at the pooled matrix.

        Not finite where a gradient is not. One pass over the samples, in blocks.
        """
        if len(self.labels) == 2:
            return self._spread_of_two_classes(gradients)
        gains = [_gain(gradient, len(self.labels)) for gradient in gradients.values()]
        return spread_of_gains(self._gained(gains), len(gains), self.n_runs)

    def _gained(self, gains: Sequence[Callable[[Codes, Codes], Floats]]) -> Iterator[Floats]:
        """What each run gains on samples that not all predict alike, (Q, m, b) of a block."""
        for actual, predicted in self.blocks():
            differs = (predicted != predicted[:1]).any(axis=RUN_AXIS)
            at = actual[differs], predicted[:, differs]
            yield np.stack([gain(*at) for gain in gains]) / len(self.actual)

    def _spread_of_two_classes(self, gradients: Mapping[str, Gradient]) -> RunSpread:
        """A prediction is right or wrong: what is right in both runs is all there is to count."""
        code = np.arange(2)
        gained = [each.at(code, code) - each.at(code, 1 - code) for each in gradients.values()]
        with np.errstate(invalid="ignore"):
            return _from_counts(self.both_right, np.stack(gained) / len(self.actual))

    def blocks(self) -> Iterator[tuple[Codes, Codes]]:
        """Actual codes (b,) and predicted ones (m, b) of up to `BLOCK` samples at a time."""
        for start in range(0, len(self.actual), BLOCK):
            part = slice(start, start + BLOCK)
            yield self.actual[part], np.stack([each[part] for each in self.predictions])


def spread_of_gains(gained: Iterable[Floats], n_metrics: int, n_runs: int) -> RunSpread:
    """From what each sample adds to each metric of each run, blocks of shape (Q, m, b)."""
    linear = np.zeros((n_metrics, n_runs))
    covariance = np.zeros((n_metrics * n_runs, n_metrics * n_runs))
    for block in gained:
        linear += block.sum(axis=LAST_AXIS)
        columns = block.reshape(n_metrics * n_runs, -1)
        covariance += np.inner(columns, columns)
    return RunSpread(differences(linear), covariance, difference_errors(covariance, n_runs))


def spread_of_recall(
    both_right: NDArray[np.int64], cases: NDArray[np.int64]
) -> tuple[RunSpread, ...]:
    """Of the recall of each class or label, for each alone; NaN for one without samples.

    `both_right` (K, m, m) counts the samples of each that two runs both find, of `cases` (K,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return tuple(
            _from_counts(both[np.newaxis], np.array([[np.divide(1.0, total)]]))
            for both, total in zip(both_right, cases, strict=True)
        )


def differences(values: Floats) -> Floats:
    """Each run minus each other one, (Q, m, m) of values (Q, m)."""
    return values[:, :, np.newaxis] - values[:, np.newaxis, :]


def difference_errors(covariance: Floats, n_runs: int) -> Floats:
    """Standard errors (Q, m, m) of differences within each metric; rounding is 0."""
    n_metrics = len(covariance) // n_runs
    blocks = covariance.reshape(n_metrics, n_runs, n_metrics, n_runs)
    errors = np.empty((n_metrics, n_runs, n_runs))
    for metric in range(n_metrics):
        within = blocks[metric, :, metric]
        variances = np.diagonal(within)
        sums = variances[:, np.newaxis] + variances
        squared = sums - 2.0 * within
        errors[metric] = np.sqrt(np.where(squared <= ROUNDING * sums, 0.0, squared))
    return errors


def _gain(gradient: Gradient, n_classes: int) -> Callable[[Codes, Codes], Floats]:
    """What predictions (m, n) gain over the right class (n,), by the slopes of a metric."""

    def of_codes(actual: Codes, predicted: Codes) -> Floats:
        with np.errstate(invalid="ignore"):
            return gradient.at(actual[np.newaxis], predicted) - gradient.at(actual, actual)

    if n_classes > MOST_TABULATED:
        return of_codes
    codes = np.arange(n_classes, dtype=np.uint16)
    rows, columns = np.meshgrid(codes, codes, indexing="ij")
    table = np.empty((n_classes, n_classes))
    with np.errstate(invalid="ignore"):
        table[:] = gradient.at(rows, columns)
        table -= np.diagonal(table)[:, np.newaxis].copy()

    def of_table(actual: Codes, predicted: Codes) -> Floats:
        return table.ravel().take(actual.astype(np.int64) * n_classes + predicted)

    return of_table


def _from_counts(both_right: NDArray[np.int64], gained: Floats) -> RunSpread:
    """From samples right in both runs by class (C, m, m), and what a right one gains (Q, C)."""
    n_metrics, n_runs = len(gained), both_right.shape[LAST_AXIS]
    right = np.diagonal(both_right, axis1=FIRST_RUN_AXIS, axis2=SECOND_RUN_AXIS)
    covariance = np.einsum("qc,pc,cjk->qjpk", gained, gained, both_right.astype(np.float64))
    apart = right[:, :, np.newaxis] + right[:, np.newaxis, :] - 2 * both_right
    errors = np.sqrt(np.einsum("qc,cjk->qjk", gained**2, apart))
    covariance = covariance.reshape(n_metrics * n_runs, n_metrics * n_runs)
    return RunSpread(differences(gained @ right), covariance, errors)
