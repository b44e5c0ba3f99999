"""Intervals of the metrics of scores that noise inflates, from resampled cases.

Time grows with cases times replicates, so of many cases fewer resamples are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.reflected import reflected_interval
from offdiag.metrics.intervals.reliability import RELIABLE_CLASS_SIZE
from offdiag.metrics.intervals.resampling import generator
from offdiag.metrics.intervals.rows import affordable, bootstrap_name, resampled_cases
from offdiag.metrics.intervals.scores.brier_parts import brier_parts, forecast_cells
from offdiag.metrics.intervals.scores.calibration import (
    equal_mass_error,
    equal_width_errors,
    ks_distances,
)
from offdiag.metrics.intervals.scores.score_cells import ScoreCells, score_cells
from offdiag.metrics.probabilistic.calibration import DEFAULT_BINS
from offdiag.metrics.probabilistic.forecasts import Forecasts
from offdiag.metrics.probabilistic.ranked import RankedScores

Floats = NDArray[np.float64]
Statistics = Callable[[Floats], Mapping[str, Floats]]
"""From counts of cells (b, m) to values by key, each (b,), NaN where undefined."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """What repeats a bootstrap, and how much of it is wanted at most."""

    seed: int
    confidence: float
    replicates: int


def event_intervals(
    event: RankedScores, resampling: Resampling, *, calibrated: bool
) -> dict[str, Interval]:
    """`ks` of a positive class, and its calibration errors if its scores are probabilities."""
    cells = score_cells(event)

    def statistics(counts: Floats) -> Mapping[str, Floats]:
        distance = {"ks": ks_distances(cells, counts)}
        return distance | _calibration(cells, counts, "positive") if calibrated else distance

    n_smaller = min(event.n_positive, event.n_negative)
    warning = f"unreliable, smaller class has n = {n_smaller}"
    return _intervals(
        cells.count,
        statistics,
        resampling,
        warning=warning if n_smaller < RELIABLE_CLASS_SIZE else None,
    )


def top_label_intervals(top: RankedScores, resampling: Resampling) -> dict[str, Interval]:
    """Calibration errors of the largest probability of each case."""
    cells = score_cells(top)

    def statistics(counts: Floats) -> Mapping[str, Floats]:
        return _calibration(cells, counts, "top_label")

    return _intervals(cells.count, statistics, resampling, warning=_few(top.n_cases))


def brier_part_intervals(forecasts: Forecasts, resampling: Resampling) -> dict[str, Interval]:
    """`brier_reliability`, and `brier_resolution` where it depends on the forecasts."""
    cells = forecast_cells(forecasts)
    return _intervals(
        cells.count,
        lambda counts: brier_parts(cells, counts),
        resampling,
        warning=_few(forecasts.n_cases),
        # Resolution is at most the uncertainty, which is largest for classes of equal size.
        highest={"brier_resolution": 1 - 1 / forecasts.n_classes},
    )


def _calibration(cells: ScoreCells, counts: Floats, of: str) -> dict[str, Floats]:
    expected, largest = equal_width_errors(cells, counts)
    found = {
        f"ece_{of}_{DEFAULT_BINS}": expected,
        f"mce_{of}_{DEFAULT_BINS}": largest,
        f"ece_{of}_equal_mass_{DEFAULT_BINS}": equal_mass_error(cells, counts),
    }
    return {key: values for key, values in found.items() if key in CATALOGUE[Scope.PROBABILISTIC]}


def _few(n_cases: int) -> str | None:
    return None if n_cases >= RELIABLE_CLASS_SIZE else f"unreliable, n = {n_cases}"


def _intervals(
    counts: NDArray[np.int64],
    statistics: Statistics,
    resampling: Resampling,
    *,
    warning: str | None,
    highest: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, Interval]:
    estimates = statistics(counts[np.newaxis].astype(np.float64))
    replicates = affordable(resampling.replicates, counts)
    values = {key: np.empty(replicates) for key in estimates}
    rng = generator(resampling.seed)
    for part, drawn in resampled_cases(counts, replicates=replicates, rng=rng):
        for key, found in statistics(drawn).items():
            values[key][part] = found
    specs = CATALOGUE[Scope.PROBABILISTIC]
    return {
        key: reflected_interval(
            values[key],
            estimate=None if np.isnan(estimate[0]) else float(estimate[0]),
            low=specs[key].low,
            high=highest.get(key, specs[key].high),
            confidence=resampling.confidence,
            method=bootstrap_name(replicates, reflected=True),
            warning=warning,
        )
        for key, estimate in estimates.items()
    }
