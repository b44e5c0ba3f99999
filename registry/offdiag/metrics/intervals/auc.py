"""Uncertainty of the area under the ROC curve.

The interval of one area is a score interval (Newcombe 2006, Statistics in Medicine 25, 559,
method 5): it asks which true areas are compatible with the measured one, each with the spread
that it would have itself, and so has ends where the classes are separated perfectly, too.

The difference of two areas is judged by their placements (DeLong, DeLong and Clarke-Pearson
1988, Biometrics 44, 837). The area is the chance that a positive case scores above a negative
one, ties counting half; each case has a placement, the share of the other class it beats. The
area is the mean placement, and the spread of the placements gives its variance. Midranks give
all placements in O(n log n) (Sun and Xu 2014, IEEE Signal Process. Lett. 21, 1389).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.intervals.reliability import size_warning
from offdiag.metrics.probabilistic.discrimination import roc_auc
from offdiag.metrics.probabilistic.ranked import RankedScores

NEWCOMBE = "newcombe method 5"
_HALVINGS = 60
"""Steps after which the end of an interval is found to the last digits of a float64."""


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


def auc_interval(ranked: RankedScores, *, confidence: float = 0.95) -> Interval:
    """Interval of one area, inside [0, 1]; it holds the area.

    No ends, with a note, if one of the classes has fewer than five cases.
    """
    n_smaller = min(ranked.n_positive, ranked.n_negative)
    note, has_ends = size_warning(n_smaller, "smaller class")
    area = roc_auc(ranked).value
    if not has_ends or area is None:
        return Interval(None, None, NEWCOMBE, note=note)
    low, high = area_bounds(area, ranked.n_positive, ranked.n_negative, confidence=confidence)
    return Interval(low, high, NEWCOMBE, note=note)


def area_bounds(
    area: float, n_positive: int, n_negative: int, *, confidence: float = 0.95
) -> tuple[float, float]:
    """All true areas t with |area - t| <= z sqrt(V(t)), for at least one case of each class.

    V(t) = t (1 - t) (1 + (M - 1) ((1 - t) / (2 - t) + t / (1 + t))) / (m n) with M the mean of
    the numbers m and n of cases: Hanley and McNeil's variance with both numbers levelled.
    """
    z = normal_quantile(confidence)
    pairs, others = n_positive * n_negative, (n_positive + n_negative) / 2 - 1

    def is_compatible(true: float) -> bool:
        spread = 1 + others * ((1 - true) / (2 - true) + true / (1 + true))
        return abs(area - true) <= z * sqrt(true * (1 - true) * spread / pairs)

    def end(outside: float) -> float:
        inside = area
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if is_compatible(middle) else (inside, middle)
        return inside

    return end(0.0), end(1.0)


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
