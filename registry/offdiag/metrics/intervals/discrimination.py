"""Intervals of ranking metrics: areas under curves, average precision, Kolmogorov-Smirnov.

The interval of one area under the ROC curve is a score interval (Newcombe 2006, Statistics in
Medicine 25, 559, method 5): it contains the true areas that are compatible with the measured one,
each with the spread it would have itself, so it has ends even where the classes are separated
perfectly.

The difference of two areas is judged by their placements (DeLong, DeLong and Clarke-Pearson
1988, Biometrics 44, 837). The area is the chance that a positive sample scores above a negative
one, ties counting half; each sample has a placement, the share of the other class it beats. The
area is the mean placement, and the spread of the placements gives its variance. Midranks give
all placements in O(n log n) (Sun and Xu 2014, IEEE Signal Process. Lett. 21, 1389).

An area averaged over several classes is a function of the wins W[i, j] of class i over
class j and of the numbers of samples P[i]. A sample enters W through its placements, those it
beats and those that beat it, and P by 1, so it has a slope; the spread of the slopes gives the
variance to first order. For two classes this equals DeLong's method (1988, Biometrics 44, 837).

Average precision is a smooth function of how often each sample occurs, so to first order its
variance is the sum of the squared slopes, as in the delta method for cells. Simulations favour
it, on the logit scale, over resampling: repeated positive samples tie with themselves, which moves
resampled values up. Boyd, Eng and Page (2013, ECML PKDD) also find the logit scale best. With few
positive samples the variance is estimated poorly, for which Student's t compensates in part: with
5 to 19 of them, intervals cover the truth in 92 to 96 of 100 samples instead of 83 to 94.

The Kolmogorov-Smirnov distance is the largest of many gaps, which noise widens, and no resampled
interval keeps its level with few samples. The bound of the two-sample test does hold: two
empirical distributions of m and n samples are jointly off by more than sqrt(ln(2/a)/2) sqrt(1/m
+ 1/n) in at most a share a of samples (Smirnov 1948, Annals of Mathematical Statistics 19, 279);
for 95 % the factor is 1.358. The interval is up to twice as wide as needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offdiag.domain.number_text import number
from offdiag.metrics.intervals.bounds import Interval, size_warning
from offdiag.metrics.intervals.means import logit_interval, student_quantile
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.scores.discrimination import (
    PairwiseWins,
    auc_averages,
    average_precision,
    ks,
    pairwise_wins,
    roc_auc,
    samples_beaten_by,
)
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.scores.ranking import RankedScores

NEWCOMBE = "newcombe method 5"
_HALVINGS = 60
"""Bisection steps that locate the end of an interval to the last digits of a float64."""


@dataclass(frozen=True, slots=True)
class Placements:
    """Twice the number of samples of the other class that each sample beats, ties counting one.

    Whole numbers, so that equal rankings have exactly equal placements. `of_positives` is
    int64 of shape (m,), counted among the n negatives; `of_negatives` (n,) counts the
    positives that beat the sample. Both sum to 2 m n times the area.
    """

    of_positives: NDArray[np.int64]
    of_negatives: NDArray[np.int64]

    @property
    def area(self) -> float:
        """The area under the curve, in [0, 1]. Needs at least one sample of each class."""
        pairs = len(self.of_positives) * len(self.of_negatives)
        return int(self.of_positives.sum()) / (2 * pairs)


def placements(is_positive: NDArray[np.bool_], score: NDArray[np.float64]) -> Placements:
    """Placements of all samples; both arrays have shape (n_cases,)."""
    positives, negatives = score[is_positive], score[~is_positive]
    overall = _twice_midranks(score)
    return Placements(
        overall[is_positive] - _twice_midranks(positives),
        2 * len(positives) - (overall[~is_positive] - _twice_midranks(negatives)),
    )


def parts_of_mean_placement(
    of_positives: NDArray[np.int64], of_negatives: NDArray[np.int64]
) -> tuple[float, float] | None:
    """The terms that positives and negatives add to DeLong's variance, with denominators m - 1 and
    n - 1; None for a class of one sample.

    The arguments are placements, or differences of the placements of two scores. Both terms are
    exactly 0 if each of them is constant.
    """
    m, n = len(of_positives), len(of_negatives)
    if min(m, n) < 2:
        return None
    return (
        _sample_variance(of_positives / (2 * n), of_positives) / m,
        _sample_variance(of_negatives / (2 * m), of_negatives) / n,
    )


def degrees_of_freedom(parts: ArrayLike, cases: ArrayLike, variance: float) -> float:
    """Degrees of freedom of a `variance`, given the term and the samples of each class, both (K,).

    What exceeds the terms is treated as known (Satterthwaite 1946, Biometrics Bulletin 2, 110).
    """
    spread = float((np.square(parts) / (np.asarray(cases) - 1)).sum())
    return variance**2 / spread if spread > 0 else inf


def auc_interval(ranked: Ranking, *, confidence: float = 0.95) -> Interval:
    """Interval of one area, within [0, 1]; it contains the area.

    No ends, with a note, if one of the classes has fewer than five samples.
    """
    n_smaller = min(ranked.n_positive, ranked.n_negative)
    note, has_ends = size_warning(n_smaller, "smaller class")
    area = roc_auc(ranked).value
    if not has_ends or area is None:
        return Interval(None, None, NEWCOMBE, note=note)
    low, high = area_bounds(area, ranked.n_positive, ranked.n_negative, confidence=confidence)
    return Interval(low, high, NEWCOMBE, note=note)


def area_bounds(
    area: float, n_positive: float, n_negative: float, *, confidence: float = 0.95
) -> tuple[float, float]:
    """The range of true areas t with |area - t| <= z sqrt(V(t)), for at least one sample a class.

    The numbers of samples may be effective sizes.

    V(t) = t (1 - t) (1 + (M - 1) ((1 - t) / (2 - t) + t / (1 + t))) / (m n) with M the mean of
    the numbers m and n of samples: Hanley and McNeil's variance with M for both in the numerator.
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


AVERAGED_DELONG = "delong, averaged, logit scale"
WINNER_AXIS = 0
"""Axis of a (K, K) table of wins along which the winning class changes."""
LOSER_AXIS = 1
"""Axis of a (K, K) table of wins along which the beaten class changes."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AreaSlopes:
    """Derivatives of one averaged area.

    By the doubled wins W[i, j] it is `by_wins`[i] + `by_wins_per_case`[i] / cases[j], both (K,);
    `by_cases` (K,) are the derivatives by the number of samples of each class.
    """

    by_wins: Floats
    by_wins_per_case: Floats
    by_cases: Floats


def averaged_area_intervals(
    forecasts: Forecasts, *, confidence: float = 0.95
) -> dict[str, Interval]:
    """Intervals of `roc_auc_{ovr,ovo}_{macro,weighted}`; each class needs a column of scores.

    No ends where the averages are undefined or a class has fewer than five samples.
    """
    wins = pairwise_wins(forecasts)
    values = auc_averages(wins)
    n_smallest = int(wins.support.min())
    variances: Mapping[str, float] = {}
    if n_smallest >= 2 and len(wins.support) >= 2:
        variances = averaged_area_variances(forecasts, area_slopes(wins))
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
    """Derivatives of the four averages by key; every class has samples, K is at least 2."""
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
    nothing = np.zeros(n_classes)
    return {
        "roc_auc_ovr_macro": AreaSlopes(
            1 / (2 * n_classes * cases * others),
            nothing,
            -(area / cases + _of_others(area / others)) / n_classes,
        ),
        "roc_auc_ovr_weighted": AreaSlopes(
            1 / (2 * total * others),
            nothing,
            -share.sum() / total - _of_others(share / others),
        ),
        "roc_auc_ovo_macro": AreaSlopes(
            nothing, 1 / (2 * n_pairs * cases), -both_ways / (n_pairs * cases)
        ),
        "roc_auc_ovo_weighted": AreaSlopes(
            per_case / (4 * (n_classes - 1) * total),
            np.full(n_classes, 1 / (4 * (n_classes - 1) * total)),
            -weighted / total - either / (4 * (n_classes - 1) * total),
        ),
    }


def averaged_area_variances(
    forecasts: Forecasts, slopes: Mapping[str, AreaSlopes]
) -> dict[str, float]:
    """First-order variances by key, with DeLong's denominators; two samples or more per class."""
    at_sample = slopes_at_samples(forecasts, slopes)
    actual, n_classes = forecasts.actual, forecasts.n_classes
    return {key: slope_variance(at_sample[key], actual, n_classes)[0] for key in slopes}


def slopes_at_samples(forecasts: Forecasts, slopes: Mapping[str, AreaSlopes]) -> dict[str, Floats]:
    """What each sample adds to the averages to first order, by key, shape (n,)."""
    actual = forecasts.actual
    per_case = 1 / np.maximum(forecasts.support, 1)
    at_case = {key: slope.by_cases[actual] for key, slope in slopes.items()}
    for code in range(forecasts.n_classes):
        order = forecasts.order(code)
        classes = actual[order]
        for per_class, factors in (
            (np.ones(forecasts.n_classes), {key: each.by_wins for key, each in slopes.items()}),
            (per_case, {key: each.by_wins_per_case for key, each in slopes.items()}),
        ):
            wanted = {key: factor[code] for key, factor in factors.items() if factor[code]}
            if not wanted:
                continue
            pattern = np.empty(len(order))
            pattern[order] = _wins_and_losses(
                forecasts.ranked(code), per_class[classes], classes == code
            )
            for key, factor in wanted.items():
                at_case[key] += factor * pattern
    return at_case


def _wins_and_losses(ranked: RankedScores, weight: Floats, is_own: NDArray[np.bool_]) -> Floats:
    """The contribution of each sample, in order, to the weighted wins of the positives, (n,).

    A positive sample adds twice the weights of the negatives it beats, ties counting once;
    a negative sample adds its own weight for each positive sample that beats it.
    """
    own = np.flatnonzero(is_own)
    up_to = np.append(0.0, np.cumsum(np.where(is_own, 0.0, weight)))
    scores = ranked.ascending[own]
    below, through = (np.searchsorted(ranked.ascending, scores, side=s) for s in ("left", "right"))
    added = weight * samples_beaten_by(ranked)
    added[own] = up_to[below] + up_to[through]
    return added


def slope_variance(slopes: Floats, actual: NDArray[Any], n_classes: int) -> tuple[float, float]:
    """The sum of squares, with denominator m - 1 for the spread within a class of m samples.

    Returned with its degrees of freedom.
    """
    cases = np.bincount(actual, minlength=n_classes)
    mean = np.bincount(actual, weights=slopes, minlength=n_classes) / cases
    spread = np.bincount(actual, weights=(slopes - mean[actual]) ** 2, minlength=n_classes)
    parts = spread * cases / (cases - 1)
    variance = float((parts + cases * mean**2).sum())
    return variance, degrees_of_freedom(parts, cases, variance)


def _of_others(values: Floats) -> Floats:
    """For each class the sum over all other classes."""
    return np.asarray(values.sum() - values)


SLOPES_OF_PRECISION = "delta, logit scale, student t"


def average_precision_interval(ranked: Ranking, *, confidence: float = 0.95) -> Interval:
    """Interval of the average precision, inside (0, 1).

    No ends, with a note, if a class has fewer than five samples, or if every positive sample
    ranks above every negative one.
    """
    value = average_precision(ranked).value
    return logit_interval(
        0.0 if value is None else value,
        average_precision_variance(ranked) if ranked.n_positive else None,
        method=SLOPES_OF_PRECISION,
        quantile=student_quantile(confidence, freedom=max(ranked.n_positive - 1, 1)),
        n_smallest=min(ranked.n_positive, ranked.n_negative),
        smallest="smaller class",
    )


def average_precision_variance(ranked: Ranking) -> float:
    """First-order variance, for at least one positive sample.

    With g positive samples at a distinct score, h positive and r samples in all at or above it,
    AP = sum g (h / r) / P. A sample adds to h and r of all lower scores, and a positive one to
    g and P as well; the slope at a sample is the derivative by its number.
    """
    n_positive, n_samples = ranked.n_positive, ranked.n_samples
    value = ranked.sums.precision_sum / n_positive
    squares = by_hits = by_reports = 0.0
    for block in ranked.blocks():
        hits = n_positive - block.positives_below
        reported = n_samples - block.positives_below - block.negatives_below
        precision = hits / reported
        hits_up_to = by_hits + np.cumsum(block.positive / reported)
        reports_up_to = by_reports + np.cumsum(block.positive * precision / reported)
        at_positives = precision - value + hits_up_to - reports_up_to
        squares += float((block.positive * at_positives**2).sum())
        # A negative sample lowers the precision at all positive scores up to its own.
        squares += float((block.negative * reports_up_to**2).sum())
        by_hits, by_reports = float(hits_up_to[-1]), float(reports_up_to[-1])
    return squares / n_positive**2


DISTANCE_BOUND = "two-sample kolmogorov-smirnov bound"


def ks_interval(ranked: Ranking, *, confidence: float) -> Interval:
    """Ends within [0, 1]; the note says what scores without any skill would show.

    No ends if one of the classes has fewer than five samples.
    """
    n_smaller = min(ranked.n_positive, ranked.n_negative)
    warning, has_ends = size_warning(n_smaller, "smaller class")
    value = ks(ranked).value
    if value is None:
        return Interval(None, None, DISTANCE_BOUND, note=warning)
    reach = ks_bound(ranked.n_positive, ranked.n_negative, confidence=confidence)
    said = f"a useless score would show up to {number(min(reach, 1.0))} on these examples"
    note = said if warning is None else f"{warning}; {said}"
    if not has_ends:
        return Interval(None, None, DISTANCE_BOUND, note=note)
    return Interval(max(value - reach, 0.0), min(value + reach, 1.0), DISTANCE_BOUND, note=note)


def ks_bound(n_positive: int, n_negative: int, *, confidence: float) -> float:
    """The bound below which the distance of scores without skill stays with this `confidence`."""
    factor = sqrt(log(2 / (1 - confidence)) / 2)
    return factor * sqrt(1 / n_positive + 1 / n_negative)
