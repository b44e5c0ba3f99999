"""Cases with equal score and outcome counted together, in ascending order of the scores.

Everything that depends on the order of scores is a function of how many cases each of these
cells holds, so a resample needs new counts only: scores are sorted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.probabilistic.ranked import RankedScores

CELL_AXIS = 1
"""Axis of resampled counts (b, m) along which the cell changes."""


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """m cells, all arrays of shape (m,).

    `score` is ascending, in the type of the scores. Where positive and negative cases share
    one, the negative cell comes first. `count` is int64 and positive.
    """

    score: NDArray[Any]
    is_positive: NDArray[np.bool_]
    count: NDArray[np.int64]

    @cached_property
    def group_starts(self) -> NDArray[np.intp]:
        """The first cell of each distinct score, (V,)."""
        is_new = np.ones(len(self.score), dtype=np.bool_)
        np.not_equal(self.score[1:], self.score[:-1], out=is_new[1:])
        return np.flatnonzero(is_new)

    @cached_property
    def surplus(self) -> NDArray[np.float64]:
        """Score minus outcome (1 or 0) of a case in each cell."""
        return self.score.astype(np.float64) - self.is_positive


def score_cells(ranked: RankedScores) -> ScoreCells:
    """Count the cases of at least one case by score and outcome."""
    by_outcome = (np.diff(ranked.negatives_below), np.diff(ranked.positives_below))
    counts = np.stack(by_outcome, axis=CELL_AXIS).reshape(-1)
    occupied = np.flatnonzero(counts)
    return ScoreCells(ranked.values[occupied // 2], occupied % 2 == 1, counts[occupied])
