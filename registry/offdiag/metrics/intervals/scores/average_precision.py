"""Uncertainty of average precision, from what each case contributes to it.

Average precision is a smooth function of how often each case occurs, so to first order its
variance is the sum of the squared slopes, as in the delta method for cells. Simulation favours
it, on the logit scale, over resampling: repeated positive cases tie with themselves, which
moves resampled values up. Boyd, Eng and Page (2013, ECML PKDD) find the logit scale best too.
Few positive cases estimate the variance badly, which Student's t makes up for in part: with 5
to 19 of them, intervals cover the truth in 92 to 96 of 100 samples instead of 83 to 94.
"""

from __future__ import annotations

import numpy as np

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.logit import logit_interval
from offdiag.metrics.intervals.means import student_quantile
from offdiag.metrics.probabilistic.discrimination import average_precision
from offdiag.metrics.probabilistic.ranked import RankedScores

SLOPES_OF_PRECISION = "delta, logit scale, student t"


def average_precision_interval(ranked: RankedScores, *, confidence: float = 0.95) -> Interval:
    """Interval of the average precision, inside (0, 1).

    No ends, with a note, if a class has fewer than five cases, or if every positive case stands
    before every negative one.
    """
    value = average_precision(ranked).value
    return logit_interval(
        0.0 if value is None else value,
        average_precision_variance(ranked) if ranked.n_positive else None,
        method=SLOPES_OF_PRECISION,
        quantile=student_quantile(confidence, n_cases=max(ranked.n_positive, 2)),
        n_smallest=min(ranked.n_positive, ranked.n_negative),
        smallest="smaller class",
    )


def average_precision_variance(ranked: RankedScores) -> float:
    """First-order variance, for at least one positive case.

    With g positive cases at a distinct score, h positive and r cases in all at or above it,
    AP = sum g (h / r) / P. A case adds to h and r of all lower scores, and a positive one to
    g and P as well; the slope at a case is the derivative by its number.
    """
    gained_everywhere = np.diff(ranked.positives_below)
    steps = np.flatnonzero(gained_everywhere)
    gained = gained_everywhere[steps]
    hits = ranked.n_positive - ranked.positives_below[steps]
    reported = ranked.n_cases - ranked.cases_below[steps]
    precision = hits / reported
    value = (gained * precision).sum() / ranked.n_positive

    by_hits = np.cumsum(gained / reported)
    by_reports = np.cumsum(gained * precision / reported)
    at_positives = precision - value + by_hits - by_reports
    # A negative case lowers the precision at all positive scores up to its own.
    negatives = np.diff(np.append(ranked.negatives_below[steps], ranked.n_negative))
    squares = (gained * at_positives**2).sum() + (negatives * by_reports**2).sum()
    return float(squares) / ranked.n_positive**2
