"""The samples whose prediction changed from one run to another, by which run is correct."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.paired.joint_counts import JointCounts


class PairedOutcome(StrEnum):
    """Which of two runs predicted a sample correctly."""

    BOTH_RIGHT = "both_right"
    ONLY_A = "only_a"
    ONLY_B = "only_b"
    BOTH_WRONG = "both_wrong"


@dataclass(frozen=True, slots=True)
class Churn:
    """Numbers of samples by the outcome of both runs."""

    both_right: int
    only_a: int
    only_b: int
    both_wrong: int

    @property
    def total(self) -> int:
        return self.both_right + self.only_a + self.only_b + self.both_wrong

    def of(self, outcome: PairedOutcome) -> int:
        """Number of samples with this outcome."""
        return int(getattr(self, outcome.value))

    def to_dict(self) -> dict[str, int]:
        """Numbers by the name of the outcome."""
        return {outcome.value: self.of(outcome) for outcome in PairedOutcome}


Parts = tuple[Churn, tuple[Churn, ...]]
"""The churn of all samples of a part of the data, and of those of each class or label."""


def churn_of(joint: JointCounts) -> Parts:
    """The churn of all samples and of those of each actual class, in label order."""
    first, second = joint.first == joint.actual, joint.second == joint.actual
    return churn_by_class(joint.actual, first, second, joint.n_classes, joint.counts)


def churn_by_class(
    actual: NDArray[Any],
    first: NDArray[np.bool_],
    second: NDArray[np.bool_],
    n_classes: int,
    sizes: NDArray[np.int64] | None = None,
) -> Parts:
    """Count n samples by which run is correct: all of them, and those of each class.

    All arrays have shape (n,); `actual` are codes of `n_classes` classes. With `sizes`, each place
    stands for that many samples.
    """
    outcomes = actual.astype(np.int64) * len(PairedOutcome) + 3 - 2 * first - second
    counts = np.bincount(outcomes, sizes, minlength=len(PairedOutcome) * n_classes)
    by_class = counts.astype(np.int64).reshape(n_classes, len(PairedOutcome))
    return Churn(*np.einsum("ko->o", by_class).tolist()), tuple(
        Churn(*line) for line in by_class.tolist()
    )


LABEL_AXIS = 1
"""Axis of sets (n, q) along which the label changes."""


def churn_by_label(
    actual: NDArray[np.bool_], first: NDArray[np.bool_], second: NDArray[np.bool_]
) -> Parts:
    """Count label sets (n, q): those predicted exactly, and by label the samples that have it."""
    before, after = ((sets == actual).all(axis=LABEL_AXIS) for sets in (first, second))
    whole, _ = churn_by_class(np.zeros(len(actual), np.int64), before, after, 1)
    rows, labels = np.nonzero(actual)
    _, by_label = churn_by_class(
        labels, first[rows, labels], second[rows, labels], actual.shape[LABEL_AXIS]
    )
    return whole, by_label


def paired_outcomes(
    actual: NDArray[Any], first: NDArray[Any], second: NDArray[Any]
) -> dict[PairedOutcome, NDArray[np.bool_]]:
    """Where each outcome applies, for arrays of class codes of one shape."""
    right_first, right_second = first == actual, second == actual
    return {
        PairedOutcome.BOTH_RIGHT: right_first & right_second,
        PairedOutcome.ONLY_A: right_first & ~right_second,
        PairedOutcome.ONLY_B: ~right_first & right_second,
        PairedOutcome.BOTH_WRONG: ~right_first & ~right_second,
    }
