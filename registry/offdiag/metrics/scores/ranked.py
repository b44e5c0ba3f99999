"""Scores of positive and negative cases in order: the one thing all threshold metrics need.

Area under the curve, average precision, Kolmogorov-Smirnov distance, ROC, precision-recall and
calibration bins are all sums over the distinct scores. Sorting the two groups apart needs no
index array, which makes it several times faster than ranking all cases, and every count stays
a whole number, so ties are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Scores of P positive and M negative cases, each in ascending order.

    Both arrays have one floating type; it is kept, so that two float32 scores tie exactly when
    they are equal in float32.
    """

    positive: NDArray[Any]
    negative: NDArray[Any]

    @property
    def n_positive(self) -> int:
        return len(self.positive)

    @property
    def n_negative(self) -> int:
        return len(self.negative)

    @property
    def n_cases(self) -> int:
        return self.n_positive + self.n_negative

    @cached_property
    def _distinct(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        merged = np.concatenate([self.positive, self.negative])
        # Stable sorting detects the two runs and only merges them.
        merged.sort(kind="stable")
        begins = np.ones(len(merged), dtype=np.bool_)
        np.not_equal(merged[1:], merged[:-1], out=begins[1:])
        places = np.flatnonzero(begins)
        return merged[places], np.append(places, len(merged)).astype(np.int64)

    @property
    def values(self) -> NDArray[Any]:
        """The V distinct scores, ascending."""
        return self._distinct[0]

    @property
    def cases_below(self) -> NDArray[np.int64]:
        """For each distinct score the cases with a smaller one, then all cases; (V + 1,)."""
        return self._distinct[1]

    @cached_property
    def positives_below(self) -> NDArray[np.int64]:
        """The same for positive cases."""
        places = np.searchsorted(self.positive, self.values, side="left")
        return np.append(places, self.n_positive).astype(np.int64)

    @cached_property
    def negatives_below(self) -> NDArray[np.int64]:
        """The same for negative cases."""
        return self.cases_below - self.positives_below

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """One above the largest score, then the distinct scores descending; (V + 1,)."""
        highest = self.values[-1:]
        with np.errstate(over="ignore"):  # Above the largest finite number there is infinity.
            above = np.nextafter(highest, np.array(np.inf, dtype=highest.dtype))
        return np.concatenate([above, self.values[::-1]]).astype(np.float64)

    @property
    def true_positives(self) -> NDArray[np.int64]:
        """Positive cases with at least the score, for each of `thresholds`; (V + 1,)."""
        return self.n_positive - self.positives_below[::-1]

    @property
    def false_positives(self) -> NDArray[np.int64]:
        """Negative cases with at least the score, for each of `thresholds`; (V + 1,)."""
        return self.n_negative - self.negatives_below[::-1]


def rank_scores(is_positive: NDArray[np.bool_], scores: NDArray[Any]) -> RankedScores:
    """Sort finite scores by group. Both arrays have shape (n,)."""
    return RankedScores(np.sort(scores[is_positive]), np.sort(scores[~is_positive]))


def doubled_wins(ranked: RankedScores) -> int:
    """Twice the Mann-Whitney U: 2 for each pair won by the positive case, 1 for a tie.

    Between 0 and 2 P M, and exact. The shorter array is looked up in the longer one.
    """
    positive, negative = ranked.positive, ranked.negative
    if len(positive) <= len(negative):
        return _sum_of_places(negative, positive)
    return 2 * len(positive) * len(negative) - _sum_of_places(positive, negative)


def _sum_of_places(among: NDArray[Any], wanted: NDArray[Any]) -> int:
    lower = np.searchsorted(among, wanted, side="left")
    upper = np.searchsorted(among, wanted, side="right")
    return int(lower.sum()) + int(upper.sum())
