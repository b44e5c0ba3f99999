"""What calibration error a calibrated model with the same scores would show.

A calibration error adds up absolute gaps, so noise adds to it and no interval around it keeps
its level: the errors of calibrated forecasts lie above their true value, 0. What can be tested is
whether the error is larger than a calibrated model with exactly these scores would show. Outcomes
are drawn from the scores themselves, and the error of each draw is computed (consistency
resampling: Bröcker and Smith 2007, Weather and Forecasting 22, 651).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.number_text import about, number, p_value
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.draws import batches, generator
from offdiag.metrics.scores.calibration import (
    DEFAULT_BINS,
    CalibrationBins,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_errors,
    maximum_calibration_errors,
)
from offdiag.metrics.scores.ranked_cells import Ranking

DRAWS = 999
METHOD = f"consistency resampling, {DRAWS} draws"
EVIDENCE = 0.05
"""p values from here on are compatible with chance alone."""
MOST_CELLS = 4_096
"""Distinct scores up to which each has a cell of its own."""
MERGED_CELLS = 256
"""With more scores, neighbours within a bin share their mean, which increases the spread of its
events by less than 1 in 100: equal probabilities overstate it by at most the squared bin width."""
CELL_AXIS = 1
"""Axis of drawn events (draws, cells) along which the score changes."""
_ROUNDING = 1e-12
"""Two equal errors may differ by up to this, being sums in different orders."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CalibrationReference:
    """A calibration error of n samples, with errors of calibrated models with the same scores.

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
        """How far the error is above what noise adds; 0 on average for calibrated scores."""
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
            else f"above what chance explains ({p_value(self.p)}), excess {number(self.excess)}"
        )
        samples = "this example" if self.n_samples == 1 else f"these {self.n_samples:,} examples"
        return (
            f"a calibrated model would show {about(self.mean)} (up to {number(self.upper)}) "
            f"on {samples}: {finding}"
        )

    def as_interval(self) -> Interval:
        """An interval without ends, with the sentence as its note."""
        return Interval(None, None, METHOD, note=self.sentence)


def calibration_references(
    ranked: Ranking, *, seed: int, confidence: float = 0.95
) -> dict[str, CalibrationReference]:
    """References for an event by kind of error, as in the keys: "ece", "mce", "ece_equal_mass".

    `ranked` holds the probabilities, in [0, 1], of the samples where the event happened and of
    those where it did not, at least one sample in all. The same samples and seed give the same
    bits.
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

    `samples_below` int64 (m + 1,) counts the samples before each cell, and finally all of them;
    `probability` (m,) is the mean score of a cell.
    """

    samples_below: Counts
    probability: Floats

    def ends_of(self, bins: CalibrationBins) -> NDArray[np.intp]:
        """Cell positions of the bin borders, (B + 1,); every border is also one between cells."""
        return np.searchsorted(self.samples_below, np.append(0, np.cumsum(bins.count)))

    def drawn_events(self, rng: np.random.Generator, size: int) -> Counts:
        """Drawn events before each cell, and finally all of them, (size, m + 1)."""
        count = np.diff(self.samples_below)
        shape = (size, len(count))
        # Most small runs have no equal scores, and a coin toss is the fastest binomial draw.
        events = (
            rng.random(shape) < self.probability
            if count.max() == 1
            else rng.binomial(count, self.probability, size=shape)
        )
        up_to = np.zeros((size, len(count) + 1), np.int64)
        np.cumsum(events, axis=CELL_AXIS, out=up_to[:, 1:])
        return up_to


def _cells(ranked: Ranking, *bins: CalibrationBins) -> _Cells:
    """Distinct scores; where there are too many, neighbours within the same bins are merged."""
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


def calibration_intervals(
    event: Ranking, of: str, *, seed: int, confidence: float
) -> dict[str, Interval]:
    """Intervals of the calibration errors in the catalogue; MCE is for the positive class only."""
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
