"""Cochran's Q: do several runs get equally many of the same cases right?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.values import Reason
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import zero_one

CASE_AXIS = 0
RUN_AXIS = 1


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Result of Cochran's test. `q` and `p` are None where no case tells the runs apart."""

    q: float | None
    df: int
    p: float | None
    reason: str | None


def cochran_q(correct: ArrayLike) -> CochranQ:
    """Test whether k runs have the same accuracy on the same n cases.

    `correct` is (n, k): 1 or True where the run of that column gets the case right.
    Q = (k-1)(k sum C_j^2 - T^2)/(k T - sum R_i^2) with column sums C, row sums R and total T,
    chi-square with k - 1 degrees of freedom (Cochran 1950, Biometrika 37, 256). For k = 2 it
    is McNemar's chi-square. Cases that all runs get right, or all wrong, do not matter.
    Raises `InvalidInput` for another shape, fewer than two runs, or other values.
    """
    hits = zero_one(correct, field="correct", hint="Give 1 for a right answer and 0 for a wrong.")
    if hits.ndim != 2 or hits.shape[RUN_AXIS] < 2:
        raise InvalidInput(
            f"the shape is {hits.shape}.",
            field="correct",
            hint="Give one row for each case and one column for each of two or more runs.",
        )
    per_case = hits.sum(axis=RUN_AXIS, dtype=np.int64)
    per_run = hits.sum(axis=CASE_AXIS, dtype=np.int64)
    return _cochran([int(count) for count in per_run], int((per_case * per_case).sum()))


def cochran_of_counts(both_right: NDArray[np.int64]) -> CochranQ:
    """The same from how many cases two runs both get right, (k, k) with k at least 2.

    Their sum is that of R_i^2, since R_i^2 counts the pairs of runs that get case i right.
    """
    return _cochran(np.diagonal(both_right).tolist(), int(both_right.sum()))


def _cochran(per_run: list[int], squares: int) -> CochranQ:
    """From the column sums and the sum of the squared row sums."""
    from scipy.special import gammaincc

    # Python integers: n may be large, and the products below are exact only then.
    k, total = len(per_run), sum(per_run)
    spread = k * total - squares
    if spread == 0:
        return CochranQ(None, k - 1, None, Reason.NO_DISCORDANT_PAIRS.value)
    q = (k - 1) * (k * sum(count * count for count in per_run) - total * total) / spread
    return CochranQ(q, k - 1, float(gammaincc((k - 1) / 2, q / 2)), None)
