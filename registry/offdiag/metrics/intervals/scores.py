"""Intervals of all metrics of scores, each by the method that suits it.

* Shares of cases (top-k accuracy) take Wilson's interval, mean losses Student's.
* The area of a class takes Newcombe's interval, averaged areas the variance of their placements,
  average precision that of its slopes.
* Calibration errors have no interval but what a calibrated model would show
  (`scores.consistency`), the distance between distributions a wide bound that always holds.
* Reliability and resolution of the Brier score are resampled (`scores.brier_parts`).
* The uncertainty of the Brier score is a fact of the dataset and has no interval, nor has
  its resolution where no forecast was given twice: the two are equal then.
"""

from __future__ import annotations

from collections.abc import Mapping

from offdiag.metrics.arguments import confidence_level, positive_count
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.calibration import calibration_references
from offdiag.metrics.intervals.discrimination import (
    auc_interval,
    average_precision_interval,
    averaged_area_intervals,
    ks_interval,
)
from offdiag.metrics.intervals.losses import brier_part_intervals, loss_intervals
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.scores.calibration import DEFAULT_BINS
from offdiag.metrics.scores.forecasts import Forecasts, rank_counts
from offdiag.metrics.scores.ranked import RankedScores
from offdiag.metrics.scores.suite import ranked_against_rest, ranked_top_label, top_k_keys


def score_intervals(
    forecasts: Forecasts, *, seed: int, confidence: float = 0.95, replicates: int = 2_000
) -> Mapping[str, Interval]:
    """Intervals by key of what `score_metrics` gives for at least one case.

    A key is missing where the scores do not allow its metric or no interval makes sense for
    it; an interval has no ends where the metric is undefined, nothing varies, or its note says
    why, as that of a calibration error does. `replicates`
    is the most resamples taken: with many cases fewer are, at least 200, and the method says
    how many. The same forecasts, seed and replicates give the same bits.

    Raises `InvalidInput` for a confidence outside (0, 1) or no replicates.
    """
    level = confidence_level(confidence)
    wanted = positive_count(replicates, field="replicates")
    found: dict[str, Interval] = {}
    if forecasts.positive is not None:
        event = ranked_against_rest(forecasts, forecasts.positive)
        found |= class_interval(event, confidence=level)
        found["ks"] = ks_interval(event, confidence=level)
        if forecasts.are_probabilities:
            found |= _calibration(event, "positive", seed=seed, confidence=level)
    if forecasts.has_all_columns:
        found |= averaged_area_intervals(forecasts.actual, forecasts.scores, confidence=level)
    if forecasts.are_probabilities:
        found |= loss_intervals(forecasts, confidence=level)
        top = ranked_top_label(forecasts)
        found |= _calibration(top, "top_label", seed=seed, confidence=level)
        found |= brier_part_intervals(forecasts, seed=seed, confidence=level, replicates=wanted)
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
    by_class = [
        class_interval(ranked_against_rest(forecasts, code), confidence=level)
        for code in range(forecasts.n_classes)
    ]
    return {key: [found[key] for found in by_class] for key in ("roc_auc", "average_precision")}


def class_interval(ranked: RankedScores, *, confidence: float) -> dict[str, Interval]:
    """Intervals of `roc_auc` and `average_precision` of one class against the rest."""
    return {
        "roc_auc": auc_interval(ranked, confidence=confidence),
        "average_precision": average_precision_interval(ranked, confidence=confidence),
    }


def _calibration(
    event: RankedScores, of: str, *, seed: int, confidence: float
) -> dict[str, Interval]:
    """Of the calibration errors that the catalogue has; only the positive class has a largest."""
    references = calibration_references(event, seed=seed, confidence=confidence)
    keys = {
        "ece": f"ece_{of}_{DEFAULT_BINS}",
        "mce": f"mce_{of}_{DEFAULT_BINS}",
        "ece_equal_mass": f"ece_{of}_equal_mass_{DEFAULT_BINS}",
    }
    return {
        key: references[kind].as_interval()
        for kind, key in keys.items()
        if key in CATALOGUE[Scope.PROBABILISTIC]
    }


def _top_k(forecasts: Forecasts, *, confidence: float) -> dict[str, Interval]:
    counts = rank_counts(forecasts)
    total = int(counts.sum())
    return {
        key: Interval(*wilson(counts[:k].sum(), total, confidence=confidence).at(), WILSON)
        for key, k in top_k_keys(forecasts.n_classes).items()
    }
