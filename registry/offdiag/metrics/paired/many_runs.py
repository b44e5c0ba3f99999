"""Several runs on the same samples, and how far chance moves their metrics from each other.

With slope g at the pooled matrix, run j has the sum L_j of g[y_i, a_ij] over the samples i. The
covariance of these sums under "no difference" is G_jk, the sum of u_ij u_ik with
u_ij = g[y_i, a_ij] - g[y_i, y_i]: what all runs share does not move their differences, so
samples that all predict alike are passed over. Then G_jj + G_kk - 2 G_jk is the squared error of
two runs, as `simultaneous_tests` has it. With the slopes of each run at its own matrix, centred,
the same makes the error of their difference, which counts where it is larger.

Samples of one actual class that every run predicts alike are one kind. Everything here depends on
how many there are of each kind and not on single samples, so runs whose samples were only counted
give the same numbers as runs whose predictions are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.metrics.paired.simultaneous_tests import ROUNDING, Statistic, pooled_matrix

BLOCK = 8_192
"""Samples that are looked at together: slopes of 50 runs and 5 metrics fit into 16 MB."""
MOST_TABULATED = 1_024
"""Classes up to which slopes are looked up in a table of all cells."""
MOST_IN_EACH_RUN = 128
"""The same where each run has a table of its own."""
RUN_AXIS, SAMPLE_AXIS = 0, 1
"""Axes of predictions and slopes, shape (m, n)."""
CLASS_AXIS = 0
"""Axis of counts by class and two runs, shape (C, m, m), along which the class changes."""
FIRST_RUN_AXIS, SECOND_RUN_AXIS = 1, 2
"""Axes of counts by class and two runs, shape (C, m, m); the first also of slopes (Q, m, n)."""
LAST_AXIS = -1
LARGEST_KEY = 1 << 62
"""Numbers of kinds up to which a kind is one number of eight bytes."""
EXACT_SUMS = 1 << 24
"""Whole numbers up to this are exact in four bytes."""

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class RunSpread:
    """How far chance moves Q metrics of m equally good runs from each other.

    Of a difference, the run of the first axis minus that of the second, `linear` (Q, m, m) is
    what the slopes make of it and `errors` (Q, m, m) its standard error; `own_errors` (Q, m, m)
    are those by the slopes of each run at its own matrix, 0 unless they are asked for.
    `covariance` (Q m, Q m), metric by metric, is that of the metrics, up to what all runs share.
    """

    linear: Floats
    covariance: Floats
    errors: Floats
    own_errors: Floats

    def statistic(self, difference: float, at: tuple[int, int, int]) -> Statistic:
        """Of a difference by the positions of its metric and runs."""
        found = (float(each[at]) for each in (self.linear, self.errors, self.own_errors))
        return Statistic(difference, *found)


class RunsTogether(ABC):
    """m runs on the same samples, as their comparison needs them."""

    labels: LabelSet

    @property
    @abstractmethod
    def matrices(self) -> tuple[ConfusionMatrix, ...]: ...

    @property
    @abstractmethod
    def both_right(self) -> NDArray[np.int64]:
        """Samples of each class that two runs both predict right, shape (K, m, m)."""

    @abstractmethod
    def _spread_of_classes(self, gradients: Mapping[str, Gradient]) -> RunSpread: ...

    @abstractmethod
    def _own_covariance_of_classes(self, gradients: Sequence[Gradient]) -> Floats: ...

    @property
    def n_runs(self) -> int:
        return len(self.matrices)

    @property
    def n_samples(self) -> int:
        return self.matrices[0].total

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
        """The runs in an order that depends on what they predict alone, shape (m,).

        Not on the order of the samples either, but for runs with one matrix that are right as
        often as each other together with every other run.
        """
        by_matrix: dict[bytes, list[int]] = {}
        for at, matrix in enumerate(self.matrices):
            by_matrix.setdefault(matrix.counts.tobytes(), []).append(at)
        ordered = [by_matrix[key] for key in sorted(by_matrix)]
        # To count pairs takes longer than all else here, and runs with one matrix are rare.
        alike = [sorted(runs, key=self._pairs_key) if len(runs) > 1 else runs for runs in ordered]
        return np.array([at for runs in alike for at in runs], np.intp)

    def _pairs_key(self, run: int) -> tuple[list[bytes], bytes]:
        pairs = (self.both_right[:, run, other].tobytes() for other in range(self.n_runs))
        return sorted(pairs), self._digest(run)

    def _digest(self, run: int) -> bytes:  # noqa: ARG002
        """What tells runs apart that nothing else does."""
        return b""

    def spread(
        self, gradients: Mapping[str, Gradient], own: Sequence[Mapping[str, Gradient]] = ()
    ) -> RunSpread:
        """How chance moves the metrics with these gradients at the pooled matrix.

        Not finite where a gradient is not. `own` are those at the matrix of each run.
        """
        found = self._pooled_spread(gradients)
        if not own:
            return found
        errors = [
            errors_within(self.own_covariance([each[key] for each in own])) for key in gradients
        ]
        return replace(found, own_errors=np.stack(errors))

    def own_covariance(self, gradients: Sequence[Gradient]) -> Floats:
        """First-order covariance (m, m) of a metric, by its gradient at the matrix of each run."""
        with np.errstate(invalid="ignore"):
            if len(self.labels) > 2:
                return self._own_covariance_of_classes(gradients)
            return _covariance_of_two_classes(self.matrices, self.both_right, gradients)

    def _pooled_spread(self, gradients: Mapping[str, Gradient]) -> RunSpread:
        if len(self.labels) > 2:
            return self._spread_of_classes(gradients)
        # A prediction is right or wrong: what is right in both runs is all there is to count.
        code = np.arange(2)
        gained = [each.at(code, code) - each.at(code, 1 - code) for each in gradients.values()]
        with np.errstate(invalid="ignore"):
            return _from_counts(self.both_right, np.stack(gained) / self.n_samples)


@dataclass(frozen=True)
class PairedRuns(RunsTogether):
    """m runs on the same n samples, at least one of each.

    `actual` are the n class codes, `predictions` the n codes that each run predicts, all
    of unsigned integer types and below the number of labels. With `counts` (n,) each place
    stands for so many samples, at least one.
    """

    actual: Codes
    predictions: tuple[Codes, ...]
    labels: LabelSet
    counts: NDArray[np.int64] | None = None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many samples each place stands for, (n,)."""
        return np.ones(len(self.actual), np.int64) if self.counts is None else self.counts

    @cached_property
    def matrices(self) -> tuple[ConfusionMatrix, ...]:
        return tuple(
            ConfusionMatrix(self._cells(codes), self.labels) for codes in self.predictions
        )

    def _cells(self, predicted: Codes) -> NDArray[np.int64]:
        size = len(self.labels)
        if self.counts is None:
            return count_pairs(self.actual, predicted, n_classes=size)
        cells = np.zeros((size, size), np.int64)
        np.add.at(cells, (self.actual, predicted), self.counts)
        return cells

    def is_right(self, run: int) -> NDArray[np.bool_]:
        """Which samples a run predicts right, (n,)."""
        return np.asarray(self.predictions[run] == self.actual)

    def _digest(self, run: int) -> bytes:
        return blake2b(np.ascontiguousarray(self.predictions[run]).data).digest()

    @cached_property
    def kinds(self) -> PairedRuns:
        """The same runs by kinds of samples, which are in an order that depends on these alone."""
        return self.by_kinds(self.order.tolist())

    @cached_property
    def _unordered_kinds(self) -> PairedRuns:
        return self.by_kinds(range(self.n_runs))

    def by_kinds(self, order: Sequence[int]) -> PairedRuns:
        """One place for each kind, sorted by actual class and then by the runs in this order."""
        size = len(self.labels)
        key, n_keys = self.actual.astype(np.int64), size
        for run in order:
            if n_keys * size > LARGEST_KEY:
                known, key = np.unique(key, return_inverse=True)
                key, n_keys = key.reshape(-1).astype(np.int64), len(known)
            key = key * size + self.predictions[run]
            n_keys *= size
        _, first, places = np.unique(key, return_index=True, return_inverse=True)
        counts = np.zeros(len(first), np.int64)
        np.add.at(counts, places.reshape(-1), self.sizes)
        predictions = tuple(codes[first] for codes in self.predictions)
        return PairedRuns(self.actual[first], predictions, self.labels, counts)

    @cached_property
    def both_right(self) -> NDArray[np.int64]:
        found = np.zeros((len(self.labels), self.n_runs, self.n_runs), np.int64)
        for actual, predicted, counts in self._unordered_kinds.counted_blocks():
            order = np.argsort(actual, kind="stable")
            classes, starts = np.unique(actual[order], return_index=True)
            wide = np.float32 if int(counts.sum()) < EXACT_SUMS else np.float64
            right = (predicted == actual).astype(wide)[:, order]
            sizes = counts[order].astype(wide)
            ends = [*starts.tolist()[1:], len(actual)]
            for code, start, end in zip(classes.tolist(), starts.tolist(), ends, strict=True):
                part = right[:, start:end]
                found[code] += np.inner(part * sizes[start:end], part).astype(np.int64)
        return found

    def _spread_of_classes(self, gradients: Mapping[str, Gradient]) -> RunSpread:
        gains = [_gain(gradient, len(self.labels)) for gradient in gradients.values()]
        return spread_of_gains(self._gained(gains), len(gains), self.n_runs)

    def _gained(self, gains: Sequence[Slopes]) -> Iterator[tuple[Floats, Floats]]:
        """What each run gains on kinds that not all predict alike, (Q, m, b) of a block.

        First of all samples of a kind together, and then of one.
        """
        for actual, predicted, counts in self.kinds.counted_blocks():
            differs = (predicted != predicted[:1]).any(axis=RUN_AXIS)
            at = actual[differs], predicted[:, differs]
            gained = np.stack([gain(*at) for gain in gains]) / self.n_samples
            yield gained * counts[differs], gained

    def _own_covariance_of_classes(self, gradients: Sequence[Gradient]) -> Floats:
        size = len(self.labels)
        slopes = [
            each.at if size > MOST_IN_EACH_RUN else _tabulated(each.at, size) for each in gradients
        ]
        blocks = (
            (
                np.stack(
                    [each(actual, codes) for each, codes in zip(slopes, predicted, strict=True)]
                ),
                counts,
            )
            for actual, predicted, counts in self.kinds.counted_blocks()
        )
        return covariance_of_slopes(blocks, self.n_runs, n_samples=self.n_samples)

    def blocks(self) -> Iterator[tuple[Codes, Codes]]:
        """Actual codes (b,) and predicted ones (m, b) of up to `BLOCK` samples at a time."""
        for start in range(0, len(self.actual), BLOCK):
            part = slice(start, start + BLOCK)
            yield self.actual[part], np.stack([each[part] for each in self.predictions])

    def counted_blocks(self) -> Iterator[tuple[Codes, Codes, NDArray[np.int64]]]:
        """The same with how many samples each place stands for, (b,)."""
        for number, (actual, predicted) in enumerate(self.blocks()):
            yield actual, predicted, self.sizes[number * BLOCK : (number + 1) * BLOCK]


def spread_of_gains(
    gained: Iterable[tuple[Floats, Floats]], n_metrics: int, n_runs: int
) -> RunSpread:
    """From what samples add to each metric of each run, blocks of shape (Q, m, b).

    Each is given of all samples of a kind together, and of one of them.
    """
    linear = np.zeros((n_metrics, n_runs))
    covariance = np.zeros((n_metrics * n_runs, n_metrics * n_runs))
    shape = n_metrics * n_runs, -1
    for together, single in gained:
        linear += together.sum(axis=LAST_AXIS)
        covariance += np.inner(together.reshape(shape), single.reshape(shape))
    return _spread(linear, covariance, difference_errors(covariance, n_runs))


def covariance_of_slopes(
    blocks: Iterable[tuple[Floats, NDArray[np.int64]]], n_runs: int, *, n_samples: int
) -> Floats:
    """First-order covariance (m, m) of the values of runs.

    From slopes (m, b) of each run at its own matrix, and how many samples each is of, (b,).
    """
    sums, products = np.zeros(n_runs), np.zeros((n_runs, n_runs))
    for slopes, counts in blocks:
        weighed = slopes * counts
        sums += weighed.sum(axis=LAST_AXIS)
        products += np.inner(weighed, slopes)
    means = sums / n_samples
    found: Floats = (products / n_samples - np.outer(means, means)) / n_samples
    return found


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


@dataclass(frozen=True)
class PairwiseRuns(RunsTogether):
    """m runs whose samples were counted for each pair of them, by their positions in order.

    All pairs are of the same samples, so sums over pairs of runs are those of `PairedRuns`. What
    three runs predict for one sample is not known.
    """

    pairs: Mapping[tuple[int, int], JointCounts]
    labels: LabelSet

    @cached_property
    def matrices(self) -> tuple[ConfusionMatrix, ...]:
        last = max(second for _, second in self.pairs)
        others = [self.pairs[first, last].first_matrix for first in range(last)]
        return (*others, self.pairs[0, last].second_matrix)

    @cached_property
    def both_right(self) -> NDArray[np.int64]:
        found = np.zeros((len(self.labels), self.n_runs, self.n_runs), np.int64)
        for at, matrix in enumerate(self.matrices):
            found[:, at, at] = matrix.correct
        for (first, second), joint in self.pairs.items():
            right = (joint.first == joint.actual) & (joint.second == joint.actual)
            np.add.at(found[:, first, second], joint.actual[right], joint.counts[right])
            found[:, second, first] = found[:, first, second]
        return found

    def _spread_of_classes(self, gradients: Mapping[str, Gradient]) -> RunSpread:
        n_metrics, n_runs = len(gradients), self.n_runs
        gains = [_gain(gradient, len(self.labels)) for gradient in gradients.values()]

        def gained(actual: Codes, predicted: Codes) -> Floats:
            return np.stack([gain(actual, predicted[np.newaxis])[0] for gain in gains])

        linear = np.zeros((n_metrics, n_runs))
        covariance = np.zeros((n_metrics, n_runs, n_metrics, n_runs))
        for at, matrix in enumerate(self.matrices):
            actual, predicted = np.nonzero(matrix.counts)
            counts = matrix.counts[actual, predicted]
            one = gained(_codes(actual), _codes(predicted)) / self.n_samples
            linear[:, at] = (one * counts).sum(axis=LAST_AXIS)
            covariance[:, at, :, at] = np.inner(one * counts, one)
        for (first, second), joint in self.pairs.items():
            one, other = (
                gained(_codes(joint.actual), _codes(codes)) / self.n_samples
                for codes in (joint.first, joint.second)
            )
            covariance[:, first, :, second] = np.inner(one * joint.counts, other)
            covariance[:, second, :, first] = np.inner(other * joint.counts, one)
        whole = covariance.reshape(n_metrics * n_runs, n_metrics * n_runs)
        return _spread(linear, whole, difference_errors(whole, n_runs))

    def _own_covariance_of_classes(self, gradients: Sequence[Gradient]) -> Floats:
        found = np.empty((self.n_runs, self.n_runs))
        for both, joint in self.pairs.items():
            slopes = [
                gradients[run].at(joint.actual, codes)
                for run, codes in zip(both, (joint.first, joint.second), strict=True)
            ]
            block = np.stack(slopes), joint.counts
            found[np.ix_(both, both)] = covariance_of_slopes([block], 2, n_samples=self.n_samples)
        return found


def _codes(places: NDArray[np.integer[Any]]) -> Codes:
    return places.astype(np.uint32)


def differences(values: Floats) -> Floats:
    """Each run minus each other one, (Q, m, m) of values (Q, m)."""
    return values[:, :, np.newaxis] - values[:, np.newaxis, :]


def difference_errors(covariance: Floats, n_runs: int) -> Floats:
    """Standard errors (Q, m, m) of differences within each metric; rounding is 0."""
    n_metrics = len(covariance) // n_runs
    blocks = covariance.reshape(n_metrics, n_runs, n_metrics, n_runs)
    return np.stack([errors_within(blocks[at, :, at]) for at in range(n_metrics)])


def errors_within(covariance: Floats) -> Floats:
    """The same of one metric, (m, m)."""
    variances = np.diagonal(covariance)
    sums = variances[:, np.newaxis] + variances
    squared = sums - 2.0 * covariance
    return np.asarray(np.sqrt(np.where(squared <= ROUNDING * sums, 0.0, squared)))


def _spread(linear: Floats, covariance: Floats, errors: Floats) -> RunSpread:
    """From linear parts (Q, m), without the errors at the matrix of each run."""
    return RunSpread(differences(linear), covariance, errors, np.zeros(errors.shape))


Slopes = Callable[[Codes, Codes], Floats]
"""What a sample of an actual class (n,) that is predicted so (n,) or (m, n) adds to a metric."""


def _gain(gradient: Gradient, n_classes: int) -> Slopes:
    """What predictions gain over the right class, by the slopes of a metric."""

    def gain(actual: Codes, predicted: Codes) -> Floats:
        with np.errstate(invalid="ignore"):
            return gradient.at(actual[np.newaxis], predicted) - gradient.at(actual, actual)

    return gain if n_classes > MOST_TABULATED else _tabulated(gain, n_classes)


def _tabulated(slopes: Slopes, n_classes: int) -> Slopes:
    """The same, looked up in a table of all cells."""
    codes = np.arange(n_classes, dtype=np.uint16)
    table = slopes(np.repeat(codes, n_classes), np.tile(codes, n_classes)).ravel()

    def looked_up(actual: Codes, predicted: Codes) -> Floats:
        return table.take(actual.astype(np.int64) * n_classes + predicted)

    return looked_up


def _covariance_of_two_classes(
    matrices: Sequence[ConfusionMatrix],
    both_right: NDArray[np.int64],
    gradients: Sequence[Gradient],
) -> Floats:
    """First-order covariance (m, m) of a metric, as a prediction is right or wrong.

    A slope is that of a wrong prediction, and what a right one gains on it; one that no sample
    has takes no part.
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
    crossed = np.inner(gained * n_right, wrong)
    products = np.inner(wrong * cases, wrong) + crossed + crossed.T
    products += np.einsum("jc,kc,cjk->jk", gained, gained, both_right.astype(np.float64))
    found: Floats = (products / n_samples - np.outer(means, means)) / n_samples
    return found


def _from_counts(both_right: NDArray[np.int64], gained: Floats) -> RunSpread:
    """From samples right in both runs by class (C, m, m), and what a right one gains (Q, C)."""
    n_metrics, n_runs = len(gained), both_right.shape[LAST_AXIS]
    right = np.diagonal(both_right, axis1=FIRST_RUN_AXIS, axis2=SECOND_RUN_AXIS)
    covariance = np.einsum("qc,pc,cjk->qjpk", gained, gained, both_right.astype(np.float64))
    apart = right[:, :, np.newaxis] + right[:, np.newaxis, :] - 2 * both_right
    errors = np.sqrt(np.einsum("qc,cjk->qjk", gained**2, apart))
    covariance = covariance.reshape(n_metrics * n_runs, n_metrics * n_runs)
    return _spread(gained @ right, covariance, errors)
