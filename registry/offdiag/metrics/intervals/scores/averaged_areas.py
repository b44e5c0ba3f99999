"""Uncertainty of areas under the ROC curve that are averaged over several classes.

An averaged area is a function of the wins W[i, j] of class i over class j and of the numbers
of cases P[i]. A case enters W through its placements, the cases it beats and those that beat
it, and P by 1, so it has a slope; the spread of the slopes gives the variance to first order.
This is DeLong's method (1988, Biometrics 44, 837), which it equals for two classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.logit import logit_interval
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.probabilistic.multiclass_auc import PairwiseWins, auc_averages, pairwise_wins

AVERAGED_DELONG = "delong, averaged, logit scale"
WINNER_AXIS = 0
"""Axis of a (K, K) table of wins along which the winning class changes."""
LOSER_AXIS = 1
"""Axis of a (K, K) table of wins along which the beaten class changes."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AreaSlopes:
    """Derivatives of one averaged area.

    `by_wins` (K, K) by the doubled wins W[i, j], 0 on the diagonal; `by_cases` (K,) by the
    number of cases of each class.
    """

    by_wins: Floats
    by_cases: Floats


def averaged_area_intervals(
    actual: NDArray[Any], scores: NDArray[Any], *, confidence: float = 0.95
) -> dict[str, Interval]:
    """Intervals of `roc_auc_{ovr,ovo}_{macro,weighted}` of n codes and (n, K) scores.

    No ends where the averages are undefined or a class has fewer than five cases.
    """
    wins = pairwise_wins(actual, scores)
    values = auc_averages(wins)
    n_smallest = int(wins.support.min())
    variances: Mapping[str, float] = {}
    if n_smallest >= 2 and len(wins.support) >= 2:
        variances = averaged_area_variances(actual, scores, area_slopes(wins))
    return {
        key: logit_interval(
            value.value or 0.0,
            variances.get(key),
            method=AVERAGED_DELONG,
            quantile=normal_quantile(confidence),
            n_smallest=n_smallest,
            smallest="smallest class",
        )
        for key, value in values.items()
    }


def area_slopes(wins: PairwiseWins) -> dict[str, AreaSlopes]:
    """Derivatives of the four averages by key; every class has cases, K is at least 2."""
    cases = wins.support.astype(np.float64)
    total, n_classes = cases.sum(), len(cases)
    others = total - cases
    doubled = np.where(np.eye(n_classes, dtype=np.bool_), 0.0, wins.doubled)
    pairs = np.outer(cases, cases)
    area = doubled.sum(axis=LOSER_AXIS) / (2 * cases * others)
    share = cases * area / total
    of_pair = doubled / (2 * pairs)
    both_ways = of_pair.sum(axis=LOSER_AXIS) + of_pair.sum(axis=WINNER_AXIS)
    per_case = 1 / cases
    weighted = (doubled * np.add.outer(per_case, per_case)).sum() / (4 * (n_classes - 1) * total)
    either = (doubled.sum(axis=LOSER_AXIS) + doubled.sum(axis=WINNER_AXIS)) / cases**2
    n_pairs = n_classes * (n_classes - 1)
    return {
        "roc_auc_ovr_macro": AreaSlopes(
            _against_rest(1 / (2 * n_classes * cases * others)),
            -(area / cases + _of_others(area / others)) / n_classes,
        ),
        "roc_auc_ovr_weighted": AreaSlopes(
            _against_rest(1 / (2 * total * others)),
            -share.sum() / total - _of_others(share / others),
        ),
        "roc_auc_ovo_macro": AreaSlopes(
            _off_diagonal(1 / (2 * n_pairs * pairs)), -both_ways / (n_pairs * cases)
        ),
        "roc_auc_ovo_weighted": AreaSlopes(
            _off_diagonal(np.add.outer(per_case, per_case) / (4 * (n_classes - 1) * total)),
            -weighted / total - either / (4 * (n_classes - 1) * total),
        ),
    }


def averaged_area_variances(
    actual: NDArray[Any], scores: NDArray[Any], slopes: Mapping[str, AreaSlopes]
) -> dict[str, float]:
    """First-order variances by key, with DeLong's denominators; each class has two cases."""
    n_classes = len(scores[0])
    at_case = slopes_at_cases(actual, scores, slopes)
    return {key: slope_variance(at_case[key], actual, n_classes) for key in slopes}


def slopes_at_cases(
    actual: NDArray[Any], scores: NDArray[Any], slopes: Mapping[str, AreaSlopes]
) -> dict[str, Floats]:
    """What each case adds to the averages to first order, by key, shape (n,)."""
    n_classes = len(scores[0])
    at_case = {key: slope.by_cases[actual] for key, slope in slopes.items()}
    for code in range(n_classes):
        column = scores[:, code]
        order = np.argsort(column, kind="stable")
        ascending, classes = column[order], actual[order]
        is_own = classes == code
        own = ascending[is_own]
        below, up_to = (np.searchsorted(ascending, own, side=side) for side in ("left", "right"))
        own_below = np.searchsorted(own, ascending, side="left")
        beaten_by = 2 * len(own) - own_below - np.searchsorted(own, ascending, side="right")
        for key, slope in slopes.items():
            of_class = slope.by_wins[code][classes]
            beaten = np.concatenate([[0.0], np.cumsum(of_class)])
            added = of_class * beaten_by
            added[is_own] = beaten[below] + beaten[up_to]
            at_case[key][order] += added
    return at_case


def slope_variance(slopes: Floats, actual: NDArray[Any], n_classes: int) -> float:
    """Sum of squares, in which the spread within a class of m cases has denominator m - 1."""
    cases = np.bincount(actual, minlength=n_classes)
    mean = np.bincount(actual, weights=slopes, minlength=n_classes) / cases
    spread = np.bincount(actual, weights=(slopes - mean[actual]) ** 2, minlength=n_classes)
    return float((spread * cases / (cases - 1) + cases * mean**2).sum())


def _against_rest(weights: Floats) -> Floats:
    """The same weight for the wins of a class over any other class."""
    return _off_diagonal(np.repeat(weights, len(weights)).reshape(len(weights), len(weights)))


def _off_diagonal(table: Floats) -> Floats:
    return np.where(np.eye(len(table), dtype=np.bool_), 0.0, table)


def _of_others(values: Floats) -> Floats:
    """For each class the sum over all other classes."""
    return np.asarray(values.sum() - values)
