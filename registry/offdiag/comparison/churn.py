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


def churn_of(joint: JointCounts) -> Churn:
    return Churn(*_by_class(joint).sum(axis=CLASS_AXIS).tolist())


def churn_of_classes(joint: JointCounts) -> tuple[Churn, ...]:
    """The churn of the samples of each actual class, in label order."""
    return tuple(Churn(*counts) for counts in zip(*_by_class(joint).tolist(), strict=True))


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


CLASS_AXIS = 1
"""Axis of numbers of shape (4, K) along which the class changes."""


def _by_class(joint: JointCounts) -> NDArray[np.int64]:
    """Samples of each outcome and actual class, shape (4, K)."""
    counts = np.zeros((len(PairedOutcome), joint.n_classes), np.int64)
    found = paired_outcomes(joint.actual, joint.first, joint.second)
    for row, where in zip(counts, found.values(), strict=True):
        np.add.at(row, joint.actual[where], joint.counts[where])
    return counts
