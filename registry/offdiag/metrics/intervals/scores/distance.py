"""How far the Kolmogorov-Smirnov distance of a sample can be from the true one.

It is the largest of many gaps, which noise widens, and no interval by resampling keeps its
level with few cases. What holds is the bound of the two-sample test: two empirical
distributions of m and n cases are, together, off by more than sqrt(ln(2/a)/2) sqrt(1/m + 1/n)
in at most a share a of samples (Smirnov 1948, Annals of Mathematical Statistics 19, 279); for
95 % the factor is 1.358. It is up to twice as wide as needed.
"""

from __future__ import annotations

from math import log, sqrt

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.reliability import size_warning
from offdiag.metrics.probabilistic.discrimination import ks
from offdiag.metrics.probabilistic.ranked import RankedScores

DISTANCE_BOUND = "two-sample kolmogorov-smirnov bound"


def ks_interval(ranked: RankedScores, *, confidence: float) -> Interval:
    """Ends within [0, 1], and in the note what scores without any skill would show.

    No ends if one of the classes has fewer than five cases.
    """
    n_smaller = min(ranked.n_positive, ranked.n_negative)
    warning, has_ends = size_warning(n_smaller, "smaller class")
    value = ks(ranked).value
    if value is None:
        return Interval(None, None, DISTANCE_BOUND, note=warning)
    reach = ks_bound(ranked.n_positive, ranked.n_negative, confidence=confidence)
    said = f"a useless score would show up to {min(reach, 1.0):.3f} on these examples"
    note = said if warning is None else f"{warning}; {said}"
    if not has_ends:
        return Interval(None, None, DISTANCE_BOUND, note=note)
    return Interval(max(value - reach, 0.0), min(value + reach, 1.0), DISTANCE_BOUND, note=note)


def ks_bound(n_positive: int, n_negative: int, *, confidence: float) -> float:
    """What the distance of scores without skill stays below with this `confidence`."""
    factor = sqrt(log(2 / (1 - confidence)) / 2)
    return factor * sqrt(1 / n_positive + 1 / n_negative)
