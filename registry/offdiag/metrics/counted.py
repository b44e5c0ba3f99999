"""What an evaluation was computed from: a confusion matrix, or counted sets of labels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict
from offdiag.metrics.case_counts import CaseCounts
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.multilabel.mass import MultilabelMatrix
from offdiag.metrics.multilabel.tally import SetTally
from offdiag.metrics.multilabel.tally_numbers import tally_numbers


@dataclass(frozen=True, eq=False)
class CountedSets:
    """Everything counted about the true and predicted sets of n cases, with the label names."""

    tally: SetTally
    labels: LabelSet

    @property
    def n_classes(self) -> int:
        """Number of labels, q."""
        return len(self.labels)

    @property
    def total(self) -> int:
        """Number of cases."""
        return self.tally.n_cases

    @property
    def actual(self) -> NDArray[np.int64]:
        """Cases whose true set holds each label (its support), shape (q,)."""
        return self.tally.labels.actual

    @property
    def predicted(self) -> NDArray[np.int64]:
        """Cases whose predicted set holds each label, shape (q,)."""
        return self.tally.labels.predicted

    @property
    def correct(self) -> NDArray[np.int64]:
        """Cases where both sets hold the label, shape (q,)."""
        return self.tally.labels.true_positives

    @property
    def n_right(self) -> int:
        """Number of cases whose predicted set is exactly the true one."""
        return self.tally.examples.n_equal

    @cached_property
    def matrix(self) -> MultilabelMatrix:
        """The matrix of Krstinic et al. over the cases with two non-empty sets."""
        return self.tally.matrix()

    @cached_property
    def digest(self) -> str:
        """SHA-256 over labels and counts, as 64 hex digits."""
        content = self.labels.digest.encode() + tally_numbers(self.tally).astype("<i8").tobytes()
        return hashlib.sha256(b"sets " + content).hexdigest()


Counted: TypeAlias = ConfusionMatrix | CountedSets


def counted(counts: CaseCounts, labels: LabelSet) -> Counted:
    """Counts with the names of their labels."""
    if isinstance(counts, SetTally):
        return CountedSets(counts, labels)
    return ConfusionMatrix(counts, labels)


def matrix_of(found: Counted) -> ConfusionMatrix:
    """The confusion matrix of classes. Raises `Conflict` where cases carry sets of labels."""
    if isinstance(found, CountedSets):
        raise of_sets()
    return found


def sets_of(found: Counted) -> CountedSets:
    """What was counted about sets. Raises `Conflict` where cases have one class each."""
    if not isinstance(found, CountedSets):
        raise Conflict(
            "the cases of this run have one class each, not sets of labels.",
            field="run",
            hint="Its confusion matrix tells which class is taken for which.",
        )
    return found


def of_sets() -> Conflict:
    """The error for asking of a multi-label run what only a matrix of classes can tell."""
    return Conflict(
        "the cases of this run carry sets of labels, so no class is confused with another one.",
        field="run",
        hint="Its page, its metrics and the values of each label say how the sets compare.",
    )
