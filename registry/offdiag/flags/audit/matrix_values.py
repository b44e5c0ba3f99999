"""Metrics of a printed matrix, read with actual classes along its rows or its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.findings import Orientation
from offdiag.flags.audit.names import CLASS_KEYS
from offdiag.flags.audit.printed import Rounding
from offdiag.flags.audit.zero_division import counted_value
from offdiag.metrics.orientation import swap_axes, verify_orientation
from offdiag.metrics.suite import Suite, evaluate_stack


@dataclass(frozen=True)
class MatrixValues:
    """The suite of a matrix (K, K) with actual classes along the first axis."""

    counts: NDArray[np.int64]

    @cached_property
    def _suite(self) -> Suite:
        # Weighted kappas follow the order of the labels, the only one there is to try.
        return evaluate_stack(self.counts, ordinal=True)

    def value(self, key: str, code: int | None) -> float | None:
        """A metric of the matrix or of one class; None where it is undefined."""
        if key in CLASS_KEYS and code is not None:
            return self._suite.per_class[key].at(code).value
        return self._suite.aggregate[key].at().value

    def rounding(self, claim: Claim) -> Rounding | None:
        """How the value of the claimed metric came to be printed so; None if it cannot."""
        return claim.printed.rounding_of(self.value(claim.key, claim.code))

    def counted_as(self, claim: Claim) -> int | None:
        """The 0 or 1 that was printed for an undefined value, as libraries do; else None."""
        is_defined = self.value(claim.key, claim.code) is not None
        return None if is_defined else counted_value(claim.printed)

    def explains(self, claim: Claim) -> bool:
        """Whether this matrix is what the number was computed from, 0/0 counted or not."""
        return self.rounding(claim) is not None or self.counted_as(claim) is not None


@dataclass(frozen=True)
class BothWays:
    """A printed matrix in the orientation it is taken to have, and with its axes exchanged.

    `by_counts` is what the class counts of the data say about it.
    """

    taken: MatrixValues
    exchanged: MatrixValues
    orientation: Orientation
    by_counts: OrientationVerdict


def both_ways(counts: NDArray[np.int64], class_counts: Sequence[int] | None) -> BothWays:
    """Rows are taken as actual classes unless only the columns have the class counts."""
    evidence = verify_orientation(
        counts, source=SourceOrientation.ACTUAL_ROWS, class_counts=class_counts
    )
    rows, columns = MatrixValues(counts), MatrixValues(swap_axes(counts))
    if evidence.verdict is OrientationVerdict.TRANSPOSED:
        return BothWays(columns, rows, Orientation.ACTUAL_COLUMNS, evidence.verdict)
    return BothWays(rows, columns, Orientation.ACTUAL_ROWS, evidence.verdict)
