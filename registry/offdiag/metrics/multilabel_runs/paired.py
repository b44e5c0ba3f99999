"""Runs on the same samples with sets of labels, and how far chance moves them from each other.

The method is that of `many_runs.paired_runs` and `paired.simultaneous_tests`, sample by sample:
the contribution of the predicted set of a sample to a metric is its slope at the tables of all
runs together. An average over examples adds up the scores of the sets. An average over labels has
two slopes for each label, for a missed one and for a false alarm, and a sample adds those of all
its labels, so correlated labels are counted together. Swapping the two predicted sets of random
samples gives the same variance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.metrics.counted import CountedSets, count_sets
from offdiag.metrics.custom import custom_versions
from offdiag.metrics.gradients import Dual, Floats, OutcomeShares, outcome_shares_of_counts
from offdiag.metrics.many_runs.run_spread import RunSpread, covariance_of_slopes, spread_of_gains
from offdiag.metrics.multilabel.examples import Overlap
from offdiag.metrics.multilabel.sets import LABEL_AXIS, Bits, unpack_sets
from offdiag.metrics.multilabel.suite import set_metrics
from offdiag.metrics.multilabel.tally import LabelCounts
from offdiag.metrics.paired.class_changes import outcome_moves
from offdiag.metrics.paired.joint_counts import PairedRates
from offdiag.metrics.per_class import PER_CLASS

BLOCK = 4_096
"""Samples unpacked together."""
RUN_AXIS, SAMPLE_AXIS = 0, 1
"""Axes of predicted sets, (m, b, q)."""

Sets = NDArray[np.bool_]
Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class PairedSets:
    """m runs on the same n samples, both at least 1; all sets are known and packed."""

    actual: Bits
    predictions: tuple[Bits, ...]
    labels: LabelSet

    @property
    def n_runs(self) -> int:
        return len(self.predictions)

    @property
    def n_samples(self) -> int:
        return len(self.actual)

    @cached_property
    def counted(self) -> tuple[CountedSets, ...]:
        """Everything counted about each run."""
        return tuple(
            CountedSets(count_sets(self.actual, bits, n_labels=len(self.labels)), self.labels)
            for bits in self.predictions
        )

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The runs in an order that depends only on their predictions, shape (m,)."""
        digests = [blake2b(np.ascontiguousarray(each).data).digest() for each in self.predictions]
        return np.array(sorted(range(self.n_runs), key=digests.__getitem__), np.intp)

    @cached_property
    def both_right(self) -> NDArray[np.int64]:
        """Samples with a label that two runs both find, shape (q, m, m)."""
        found = np.zeros((len(self.labels), self.n_runs, self.n_runs), np.int64)
        for actual, predicted in self.blocks():
            hits = (predicted & actual).astype(np.float32)
            found += np.einsum("jbq,kbq->qjk", hits, hits, optimize=True).astype(np.int64)
        return found

    @cached_property
    def both_exact(self) -> NDArray[np.int64]:
        """Samples whose sets two runs both predict exactly, shape (m, m)."""
        exact = np.stack([self.is_right(run) for run in range(self.n_runs)])
        return np.asarray(np.inner(exact.astype(np.int64), exact))

    def is_right(self, run: int) -> NDArray[np.bool_]:
        """Which sets a run predicts exactly, (n,)."""
        return equal_sets(self.actual, self.predictions[run])

    def values(self, keys: Sequence[str]) -> Floats:
        """Metrics of whole runs, (Q, m), NaN where undefined."""
        found = [set_metrics(each.tally) for each in self.counted]
        numbers = [[each[key].value for each in found] for key in keys]
        return np.array(numbers, dtype=np.float64)

    def blocks(self) -> Iterator[tuple[Sets, Sets]]:
        """Actual sets (b, q) and predicted sets (m, b, q), a block of samples at a time."""
        for start in range(0, self.n_samples, BLOCK):
            part = slice(start, start + BLOCK)
            yield (
                unpack_sets(self.actual[part], len(self.labels)),
                np.stack([unpack_sets(each[part], len(self.labels)) for each in self.predictions]),
            )

    def gained(self, keys: Sequence[str]) -> Iterator[Floats]:
        """Gains of runs on samples that they do not all predict alike, (Q, m, b) per block."""
        slopes = {key: _wrong_labels(self.counted, key) for key in keys if is_of_labels(key)}
        for actual, predicted in self.blocks():
            differs = (predicted != predicted[:1]).any(axis=LABEL_AXIS).any(axis=RUN_AXIS)
            true, guessed = actual[differs], predicted[:, differs]
            missed, alarms = true & ~guessed, guessed & ~true
            yield np.stack(
                [
                    np.einsum("mbq,q->mb", missed, slopes[key][0])
                    + np.einsum("mbq,q->mb", alarms, slopes[key][1])
                    if key in slopes
                    else Overlap.of(true, guessed).values(key) / self.n_samples
                    for key in keys
                ]
            )

    def own_covariance(self, key: str) -> Floats:
        """First-order covariance (m, m) of a metric, by its slopes at the tables of each run."""
        blocks = (
            (each, np.ones(each.shape[LABEL_AXIS], np.int64)) for each in self.own_slopes(key)
        )
        return covariance_of_slopes(blocks, self.n_runs, n_samples=self.n_samples)

    def own_slopes(self, key: str) -> Iterator[Floats]:
        """Contributions of samples to a metric at the tables of each run, (m, b) per block.

        Multiplied by the number of samples; up to a constant of the run.
        """
        slopes = None
        if is_of_labels(key):
            slopes = [self.n_samples * label_slopes([each], key) for each in self.counted]
        for actual, predicted in self.blocks():
            if slopes is None:
                yield Overlap.of(actual, predicted).values(key)
                continue
            yield np.stack(
                [
                    sum(
                        np.einsum("bq,q->b", outcome, slope)
                        for outcome, slope in zip(_outcomes(actual, sets), of_run, strict=True)
                    )
                    for sets, of_run in zip(predicted, slopes, strict=True)
                ]
            )

    def spread(self, keys: Sequence[str]) -> RunSpread:
        """How chance moves metrics of equally good runs from each other."""
        blocks = ((block, block) for block in self.gained(keys))
        return spread_of_gains(blocks, len(keys), self.n_runs)


def paired_sets(actual: Codes, *predictions: Codes, labels: LabelSet) -> PairedSets:
    """Runs from packed sets in the stored format, all of which are known."""
    bits = [each.astype(np.uint8, copy=False) for each in (actual, *predictions)]
    return PairedSets(bits[0], tuple(bits[1:]), labels)


def equal_sets(actual: Bits, predicted: Bits) -> NDArray[np.bool_]:
    """Which of n packed sets are equal, (n,); rows may have room for an unknown one."""
    width = min(actual.shape[LABEL_AXIS], predicted.shape[LABEL_AXIS])
    return np.asarray((actual[:, :width] == predicted[:, :width]).all(axis=LABEL_AXIS))


def has_slopes(key: str) -> bool:
    """Whether runs can be compared by a metric of sets, as by all averages in the catalogue."""
    if key in custom_versions():
        return False
    return key in {"subset_accuracy", "hamming_loss"} or (
        key.startswith("example_") or is_of_labels(key)
    )


def is_of_labels(key: str) -> bool:
    return key.startswith(("micro_", "macro_", "weighted_"))


def _outcomes(actual: Sets, predicted: Sets) -> tuple[Sets, Sets, Sets, Sets]:
    """Hits, missed labels, false alarms and labels correctly left out."""
    return actual & predicted, actual & ~predicted, predicted & ~actual, ~(actual | predicted)


def _wrong_labels(runs: Sequence[CountedSets], key: str) -> tuple[Floats, Floats]:
    """The contribution of a missed label and of a false alarm to an average, (q,) each."""
    hit, missed, alarm, rejected = label_slopes(runs, key)
    return missed - hit, alarm - rejected


def label_slopes(runs: Sequence[CountedSets], key: str) -> Floats:
    """The contribution of each outcome of a label to an average over labels of one run, (4, q).

    Evaluated at the tables of all runs together.
    """
    average, _, measure = key.removesuffix("_defined").partition("_")
    pooled = pooled_labels(runs)
    n_labels, n_runs = len(pooled.actual), len(runs)
    if average == "micro":
        hits, actual, predicted = (
            np.array([part.sum()])
            for part in (pooled.true_positives, pooled.actual, pooled.predicted)
        )
        shares = outcome_shares_of_counts(hits, actual, predicted, pooled.n_samples * n_labels)
        weights = np.ones(1)
        per_sample = n_runs / (pooled.n_samples * n_labels)
    else:
        shares = _shares(pooled)
        weights = np.full(n_labels, 1 / n_labels)
        per_sample = n_runs / pooled.n_samples
    found = _slopes(measure, shares)
    with np.errstate(divide="ignore", invalid="ignore"):
        if average == "weighted":
            weights = pooled.actual / pooled.actual.sum()
        if key.endswith("_defined"):
            weights = 1.0 / np.maximum(np.count_nonzero(np.isfinite(found.value)), 1)
        slopes = np.asarray(found.slope * weights * per_sample)
    return np.broadcast_to(np.where(np.isfinite(slopes), slopes, 0.0), (4, n_labels))


def _shares(counts: LabelCounts) -> OutcomeShares:
    return outcome_shares_of_counts(
        counts.true_positives, counts.actual, counts.predicted, counts.n_samples
    )


def _slopes(measure: str, shares: OutcomeShares) -> Dual:
    compute = PER_CLASS[measure].slopes
    assert compute is not None  # noqa: S101  # As every metric of a comparison has.
    with np.errstate(divide="ignore", invalid="ignore"):
        return compute(shares)


def pooled_labels(runs: Sequence[CountedSets]) -> LabelCounts:
    """The tables of the labels of all runs together."""
    first, *others = (each.tally.labels for each in runs)
    return sum(others, first)


@dataclass(frozen=True, eq=False)
class LabelRates:
    """Each label under two runs: samples that have it and are found, and false alarms."""

    hits: PairedRates
    false_alarms: PairedRates


def label_rates(runs: PairedSets) -> LabelRates:
    """The rates of two runs, arrays of shape (q,)."""
    counts = np.zeros((4, len(runs.labels)), np.int64)
    for actual, (first, second) in runs.blocks():
        only = first & ~second, second & ~first
        parts = (actual & only[0], actual & only[1], ~actual & only[0], ~actual & only[1])
        counts += [np.count_nonzero(part, axis=RUN_AXIS) for part in parts]
    cases = runs.counted[0].actual
    return LabelRates(
        PairedRates(counts[0], counts[1], cases),
        PairedRates(counts[2], counts[3], runs.n_samples - cases),
    )


def label_moves(runs: PairedSets, rates: LabelRates, key: str) -> tuple[Floats, Floats]:
    """Linear part of the difference of a metric of each label, and its error, (q,) each."""
    pooled = pooled_labels(runs.counted)
    found = _slopes(key, _shares(pooled))
    return outcome_moves(found.slope / runs.n_samples, rates.hits, rates.false_alarms)
