"""What an evaluation is computed from: a confusion matrix, counted sets of labels, or weights.

Samples either have one class each or a set of labels each. The arrays show which: codes of
classes have one axis, packed sets have two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.multilabel.matrix import MultilabelMatrix
from offdiag.metrics.multilabel.sets import is_known, unpack_sets
from offdiag.metrics.multilabel.tally import SetTally, tally_numbers, tally_sets
from offdiag.metrics.pair_counts import (
    SPARSE_FROM,
    OccupiedCells,
    count_labelled_pairs,
    count_occupied,
)
from offdiag.metrics.weighted.counts import WeightedCounts, of_weights, whole_sizes

SampleCounts: TypeAlias = "NDArray[np.int64] | SetTally"
"""A confusion matrix (K, K) of classes, or everything counted about sets."""

CELLS_AT_ONCE = 1 << 24
"""Members of sets unpacked in one go; bounds the memory of counting."""


def are_sets(codes: NDArray[Any]) -> bool:
    """Whether these are packed sets of labels rather than codes of classes."""
    return codes.ndim == 2


def count_samples(
    actual: NDArray[Any], predicted: NDArray[Any], *, n_classes: int
) -> SampleCounts:
    """Count the n samples with a known label. Raises `InvalidInput` for codes out of range."""
    if are_sets(predicted):
        return count_sets(actual, predicted, n_labels=n_classes)
    return count_labelled_pairs(actual, predicted, n_classes=n_classes)


def count_part(
    actual: NDArray[Any], predicted: NDArray[Any], *, n_classes: int
) -> SampleCounts | OccupiedCells:
    """Count one chunk of the samples; with very many classes, only the cells that occur in it."""
    if are_sets(predicted) or n_classes**2 <= SPARSE_FROM * len(predicted):
        return count_samples(actual, predicted, n_classes=n_classes)
    return count_occupied(actual, predicted, n_classes=n_classes)


def count_sets(actual: NDArray[Any], predicted: NDArray[Any], *, n_labels: int) -> SetTally:
    """Count packed sets, leaving out samples whose true set is not known."""
    step = max(1, CELLS_AT_ONCE // n_labels)
    total = _nothing(n_labels)
    for start in range(0, len(predicted), step):
        block = slice(start, start + step)
        known = is_known(actual[block], n_labels)
        total += tally_sets(
            unpack_sets(actual[block][known], n_labels),
            unpack_sets(predicted[block][known], n_labels),
        )
    return total


def added_up(parts: Iterable[SampleCounts], *, n_classes: int, of_sets: bool) -> SampleCounts:
    """The sum of all partial counts, which are all of one kind."""
    if of_sets:
        return sum((part for part in parts if isinstance(part, SetTally)), _nothing(n_classes))
    total = np.zeros((n_classes, n_classes), dtype=np.int64)
    for part in parts:
        if not isinstance(part, SetTally):
            total += part
    return total


def are_equal(one: SampleCounts, other: SampleCounts) -> bool:
    """Whether two counts are of the same kind and equal."""
    if isinstance(one, SetTally):
        return isinstance(other, SetTally) and np.array_equal(
            tally_numbers(one), tally_numbers(other)
        )
    return not isinstance(other, SetTally) and np.array_equal(one, other)


def _nothing(n_labels: int) -> SetTally:
    none = np.zeros((0, n_labels), dtype=np.bool_)
    return tally_sets(none, none)


@dataclass(frozen=True, eq=False)
class CountedSets:
    """Everything counted about the true and predicted sets of n samples, with the label names."""

    tally: SetTally
    labels: LabelSet

    @property
    def n_classes(self) -> int:
        """Number of labels, q."""
        return len(self.labels)

    @property
    def total(self) -> int:
        """Number of samples."""
        return self.tally.n_samples

    @property
    def actual(self) -> NDArray[np.int64]:
        """Samples whose true set holds each label (the support), shape (q,)."""
        return self.tally.labels.actual

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Samples whose predicted set holds each label, shape (q,)."""
        return self.tally.labels.predicted

    @property
    def correct(self) -> NDArray[np.int64]:
        """Samples where both sets hold the label, shape (q,)."""
        return self.tally.labels.true_positives

    @property
    def n_right(self) -> int:
        """Number of samples whose predicted set is exactly the true one."""
        return self.tally.examples.n_equal

    @cached_property
    def matrix(self) -> MultilabelMatrix:
        """The matrix of Krstinic et al. over the samples with two non-empty sets."""
        return self.tally.matrix()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over labels and counts, as 64 hex digits."""
        content = self.labels.digest.encode() + tally_numbers(self.tally).astype("<i8").tobytes()
        return hashlib.sha256(b"sets " + content).hexdigest()


Counted: TypeAlias = ConfusionMatrix | CountedSets | WeightedCounts


Unweighted: TypeAlias = ConfusionMatrix | CountedSets


def unweighted(found: Counted) -> Unweighted:
    """The counts of samples without weights. Raises `Conflict` if the samples have weights."""
    if isinstance(found, WeightedCounts):
        raise of_weights()
    return found


def numbers_of(found: Counted) -> Unweighted:
    """Numbers of samples regardless of weights, for lists of samples rather than for metrics."""
    if isinstance(found, WeightedCounts):
        return ConfusionMatrix(found.samples, found.labels)
    return found


def effective_size(found: Counted) -> int:
    """Number of samples; for weighted ones the effective sample size, rounded down."""
    if isinstance(found, WeightedCounts):
        return int(whole_sizes(np.asarray(found.n_effective)))
    return found.total


def class_sizes(found: Counted) -> list[int]:
    """Samples of each class, K of them; for weighted ones the effective sizes."""
    sizes = found.class_sizes if isinstance(found, WeightedCounts) else found.actual
    return [int(size) for size in sizes]


def counted(counts: SampleCounts, labels: LabelSet) -> Unweighted:
    if isinstance(counts, SetTally):
        return CountedSets(counts, labels)
    return ConfusionMatrix(counts, labels)


def matrix_of(found: Counted) -> ConfusionMatrix:
    """The confusion matrix of classes.

    Raises `Conflict` if samples carry sets of labels, or weights.
    """
    if isinstance(found, CountedSets):
        raise of_sets()
    if isinstance(found, WeightedCounts):
        raise of_weights()
    return found


def sets_of(found: Counted) -> CountedSets:
    """The counts of label sets. Raises `Conflict` if samples have one class each."""
    if not isinstance(found, CountedSets):
        raise Conflict(
            "the examples of this run have one class each, not sets of labels.",
            field="run",
            hint="Its confusion matrix shows which classes are confused.",
        )
    return found


def of_sets() -> Conflict:
    """The error for asking a multi-label run for something that needs a matrix of classes."""
    return Conflict(
        "the examples of this run carry sets of labels, so no class is confused with another one.",
        field="run",
        hint="Its page, its metrics and the values of each label say how the sets compare.",
    )
