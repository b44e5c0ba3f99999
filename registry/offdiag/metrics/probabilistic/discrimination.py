"""How well scores separate positive from negative cases, at all thresholds at once.

Nothing here needs probabilities: only the order of the scores counts.
"""

from __future__ import annotations

import numpy as np

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.probabilistic.ranked import RankedScores, doubled_wins


def roc_auc(ranked: RankedScores) -> MetricValue:
    """Probability that a positive case scores higher than a negative one, ties counting 1/2.

    The Mann-Whitney statistic over its maximum, exact until one final division; 0 to 1, and
    below 1/2 when the scores point the wrong way. Undefined unless both kinds of cases exist
    (Hanley and McNeil 1982).
    """
    undefined = _one_sided(ranked)
    if undefined is not None:
        return undefined
    return MetricValue(doubled_wins(ranked) / (2 * ranked.n_positive * ranked.n_negative))


def average_precision(ranked: RankedScores) -> MetricValue:
    """Precision at each distinct threshold, weighted by the recall gained there; 0 to 1.

    A sum of steps, not of trapezoids, which would be too optimistic (Davis and Goadrich 2006).
    Undefined without positive cases.
    """
    if ranked.n_positive == 0:
        return MetricValue(None, Reason.NO_ACTUAL_POSITIVES.value)
    gained = np.diff(ranked.positives_below)
    steps = np.flatnonzero(gained)
    hits = ranked.n_positive - ranked.positives_below[steps]
    reported = ranked.n_cases - ranked.cases_below[steps]
    return MetricValue(float((gained[steps] * (hits / reported)).sum()) / ranked.n_positive)


def ks(ranked: RankedScores) -> MetricValue:
    """Largest gap between the score distributions of positive and negative cases; 0 to 1.

    The two-sample Kolmogorov-Smirnov statistic, equally the largest |TPR - FPR| over all
    thresholds. Undefined unless both kinds of cases exist.
    """
    undefined = _one_sided(ranked)
    if undefined is not None:
        return undefined
    n_positive, n_negative = ranked.n_positive, ranked.n_negative
    gap = np.abs(ranked.positives_below * n_negative - ranked.negatives_below * n_positive)
    return MetricValue(int(gap.max()) / (n_positive * n_negative))


def _one_sided(ranked: RankedScores) -> MetricValue | None:
    if ranked.n_positive == 0:
        return MetricValue(None, Reason.NO_ACTUAL_POSITIVES.value)
    if ranked.n_negative == 0:
        return MetricValue(None, Reason.NO_ACTUAL_NEGATIVES.value)
    return None
