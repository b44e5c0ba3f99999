"""Intervals of all metrics of scores, each by the method that suits it.

* Shares of samples (top-k accuracy) use Wilson's interval, mean losses Student's.
* The area of a class uses Newcombe's interval, averaged areas the variance of their placements,
  average precision the variance of its slopes.
* Calibration errors have no interval; they are compared with what a calibrated model would show.
  The distance between distributions has a wide bound that always holds.
* Reliability and resolution of the Brier score use their moments, corrected for noise, unless
  most samples have a forecast of their own.
* The uncertainty of the Brier score is a fact of the dataset and has no interval.
"""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.brier_parts import brier_part_intervals
from offdiag.metrics.intervals.calibration import calibration_intervals
from offdiag.metrics.intervals.discrimination import (
    auc_interval,
    average_precision_interval,
    averaged_area_intervals,
    ks_interval,
)
from offdiag.metrics.intervals.means import loss_intervals
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.scores.forecasts import Forecasts, rank_counts
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.scores.suite import top_k_keys


def score_intervals(
    forecasts: Forecasts, *, seed: int, confidence: float = 0.95
) -> Mapping[str, Interval]:
    """Intervals by key of the results of `score_metrics` for at least one sample.

    A key is missing if the scores do not allow its metric or no interval makes sense for
    it; an interval has no ends if the metric is undefined, nothing varies, or its note gives
    another reason, as for calibration errors. The same forecasts and seed give the same bits.

    Raises `InvalidInput` for a confidence outside (0, 1).
    """
    level = confidence_level(confidence)
    found: dict[str, Interval] = {}
    if forecasts.positive is not None:
        event = forecasts.ranked(forecasts.positive)
        found |= _of_class(forecasts, forecasts.positive, level)
        found["ks"] = ks_interval(event, confidence=level)
        if forecasts.are_probabilities:
            found |= calibration_intervals(event, "positive", seed=seed, confidence=level)
    if forecasts.has_all_columns:
        found |= averaged_area_intervals(forecasts, confidence=level)
    if forecasts.are_probabilities:
        found |= loss_intervals(forecasts, confidence=level)
        top = forecasts.ranked_top_label()
        found |= calibration_intervals(top, "top_label", seed=seed, confidence=level)
        found |= brier_part_intervals(forecasts, confidence=level)
    if forecasts.has_all_columns or forecasts.are_probabilities:
        found |= _top_k(forecasts, confidence=level)
    return found


def class_score_intervals(
    forecasts: Forecasts, *, confidence: float = 0.95
) -> Mapping[str, list[Interval]]:
    """Intervals of `roc_auc` and `average_precision` of each class, in label order.

    Raises `InvalidInput` for a confidence outside (0, 1).
    """
    level = confidence_level(confidence)
    by_class = [_of_class(forecasts, code, level) for code in range(forecasts.n_classes)]
    return {key: [found[key] for found in by_class] for key in ("roc_auc", "average_precision")}


def _of_class(forecasts: Forecasts, code: int, confidence: float) -> dict[str, Interval]:
    return forecasts.once(
        ("intervals", code, confidence),
        lambda: class_interval(forecasts.ranked(code), confidence=confidence),
    )


def class_interval(ranked: Ranking, *, confidence: float) -> dict[str, Interval]:
    """Intervals of `roc_auc` and `average_precision` of one class against the rest."""
    return {
        "roc_auc": auc_interval(ranked, confidence=confidence),
        "average_precision": average_precision_interval(ranked, confidence=confidence),
    }


def _top_k(forecasts: Forecasts, *, confidence: float) -> dict[str, Interval]:
    counts = rank_counts(forecasts)
    total = int(counts.sum())
    return {
        key: Interval(*wilson(counts[:k].sum(), total, confidence=confidence).at(), WILSON)
        for key, k in top_k_keys(forecasts.n_classes).items()
    }
