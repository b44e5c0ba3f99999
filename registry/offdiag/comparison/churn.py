"""Which cases changed: right in both runs, in one of them, or in none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.paired.joint import JointCounts


class Fate(StrEnum):
    """What two runs made of a case."""

    BOTH_RIGHT = "both_right"
    ONLY_A = "only_a"
    ONLY_B = "only_b"
    BOTH_WRONG = "both_wrong"


@dataclass(frozen=True, slots=True)
class Churn:
    """Numbers of cases by what the runs made of them."""

    both_right: int
    only_a: int
    only_b: int
    both_wrong: int

    @property
    def total(self) -> int:
        return self.both_right + self.only_a + self.only_b + self.both_wrong

    def of(self, fate: Fate) -> int:
        """Number of cases with this fate."""
        return int(getattr(self, fate.value))

    def to_dict(self) -> dict[str, int]:
        """Numbers by the name of the fate."""
        return {fate.value: self.of(fate) for fate in Fate}


def churn_of(joint: JointCounts) -> Churn:
    """The churn of all cases."""
    return Churn(*_by_class(joint).sum(axis=CLASS_AXIS).tolist())


def churn_of_classes(joint: JointCounts) -> tuple[Churn, ...]:
    """The churn of the cases of each actual class, in label order."""
    return tuple(Churn(*counts) for counts in zip(*_by_class(joint).tolist(), strict=True))


def fates(
    actual: NDArray[np.integer], first: NDArray[np.integer], second: NDArray[np.integer]
) -> dict[Fate, NDArray[np.bool_]]:
    """Where each fate applies, for arrays of class codes of one shape."""
    right_first, right_second = first == actual, second == actual
    return {
        Fate.BOTH_RIGHT: right_first & right_second,
        Fate.ONLY_A: right_first & ~right_second,
        Fate.ONLY_B: ~right_first & right_second,
        Fate.BOTH_WRONG: ~right_first & ~right_second,
    }


CLASS_AXIS = 1
"""Axis of numbers of shape (4, K) along which the class changes."""


def _by_class(joint: JointCounts) -> NDArray[np.int64]:
    """Cases of each fate and actual class, shape (4, K)."""
    counts = np.zeros((len(Fate), joint.n_classes), np.int64)
    found = fates(joint.actual, joint.first, joint.second)
    for row, where in zip(counts, found.values(), strict=True):
        np.add.at(row, joint.actual[where], joint.counts[where])
    return counts
