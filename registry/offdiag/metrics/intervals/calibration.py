"""What calibration errors say: the figures of a perfectly calibrated model beside them.

A calibration error adds up absolute gaps, so noise adds to it and no interval around it keeps
its level: the errors of calibrated forecasts lie above their true value, 0. What can be told is
whether the error is larger than a calibrated model with these very scores would show. Outcomes
are drawn from the scores themselves, and the error is computed of each draw (consistency
resampling: Bröcker and Smith 2007, Weather and Forecasting 22, 651).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.resampling import CELL_AXIS, batches, generator
from offdiag.metrics.scores.calibration import (
    CalibrationBins,
    equal_mass_bins,
    equal_width_bins,
    expected_calibration_errors,
    maximum_calibration_errors,
)
from offdiag.metrics.scores.ranked import RankedScores

DRAWS = 999
METHOD = f"consistency resampling, {DRAWS} draws"
EVIDENCE = 0.05
"""The p from which on chance alone is an explanation."""
MOST_CELLS = 4_096
"""Scores that are told apart. Of more, neighbours share their mean; bins stay what they are."""
_ROUNDING = 1e-12
"""Two equal errors may differ by less, being sums in another order."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CalibrationReference:
    """A calibration error of n cases, and those of calibrated models with the same scores.

    `mean` and `upper` are the mean and the quantile at the chosen confidence of the drawn
    errors; `p` is the chance that a calibrated model shows `value` or more, at least 1/1000.
    """

    value: float
    mean: float
    upper: float
    p: float
    n_cases: int

    @property
    def excess(self) -> float:
        """By how much the error is above what noise adds; 0 on average for calibrated scores."""
        return self.value - self.mean

    @property
    def sentence(self) -> str:
        """The figures, and whether they speak against calibration.

        >>> CalibrationReference(0.062, 0.061, 0.095, 0.45, 100).sentence
        'a calibrated model would show about 0.061 (up to 0.095) on these 100 examples: \
no evidence of miscalibration (p = 0.450)'
        """
        finding = (
            f"no evidence of miscalibration (p = {self.p:.3f})"
            if self.p > EVIDENCE
            else f"above what chance explains (p = {self.p:.3f}), excess {self.excess:.3f}"
        )
        return (
            f"a calibrated model would show about {self.mean:.3f} (up to {self.upper:.3f}) "
            f"on these {self.n_cases:,} examples: {finding}"
        )

    def as_interval(self) -> Interval:
        """No ends, and the sentence in place of them."""
        return Interval(None, None, METHOD, note=self.sentence)


def calibration_references(
    ranked: RankedScores, *, seed: int, confidence: float = 0.95
) -> dict[str, CalibrationReference]:
    """Figures of an event by kind of error, as in the keys: "ece", "mce", "ece_equal_mass".

    `ranked` holds the probabilities, in [0, 1], of the cases where the event happened and of
    those where it did not; at least one. The same cases and seed give the same bits.
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
            n_cases=ranked.n_cases,
        )
        for kind, (bins, errors_of) in errors.items()
    }


def _reference(
    value: float, drawn: Floats, *, confidence: float, n_cases: int
) -> CalibrationReference:
    n_as_large = int((drawn >= value - _ROUNDING).sum())
    return CalibrationReference(
        value,
        mean=float(drawn.mean()),
        upper=float(np.quantile(drawn, confidence)),
        p=(1 + n_as_large) / (1 + len(drawn)),
        n_cases=n_cases,
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """m cells of cases in ascending order of their scores.

    `cases_below` int64 (m + 1,) counts the cases before each cell, and all of them;
    `probability` (m,) is the mean score of a cell.
    """

    cases_below: Counts
    probability: Floats

    def ends_of(self, bins: CalibrationBins) -> NDArray[np.intp]:
        """Where bins begin and end among the cells, (B + 1,); every border is one of cells."""
        return np.searchsorted(self.cases_below, np.append(0, np.cumsum(bins.count)))

    def drawn_events(self, rng: np.random.Generator, size: int) -> Counts:
        """Drawn events before each cell, and all of them, (size, m + 1)."""
        count = np.diff(self.cases_below)
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


def _cells(ranked: RankedScores, *bins: CalibrationBins) -> _Cells:
    """Distinct scores, or where there are too many, neighbours within the same bins."""
    cases_below = ranked.cases_below
    values = ranked.values.astype(np.float64)
    borders = np.arange(len(cases_below))
    if len(values) > MOST_CELLS:
        wanted = np.linspace(0, ranked.n_cases, MOST_CELLS + 1)
        ends = [np.cumsum(each.count) for each in bins]
        borders = np.unique(np.searchsorted(cases_below, np.concatenate([wanted, *ends])))
    sums = np.add.reduceat(values * np.diff(cases_below), borders[:-1])
    count = np.diff(cases_below[borders])
    # A mean of numbers up to 1 may be rounded to more.
    return _Cells(cases_below[borders], np.clip(sums / count, 0.0, 1.0))
