"""Intervals of all metrics of scores, each by the method that suits it.

* Shares of samples (top-k accuracy) take Wilson's interval, mean losses Student's.
* The area of a class takes Newcombe's interval, averaged areas the variance of their placements,
  average precision that of its slopes.
* Calibration errors have no interval but what a calibrated model would show, the distance
  between distributions a wide bound that always holds.
* Reliability and resolution of the Brier score take their moments, less the noise in both, unless
  most samples have a forecast of their own.
* The uncertainty of the Brier score is a fact of the dataset and has no interval.

A calibration error adds up absolute gaps, so noise adds to it and no interval around it keeps
its level: the errors of calibrated forecasts lie above their true value, 0. What can be said is
whether the error is larger than a calibrated model with these very scores would show. Outcomes
are drawn from the scores themselves, and the error is computed of each draw (consistency
resampling: Bröcker and Smith 2007, Weather and Forecasting 22, 651).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import p_value
from offdiag.metrics.arguments import confidence_level
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.brier_parts import brier_part_intervals
from offdiag.metrics.intervals.discrimination import (
    auc_interval,
    average_precision_interval,
    averaged_area_intervals,
    ks_interval,
)
from offdiag.metrics.intervals.means import loss_intervals
from offdiag.metrics.intervals.proportions import WILSON, wilson
from offdiag.metrics.intervals.resampling import CELL_AXIS, batches, generator
from offdiag.metrics.scores.calibration import (
    DEFAULT_BINS,
    CalibrationBins,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_errors,
    maximum_calibration_errors,
)
from offdiag.metrics.scores.forecasts import Forecasts, rank_counts
from offdiag.metrics.scores.ranked_cells import Ranking
from offdiag.metrics.scores.suite import top_k_keys

DRAWS = 999
METHOD = f"consistency resampling, {DRAWS} draws"
EVIDENCE = 0.05
"""The p from which on chance alone is an explanation."""
MOST_CELLS = 4_096
"""Scores that are told apart one by one."""
MERGED_CELLS = 256
"""Of more, neighbours within a bin share their mean, which widens the spread of its events by
less than 1 in 100: what equal probabilities overstate is at most the square of a bin's width."""
_ROUNDING = 1e-12
"""Two equal errors may differ by less, being sums in another order."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CalibrationReference:
    """A calibration error of n samples, and those of calibrated models with the same scores.

    `mean` and `upper` are the mean and the quantile at the chosen confidence of the drawn
    errors; `p` is the chance that a calibrated model shows `value` or more, at least 1/1000.
    """

    value: float
    mean: float
    upper: float
    p: float
    n_samples: int

    @property
    def excess(self) -> float:
        """By how much the error is above what noise adds; 0 on average for calibrated scores."""
        return self.value - self.mean

    @property
    def sentence(self) -> str:
        """The figures, and whether they speak against calibration.

        >>> CalibrationReference(0.062, 0.061, 0.095, 0.45, 100).sentence
        'a calibrated model would show about 0.061 (up to 0.095) on these 100 examples: \
no evidence of miscalibration (p = 0.45)'
        """
        finding = (
            f"no evidence of miscalibration ({p_value(self.p)})"
            if self.p > EVIDENCE
            else f"above what chance explains ({p_value(self.p)}), excess {self.excess:.3f}"
        )
        samples = "this example" if self.n_samples == 1 else f"these {self.n_samples:,} examples"
        return (
            f"a calibrated model would show about {self.mean:.3f} (up to {self.upper:.3f}) "
            f"on {samples}: {finding}"
        )

    def as_interval(self) -> Interval:
        """No ends, and the sentence in place of them."""
        return Interval(None, None, METHOD, note=self.sentence)


def calibration_references(
    ranked: Ranking, *, seed: int, confidence: float = 0.95
) -> dict[str, CalibrationReference]:
    """Figures of an event by kind of error, as in the keys: "ece", "mce", "ece_equal_mass".

    `ranked` holds the probabilities, in [0, 1], of the samples where the event happened and of
    those where it did not; at least one. The same samples and seed give the same bits.
    """
    by_width, by_mass = equal_width_bins(ranked), equal_mass_bins(ranked)
    errors = {
        "ece": (by_width, expected_calibration_errors),
        "mce": (by_width, maximum_calibration_errors),
        "ece_equal_mass": (by_mass, expected_calibration_errors),
    }
    drawn = {kind: np.empty(DRAWS) for kind in errors}
    cells = _cells(ranked, by_width, by_mass)
    rng = generator(seed)
    for part in batches(DRAWS, n_cells=len(cells.probability)):
        events = cells.drawn_events(rng, part.stop - part.start)
        for kind, (bins, errors_of) in errors.items():
            happened = np.diff(events[:, cells.ends_of(bins)], axis=CELL_AXIS)
            drawn[kind][part] = errors_of(bins, happened)
    return {
        kind: _reference(
            float(errors_of(bins, bins.happened[np.newaxis])[0]),
            drawn[kind],
            confidence=confidence,
            n_samples=ranked.n_samples,
        )
        for kind, (bins, errors_of) in errors.items()
    }


def _reference(
    value: float, drawn: Floats, *, confidence: float, n_samples: int
) -> CalibrationReference:
    n_as_large = int((drawn >= value - _ROUNDING).sum())
    return CalibrationReference(
        value,
        mean=float(drawn.mean()),
        upper=float(np.quantile(drawn, confidence)),
        p=(1 + n_as_large) / (1 + len(drawn)),
        n_samples=n_samples,
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """m cells of samples in ascending order of their scores.

    `samples_below` int64 (m + 1,) counts the samples before each cell, and all of them;
    `probability` (m,) is the mean score of a cell.
    """

    samples_below: Counts
    probability: Floats

    def ends_of(self, bins: CalibrationBins) -> NDArray[np.intp]:
        """Where bins begin and end among the cells, (B + 1,); every border is one of cells."""
        return np.searchsorted(self.samples_below, np.append(0, np.cumsum(bins.count)))

    def drawn_events(self, rng: np.random.Generator, size: int) -> Counts:
        """Drawn events before each cell, and all of them, (size, m + 1)."""
        count = np.diff(self.samples_below)
        shape = (size, len(count))
        # Most small runs have no two equal scores, and a coin is the fastest binomial draw.
        events = (
            rng.random(shape) < self.probability
            if count.max() == 1
            else rng.binomial(count, self.probability, size=shape)
        )
        up_to = np.zeros((size, len(count) + 1), np.int64)
        np.cumsum(events, axis=CELL_AXIS, out=up_to[:, 1:])
        return up_to


def _cells(ranked: Ranking, *bins: CalibrationBins) -> _Cells:
    """Distinct scores, or where there are too many, neighbours within the same bins."""
    if ranked.sums.n_distinct <= MOST_CELLS:
        below = ranked.samples_below
        sums = ranked.values.astype(np.float64) * np.diff(below)
    else:
        wanted = np.linspace(0, ranked.n_samples, MERGED_CELLS + 1).astype(np.int64).tolist()
        quantiles = [ranked.end_of_ties(place) for place in wanted]
        ends = [np.cumsum(each.count) for each in bins]
        below = np.unique(np.concatenate([quantiles, *ends]))
        sums = ranked.score_sums(below)
    # A mean of numbers up to 1 may be rounded to more.
    return _Cells(below, np.clip(sums / np.diff(below), 0.0, 1.0))


def score_intervals(
    forecasts: Forecasts, *, seed: int, confidence: float = 0.95
) -> Mapping[str, Interval]:
    """Intervals by key of what `score_metrics` gives for at least one sample.

    A key is missing where the scores do not allow its metric or no interval makes sense for
    it; an interval has no ends where the metric is undefined, nothing varies, or its note says
    why, as that of a calibration error does. The same forecasts and seed give the same bits.

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


def calibration_intervals(
    event: Ranking, of: str, *, seed: int, confidence: float
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
