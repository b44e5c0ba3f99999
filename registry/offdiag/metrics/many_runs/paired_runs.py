"""Several runs on the same samples, and how far chance moves their metrics from each other.

With slope g at the pooled matrix, run j has the sum L_j of g[y_i, a_ij] over the samples i. The
covariance of these sums under "no difference" is G_jk, the sum of u_ij u_ik with
u_ij = g[y_i, a_ij] - g[y_i, y_i]: what all runs share does not change their differences, so
samples that all predict alike are skipped. Then G_jj + G_kk - 2 G_jk is the squared error of
two runs, as in `simultaneous_tests`. With the slopes of each run at its own matrix, centred,
the same formula gives the error of their difference, which is used if it is larger.

Samples of one actual class that every run predicts alike are one kind. Everything here depends
only on the number of samples of each kind, not on single samples, so runs whose samples were
merely counted give the same numbers as runs whose predictions are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.gradients import Floats, Gradient
from offdiag.metrics.many_runs.run_spread import (
    LAST_AXIS,
    Codes,
    RunSpread,
    Slopes,
    covariance_of_slopes,
    covariance_of_two_classes,
    difference_errors,
    errors_within,
    gain_of,
    spread_of,
    spread_of_counts,
    spread_of_gains,
    tabulated,
)
from offdiag.metrics.pair_counts import count_pairs
from offdiag.metrics.paired.joint_counts import JointCounts
from offdiag.metrics.paired.simultaneous_tests import difference_errors as pair_errors
from offdiag.metrics.paired.simultaneous_tests import pooled_matrix

BLOCK = 8_192
"""Samples processed together: slopes of 50 runs and 5 metrics fit into 16 MB."""
MOST_IN_EACH_RUN = 128
"""Classes up to which slopes are looked up in a separate table for each run."""
RUN_AXIS, SAMPLE_AXIS = 0, 1
"""Axes of predictions and slopes, shape (m, n)."""
LARGEST_KEY = 1 << 62
"""Numbers of possible kinds up to which a kind is encoded in one eight-byte number."""
EXACT_SUMS = 1 << 24
"""Whole numbers up to this are exact in four bytes."""


class RunsTogether(ABC):
    """m runs on the same samples, in the form that comparisons need."""

    labels: LabelSet

    @property
    @abstractmethod
    def matrices(self) -> tuple[ConfusionMatrix, ...]: ...

    @property
    @abstractmethod
    def both_right(self) -> NDArray[np.int64]:
        """Samples of each class that two runs both predict correctly, shape (K, m, m)."""

    @abstractmethod
    def _spread_of_classes(self, gradients: Mapping[str, Gradient]) -> RunSpread: ...

    @abstractmethod
    def own_errors(self, own: Sequence[Mapping[str, Gradient]]) -> Floats:
        """Standard errors (Q, m, m) of differences, by gradients at the matrix of each run."""

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
        """The matrix of all runs together, at which slopes are evaluated."""
        return pooled_matrix(self.matrices)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The runs in an order that depends only on their predictions, shape (m,).

        It does not depend on the order of the samples either, except for runs that share a matrix
        and, together with every other run, are right equally often.
        """
        by_matrix: dict[bytes, list[int]] = {}
        for at, matrix in enumerate(self.matrices):
            by_matrix.setdefault(matrix.counts.tobytes(), []).append(at)
        ordered = [by_matrix[key] for key in sorted(by_matrix)]
        # Counting pairs takes longer than all else here, and runs with equal matrices are rare.
        alike = [sorted(runs, key=self._pairs_key) if len(runs) > 1 else runs for runs in ordered]
        return np.array([at for runs in alike for at in runs], np.intp)

    def _pairs_key(self, run: int) -> tuple[list[bytes], bytes]:
        pairs = (self.both_right[:, run, other].tobytes() for other in range(self.n_runs))
        return sorted(pairs), self._digest(run)

    def _digest(self, run: int) -> bytes:  # noqa: ARG002
        """A key that distinguishes runs when everything else is equal."""
        return b""

    def spread(
        self, gradients: Mapping[str, Gradient], own: Sequence[Mapping[str, Gradient]] = ()
    ) -> RunSpread:
        """How far chance moves the metrics with these gradients at the pooled matrix.

        Not finite where a gradient is not. `own` are the gradients at the matrix of each run.
        """
        found = self._pooled_spread(gradients)
        return replace(found, own_errors=self.own_errors(own)) if own else found

    def _pooled_spread(self, gradients: Mapping[str, Gradient]) -> RunSpread:
        if len(self.labels) > 2:
            return self._spread_of_classes(gradients)
        # A prediction is right or wrong, so counting what is right in both runs is enough.
        code = np.arange(2)
        gained = [each.at(code, code) - each.at(code, 1 - code) for each in gradients.values()]
        with np.errstate(invalid="ignore"):
            return spread_of_counts(self.both_right, np.stack(gained) / self.n_samples)


@dataclass(frozen=True)
class PairedRuns(RunsTogether):
    """m runs on the same n samples, both at least 1.

    `actual` are the n class codes, `predictions` the n codes that each run predicts, all
    of unsigned integer types and below the number of labels. With `counts` (n,) each place
    stands for that many samples, at least one.
    """

    actual: Codes
    predictions: tuple[Codes, ...]
    labels: LabelSet
    counts: NDArray[np.int64] | None = None

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of samples that each place stands for, (n,)."""
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
        """Which samples a run predicts correctly, (n,)."""
        return np.asarray(self.predictions[run] == self.actual)

    def _digest(self, run: int) -> bytes:
        return blake2b(np.ascontiguousarray(self.predictions[run]).data).digest()

    @cached_property
    def kinds(self) -> PairedRuns:
        """The same runs by kinds of samples, in an order that depends only on the kinds."""
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
        gains = [gain_of(gradient, len(self.labels)) for gradient in gradients.values()]
        return spread_of_gains(self._gained(gains), len(gains), self.n_runs)

    def _gained(self, gains: Sequence[Slopes]) -> Iterator[tuple[Floats, Floats]]:
        """What each run gains on kinds that the runs do not all predict alike, (Q, m, b) blocks.

        Each pair has the gain for all samples of a kind together, then for one sample.
        """
        for actual, predicted, counts in self.kinds.counted_blocks():
            differs = (predicted != predicted[:1]).any(axis=RUN_AXIS)
            at = actual[differs], predicted[:, differs]
            gained = np.stack([gain(*at) for gain in gains]) / self.n_samples
            yield gained * counts[differs], gained

    def own_errors(self, own: Sequence[Mapping[str, Gradient]]) -> Floats:
        by_metric = ([each[key] for each in own] for key in own[0])
        return np.stack([errors_within(self.own_covariance(each)) for each in by_metric])

    def own_covariance(self, gradients: Sequence[Gradient]) -> Floats:
        """First-order covariance (m, m) of a metric, by its gradient at the matrix of each run."""
        with np.errstate(invalid="ignore"):
            if len(self.labels) == 2:
                return covariance_of_two_classes(self.matrices, self.both_right, gradients)
            blocks = self._own_slopes(gradients)
            return covariance_of_slopes(blocks, self.n_runs, n_samples=self.n_samples)

    def _own_slopes(
        self, gradients: Sequence[Gradient]
    ) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
        """Slopes (m, b) of each run, and the samples per slope, (b,), for batches of kinds."""
        size = len(self.labels)
        slopes = [
            each.at if size > MOST_IN_EACH_RUN else tabulated(each.at, size) for each in gradients
        ]
        for actual, predicted, counts in self.kinds.counted_blocks():
            found = [each(actual, codes) for each, codes in zip(slopes, predicted, strict=True)]
            yield np.stack(found), counts

    def blocks(self) -> Iterator[tuple[Codes, Codes]]:
        """Actual codes (b,) and predicted codes (m, b) of up to `BLOCK` places at a time."""
        for start in range(0, len(self.actual), BLOCK):
            part = slice(start, start + BLOCK)
            yield self.actual[part], np.stack([each[part] for each in self.predictions])

    def counted_blocks(self) -> Iterator[tuple[Codes, Codes, NDArray[np.int64]]]:
        """The blocks, with the number of samples that each place stands for, (b,)."""
        for number, (actual, predicted) in enumerate(self.blocks()):
            yield actual, predicted, self.sizes[number * BLOCK : (number + 1) * BLOCK]


@dataclass(frozen=True)
class PairwiseRuns(RunsTogether):
    """m runs whose samples were counted for each pair of runs, by their positions in order.

    All pairs are of the same samples, so sums over pairs of runs are those of `PairedRuns`. What
    three runs predict for the same sample is not known.
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
        gains = [gain_of(gradient, len(self.labels)) for gradient in gradients.values()]

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
        return spread_of(linear, whole, difference_errors(whole, n_runs))

    def own_errors(self, own: Sequence[Mapping[str, Gradient]]) -> Floats:
        errors = np.zeros((len(own[0]), self.n_runs, self.n_runs))
        for (first, second), joint in self.pairs.items():
            found = pair_errors(joint, own[first], own[second])
            errors[:, first, second] = errors[:, second, first] = list(found.values())
        return errors


def _codes(places: NDArray[np.integer[Any]]) -> Codes:
    return places.astype(np.uint32)
