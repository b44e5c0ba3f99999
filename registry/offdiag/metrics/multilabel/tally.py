"""Tallies of label sets: everything counted in one pass over the samples, mergeable over chunks.

Tallies of disjoint chunks add up to the tally of all samples, in any order and grouping, to the
last bit, because they consist of whole numbers.

The multi-label matrix has no place for samples where the true set, the predicted set, or both are
empty: with nothing predicted its shares divide by zero, and with nothing true a false alarm
would leave no trace. They are counted here instead, so that no sample disappears.

A tally can be stored as one row of whole numbers and read back; digests are computed from that
row. Equal tallies have equal rows, whatever chunks they were added up from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.multilabel.exact_sums import Addends, ExactSums
from offdiag.metrics.multilabel.examples import MEASURES, ExampleSums, sum_over_examples
from offdiag.metrics.multilabel.matrix import MultilabelMatrix, multilabel_matrix, spread_mass
from offdiag.metrics.multilabel.sets import SAMPLE_AXIS, distinct_patterns, has_labels
from offdiag.metrics.per_class.one_vs_rest import OneVsRest
from offdiag.metrics.tally import widened


@dataclass(frozen=True, eq=False)
class LabelCounts(Addends):
    """Counts over n samples for each of q labels, int64 arrays of shape (q,)."""

    n_samples: int
    true_positives: NDArray[np.int64]
    actual: NDArray[np.int64]
    """Samples whose true set holds the label (its support)."""
    predicted: NDArray[np.int64]
    """Samples whose predicted set holds the label."""

    def one_vs_rest(self) -> OneVsRest:
        """The four cells of each label, shape (q,), for the per-class formulas."""
        hits, actual, predicted = widened(
            4 * self.n_samples**2, self.true_positives, self.actual, self.predicted
        )
        fp = predicted - hits
        return OneVsRest(tp=hits, fn=actual - hits, fp=fp, tn=self.n_samples - actual - fp)

    def pooled(self) -> OneVsRest:
        """The four cells added up over all labels, as Python integers of shape ()."""
        cells = self.one_vs_rest()
        return OneVsRest(
            tp=_added_up(cells.tp),
            fn=_added_up(cells.fn),
            fp=_added_up(cells.fp),
            tn=_added_up(cells.tn),
        )


def count_labels(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> LabelCounts:
    """Count each label of two (n, q) indicator arrays."""
    return LabelCounts(
        len(actual),
        samples_with_label(actual & predicted),
        samples_with_label(actual),
        samples_with_label(predicted),
    )


def samples_with_label(sets: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of sets, out of n, that hold each label, (n, q) -> (q,)."""
    return np.asarray(np.count_nonzero(sets, axis=SAMPLE_AXIS), np.int64)


def _added_up(counts: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(sum(counts.tolist()), dtype=object)


@dataclass(frozen=True, eq=False)
class EmptySets(Addends):
    """Counts of samples by which of their sets is empty.

    `n_true_empty` and `n_pred_empty` both include the `both_empty` samples.
    `missed_when_pred_empty` is int64 (q,): how often each label was true while nothing was
    predicted; `spurious_when_true_empty`: how often each was predicted while nothing was true.
    """

    both_empty: int
    n_true_empty: int
    n_pred_empty: int
    missed_when_pred_empty: NDArray[np.int64]
    spurious_when_true_empty: NDArray[np.int64]


def count_empty_sets(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> EmptySets:
    """Count empty sets in two (n, q) indicator arrays."""
    nothing_true, nothing_predicted = ~has_labels(actual), ~has_labels(predicted)
    return EmptySets(
        both_empty=int(np.count_nonzero(nothing_true & nothing_predicted)),
        n_true_empty=int(np.count_nonzero(nothing_true)),
        n_pred_empty=int(np.count_nonzero(nothing_predicted)),
        missed_when_pred_empty=samples_with_label(actual[nothing_predicted]),
        spurious_when_true_empty=samples_with_label(predicted[nothing_true]),
    )


@dataclass(frozen=True, eq=False)
class SetTally(Addends):
    """Counts over n samples with a true and a predicted set of q labels each.

    `mass` has the cells of the multi-label matrix; the other fields name what they count.
    """

    labels: LabelCounts
    examples: ExampleSums
    empty_sets: EmptySets
    mass: ExactSums

    @property
    def n_samples(self) -> int:
        return self.labels.n_samples

    @property
    def n_labels(self) -> int:
        return self.examples.n_labels

    def matrix(self) -> MultilabelMatrix:
        """The matrix of Krstinic et al. over the samples with two non-empty sets."""
        empty = self.empty_sets
        n_left_out = empty.n_true_empty + empty.n_pred_empty - empty.both_empty
        return multilabel_matrix(
            self.mass, n_labels=self.n_labels, n_samples=self.n_samples - n_left_out
        )


def tally_sets(actual: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> SetTally:
    """Count two (n, q) indicator arrays, True where the label belongs to the set."""
    patterns = distinct_patterns(actual, predicted)
    has_both = has_labels(patterns.actual) & has_labels(patterns.predicted)
    return SetTally(
        labels=count_labels(actual, predicted),
        examples=sum_over_examples(patterns),
        empty_sets=count_empty_sets(actual, predicted),
        mass=spread_mass(patterns.where(has_both)),
    )


Numbers = NDArray[np.int64]


def tally_numbers(tally: SetTally) -> Numbers:
    """All numbers of a tally, int64 of shape (m,), none of them negative."""
    labels, examples, empty = tally.labels, tally.examples, tally.empty_sets
    return np.concatenate(
        [
            [labels.n_samples],
            *(labels.true_positives, labels.actual, labels.predicted),
            [examples.n_equal, examples.n_wrong_labels, examples.both_empty],
            examples.n_without_denominator,
            [empty.both_empty, empty.n_true_empty, empty.n_pred_empty],
            *(empty.missed_when_pred_empty, empty.spurious_when_true_empty),
            *_of_sums(examples.overlap),
            *_of_sums(tally.mass),
        ]
    ).astype(np.int64)


def tally_of_numbers(numbers: Numbers, n_labels: int) -> SetTally:
    """Restore a tally. Raises `ValueError` for numbers that are not those of a tally."""
    row = _Row(numbers)
    n_samples = row.one()
    labels = LabelCounts(n_samples, row.take(n_labels), row.take(n_labels), row.take(n_labels))
    n_equal, n_wrong, both_empty = row.one(), row.one(), row.one()
    without = tuple(row.take(len(MEASURES)).tolist())
    empty = EmptySets(row.one(), row.one(), row.one(), row.take(n_labels), row.take(n_labels))
    overlap, mass = row.sums(len(MEASURES)), row.sums(n_labels * n_labels)
    row.require_end()
    examples = ExampleSums(n_samples, n_labels, n_equal, n_wrong, both_empty, without, overlap)
    return SetTally(labels, examples, empty, mass)


def _of_sums(sums: ExactSums) -> tuple[list[int] | Numbers, ...]:
    return [len(sums.cell)], sums.cell, sums.denominator, sums.numerator


@dataclass
class _Row:
    """A row of numbers that is read from the front."""

    numbers: Numbers
    at: int = 0

    def take(self, n: int) -> Numbers:
        taken = self.numbers[self.at : self.at + n]
        if len(taken) < n or bool((taken < 0).any()):
            raise ValueError(f"{len(self.numbers)} numbers are not those of a tally.")
        self.at += n
        return taken

    def one(self) -> int:
        return int(self.take(1)[0])

    def sums(self, n_cells: int) -> ExactSums:
        n = self.one()
        found = ExactSums(self.take(n), self.take(n), self.take(n))
        if n and (int(found.cell[-1]) >= n_cells or int(found.denominator.min()) < 1):
            raise ValueError("the fractions of a tally have other cells or denominators.")
        return found

    def require_end(self) -> None:
        if self.at != len(self.numbers):
            raise ValueError(f"{len(self.numbers) - self.at} numbers follow those of a tally.")
