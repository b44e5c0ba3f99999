"""Uncertainty of the area under the ROC curve, after DeLong, DeLong and Clarke-Pearson (1988).

The area is the chance that a positive case scores above a negative one, ties counting half.
Each case has a placement: the share of the other class it beats. The area is the mean
placement, and the spread of the placements gives its variance (Biometrics 44, 837). Midranks
give all placements in O(n log n) (Sun and Xu 2014, IEEE Signal Process. Lett. 21, 1389).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.logit import logit_interval
from offdiag.metrics.probabilistic.ranked import RankedScores

METHOD = "delong, logit scale"


@dataclass(frozen=True, slots=True)
class Placements:
    """Twice the number of cases of the other class that each case beats, ties counting one.

    Whole numbers, so that equal rankings have exactly equal placements. `of_positives` is
    int64 of shape (m,), counted among the n negatives; `of_negatives` (n,) counts the
    positives that beat the case. Both sum to 2 m n times the area.
    """

    of_positives: NDArray[np.int64]
    of_negatives: NDArray[np.int64]

    @property
    def area(self) -> float:
        """The area under the curve, in [0, 1]. Needs at least one case of each class."""
        pairs = len(self.of_positives) * len(self.of_negatives)
        return int(self.of_positives.sum()) / (2 * pairs)


def placements(is_positive: NDArray[np.bool_], score: NDArray[np.float64]) -> Placements:
    """Placements of all cases; both arrays have shape (n_cases,)."""
    positives, negatives = score[is_positive], score[~is_positive]
    overall = _twice_midranks(score)
    return Placements(
        overall[is_positive] - _twice_midranks(positives),
        2 * len(positives) - (overall[~is_positive] - _twice_midranks(negatives)),
    )


def variance_of_mean_placement(
    of_positives: NDArray[np.int64], of_negatives: NDArray[np.int64]
) -> float | None:
    """DeLong's variance, denominators m - 1 and n - 1; None for a class of one case.

    The arguments are placements, or differences of the placements of two scores. The result
    is exactly 0 if each of them is constant.
    """
    m, n = len(of_positives), len(of_negatives)
    if min(m, n) < 2:
        return None
    return _sample_variance(of_positives / (2 * n), of_positives) / m + (
        _sample_variance(of_negatives / (2 * m), of_negatives) / n
    )


def ranked_placements(ranked: RankedScores) -> Placements:
    """The same placements from scores that are sorted already, in order of the scores."""
    positives, negatives = ranked.positive, ranked.negative
    return Placements(
        _twice_cases_below(positives, among=negatives),
        2 * len(positives) - _twice_cases_below(negatives, among=positives),
    )


def auc_interval(
    is_positive: NDArray[np.bool_], score: NDArray[np.float64], *, confidence: float = 0.95
) -> Interval:
    """Interval of one area: normal on the logit scale, so that it stays inside (0, 1).

    No ends, with a note, if a class is absent or has a single case, or if the area is 0 or 1
    or all placements are equal: the variance estimate is 0 then and says nothing.
    """
    return placement_interval(placements(is_positive, score), confidence=confidence)


def placement_interval(found: Placements, *, confidence: float = 0.95) -> Interval:
    """The same interval from the placements."""
    n_smaller = min(len(found.of_positives), len(found.of_negatives))
    return logit_interval(
        found.area if n_smaller else 0.0,
        variance_of_mean_placement(found.of_positives, found.of_negatives),
        method=METHOD,
        confidence=confidence,
        n_smallest=n_smaller,
        smallest="smaller class",
    )


def _twice_cases_below(scores: NDArray[Any], *, among: NDArray[Any]) -> NDArray[np.int64]:
    """Both sorted. Twice the cases of `among` below each score, ties counting one."""
    below = np.searchsorted(among, scores, side="left")
    return np.asarray(below + np.searchsorted(among, scores, side="right"), np.int64)


def _twice_midranks(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Twice the rank from 1, tied values sharing the mean of their ranks."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(values) else ordered > 0
    starts = np.flatnonzero(is_new)
    ends = np.append(starts[1:], len(values))
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.repeat(starts + ends + 1, ends - starts)
    return ranks


def _sample_variance(values: NDArray[np.float64], exact: NDArray[np.int64]) -> float:
    if exact.min() == exact.max():
        return 0.0
    return float(np.var(values, ddof=1))
