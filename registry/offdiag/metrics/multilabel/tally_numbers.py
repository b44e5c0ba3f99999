"""A tally of sets as one row of whole numbers, and back.

The row is what is stored and what digests are taken of. Equal tallies have equal rows,
whatever chunks they were added up from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.multilabel.empty_sets import EmptySets
from offdiag.metrics.multilabel.exact_sums import ExactSums
from offdiag.metrics.multilabel.examples import MEASURES, ExampleSums
from offdiag.metrics.multilabel.label_counts import LabelCounts
from offdiag.metrics.multilabel.tally import SetTally

Numbers = NDArray[np.int64]


def tally_numbers(tally: SetTally) -> Numbers:
    """All numbers of a tally, int64 of shape (m,), none of them negative."""
    labels, examples, empty = tally.labels, tally.examples, tally.empty_sets
    return np.concatenate(
        [
            [labels.n_cases],
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
    """The tally again. Raises `ValueError` for numbers that are none of a tally."""
    row = _Row(numbers)
    n_cases = row.one()
    labels = LabelCounts(n_cases, row.take(n_labels), row.take(n_labels), row.take(n_labels))
    n_equal, n_wrong, both_empty = row.one(), row.one(), row.one()
    without = tuple(row.take(len(MEASURES)).tolist())
    empty = EmptySets(row.one(), row.one(), row.one(), row.take(n_labels), row.take(n_labels))
    overlap, mass = row.sums(len(MEASURES)), row.sums(n_labels * n_labels)
    row.require_end()
    examples = ExampleSums(n_cases, n_labels, n_equal, n_wrong, both_empty, without, overlap)
    return SetTally(labels, examples, empty, mass)


def _of_sums(sums: ExactSums) -> tuple[list[int] | Numbers, ...]:
    return [len(sums.cell)], sums.cell, sums.denominator, sums.numerator


@dataclass
class _Row:
    """Numbers that are taken from the front."""

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
