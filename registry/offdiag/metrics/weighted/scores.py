"""All metrics of the scores of weighted samples; those not available for weights are undefined.

Losses are weighted means. With W the sum of the n weights, the variance of a mean is
sum w^2 (loss - mean)^2 / W^2, which for equal weights is that of counts except for the factor
m / (m - 1) of an effective size m, which is added. Averaged areas against the rest use the sum of
squares of how far each sample moves them, in which the spread within a class has the same factor.

Metrics that are not implemented for weights are undefined with the reason `scores_not_weighted`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.intervals.discrimination import AVERAGED_DELONG
from offdiag.metrics.intervals.means import logit_interval, mean_loss_intervals
from offdiag.metrics.intervals.proportions import normal_quantile, wilson_of_sizes
from offdiag.metrics.scores.forecasts import CLASS_AXIS, Forecasts, places_of_actual
from offdiag.metrics.scores.losses import (
    CLIP,
    LossMoments,
    Moments,
    mean_losses,
    squared_distances,
)
from offdiag.metrics.scores.suite import class_metrics, score_metrics, top_k_keys
from offdiag.metrics.weighted.counts import Floats, kish, whole_sizes
from offdiag.metrics.weighted.intervals import WILSON, Sums, effective_size, one_of
from offdiag.metrics.weighted.ranking import (
    WeightedRanking,
    rank_weighted,
    ranking_metrics,
    weighted_ks,
)

Values = Mapping[str, MetricValue]


@dataclass(frozen=True, eq=False)
class WeightedForecasts:
    """Scores of n samples with weights above 0, float64 (n,)."""

    forecasts: Forecasts
    weight: Floats

    @classmethod
    def of(cls, forecasts: Forecasts, weight: Floats) -> WeightedForecasts:
        """Leave out samples with weight 0, which do not affect any result."""
        counts = weight > 0
        return cls(
            Forecasts(
                forecasts.actual[counts],
                forecasts.scores[counts],
                n_classes=forecasts.n_classes,
                positive=forecasts.positive,
            ),
            weight[counts],
        )

    def ranked(self, code: int) -> WeightedRanking:
        """Scores for one class, of its samples and of all others."""
        forecasts = self.forecasts
        return forecasts.once(
            ("weighted", code),
            lambda: rank_weighted(forecasts.actual == code, forecasts.of_class(code), self.weight),
        )

    @cached_property
    def class_weights(self) -> Floats:
        """Sums of the weights by actual class, (K,)."""
        return self._by_class(self.weight)

    @cached_property
    def class_sizes(self) -> Floats:
        """Kish's effective sizes by actual class, (K,)."""
        return kish(self.class_weights, self._by_class(np.square(self.weight)))

    @property
    def class_samples(self) -> NDArray[np.int64]:
        """Effective sizes in whole samples, rounded down, (K,)."""
        return whole_sizes(self.class_sizes)

    def _by_class(self, values: Floats) -> Floats:
        found = np.bincount(self.forecasts.actual, values, minlength=self.forecasts.n_classes)
        return found.astype(np.float64)


def undefined_scores(forecasts: Forecasts, reason: Reason) -> tuple[Values, dict[str, list[Any]]]:
    """All keys that such scores have, over all classes and by class, with undefined values."""
    nothing = MetricValue(None, reason.value)
    columns = int(forecasts.scores.shape[CLASS_AXIS])
    one = Forecasts(
        np.zeros(1, dtype=np.uint8),
        np.full((1, columns), 1 / max(columns, 2), dtype=np.float32),
        n_classes=forecasts.n_classes,
        positive=forecasts.positive,
    )
    return (
        dict.fromkeys(score_metrics(one), nothing),
        {key: [nothing] * forecasts.n_classes for key in class_metrics(one)},
    )


def weighted_class_metrics(
    of: WeightedForecasts, *, confidence: float = 0.95
) -> dict[str, list[MetricValue]]:
    """`roc_auc` and `average_precision` of each class with intervals, in label order."""
    found = [
        ranking_metrics(of.ranked(code), confidence=confidence)
        for code in range(of.forecasts.n_classes)
    ]
    return {key: [each[key] for each in found] for key in ("roc_auc", "average_precision")}


def weighted_score_metrics(of: WeightedForecasts, *, confidence: float = 0.95) -> Values:
    """The overall metrics of `score_metrics`, with intervals."""
    forecasts = of.forecasts
    if forecasts.n_samples == 0:
        return undefined_scores(forecasts, Reason.NO_SAMPLES)[0]
    found = dict(undefined_scores(forecasts, Reason.SCORES_NOT_WEIGHTED)[0])
    if forecasts.positive is not None:
        event = of.ranked(forecasts.positive)
        found |= ranking_metrics(event, confidence=confidence)
        found["ks"] = weighted_ks(event)
    if forecasts.has_all_columns:
        found |= _averaged_areas(of, confidence)
    no_probabilities = MetricValue(None, Reason.SCORES_NOT_PROBABILITIES.value)
    keys = ("log_loss", "log_loss_clipped", "brier_sum", "brier_half")
    found |= (
        _losses(of, confidence)
        if forecasts.are_probabilities
        else dict.fromkeys(keys, no_probabilities)
    )
    if forecasts.has_all_columns or forecasts.are_probabilities:
        return found | _top_k(of, confidence)
    return found | dict.fromkeys(top_k_keys(forecasts.n_classes), no_probabilities)


def _losses(of: WeightedForecasts, confidence: float) -> dict[str, MetricValue]:
    given = of.forecasts.of_actual()
    clipped = -np.log(np.clip(given, CLIP, 1 - CLIP))
    moments = LossMoments(
        _moments(-np.log(given), of.weight) if given.all() else None,
        _moments(clipped, of.weight),
        _moments(squared_distances(of.forecasts), of.weight),
    )
    found = mean_losses(moments)
    intervals = mean_loss_intervals(moments, of.class_samples, confidence=confidence)
    return found | {key: each.around(found[key]) for key, each in intervals.items()}


def _moments(losses: Floats, weight: Floats) -> Moments:
    """Moments of as many equal samples as have a mean of the same variance (effective size)."""
    total = weight.sum()
    size = float(kish(np.asarray(total), np.asarray(np.square(weight).sum())))
    mean = float((weight * losses).sum() / total)
    squares = np.square(weight / total * (losses - mean)).sum()
    return Moments(size, mean, float(squares) * size**2)


def _top_k(of: WeightedForecasts, confidence: float) -> dict[str, MetricValue]:
    place = np.concatenate(list(places_of_actual(of.forecasts)))
    whole = Sums.of(of.weight)
    one = one_of(whole)
    found = {}
    for key, k in top_k_keys(of.forecasts.n_classes).items():
        hits, misses = (Sums.of(of.weight[chosen]) for chosen in (place < k, place >= k))
        share = np.clip(hits.weights / whole.weights, 0.0, 1.0)
        size = effective_size(hits, misses, one, one)
        size = np.minimum(size, len(place))
        low, high = wilson_of_sizes(share * size, size, confidence=confidence).at()
        found[key] = MetricValue(float(share), ci_low=low, ci_high=high, ci_method=WILSON)
    return found


def _averaged_areas(of: WeightedForecasts, confidence: float) -> dict[str, MetricValue]:
    keys = ("roc_auc_ovr_macro", "roc_auc_ovr_weighted")
    weights, n_classes = of.class_weights, of.forecasts.n_classes
    if n_classes < 2 or not weights.all():
        reason = Reason.CLASS_VALUE_UNDEFINED if n_classes > 1 else Reason.TOO_FEW_CLASSES
        return dict.fromkeys(keys, MetricValue(None, reason.value))
    areas = np.array([of.ranked(code).area for code in range(n_classes)])
    share = weights / weights.sum()
    macro, weighted = float(areas.mean()), float((share * areas).sum())
    by_macro, by_weighted = np.zeros(len(of.weight)), np.zeros(len(of.weight))
    for code in range(n_classes):
        moved = _moved_area(of, code)
        by_macro += moved / n_classes
        by_weighted += share[code] * moved
    # The share of a class moves as well.
    by_weighted += (areas[of.forecasts.actual] - weighted) / weights.sum()
    smallest = int(of.class_samples.min())
    values = {keys[0]: (macro, by_macro), keys[1]: (weighted, by_weighted)}
    return {
        key: logit_interval(
            value,
            _variance(of, slopes) if smallest >= 2 else None,
            method=AVERAGED_DELONG,
            quantile=normal_quantile(confidence),
            n_smallest=smallest,
            smallest="smallest class",
        ).around(MetricValue(value))
        for key, (value, slopes) in values.items()
    }


def _moved_area(of: WeightedForecasts, code: int) -> Floats:
    """How far a unit of weight of each sample moves the area of a class, (n,)."""
    ranked = of.ranked(code)
    place = np.searchsorted(ranked.values, of.forecasts.of_class(code))
    is_own = of.forecasts.actual == code
    beaten, beating = (each[place] - ranked.area for each in ranked.placements)
    of_positives, of_negatives = ranked.totals
    return np.where(is_own, beaten / of_positives, beating / of_negatives)


def _variance(of: WeightedForecasts, slopes: Floats) -> float:
    """Sum of squares of weights times slopes, the spread within a class with denominator m - 1."""
    actual = of.forecasts.actual
    mean = np.bincount(actual, of.weight * slopes, of.forecasts.n_classes) / of.class_weights
    spread = np.square(of.weight * (slopes - mean[actual]))
    within = np.bincount(actual, spread, of.forecasts.n_classes) / (of.class_sizes - 1)
    return float(np.square(of.weight * slopes).sum() + within.sum())
