"""Declared functions of scores: their values, and intervals from resampled examples."""

from __future__ import annotations

import numpy as np

from offdiag.domain.values import MetricValue, Reason
from offdiag.metrics.custom.declared import ScoreInput, custom_metrics
from offdiag.metrics.custom.values import INTERVAL, value_of_samples
from offdiag.metrics.scores.cells import NEGATIVE, POSITIVE, ScoreCells
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.spec import MetricSpec, Scope

MOST_UNFOLDED = 1_000_000
"""Counted examples that are put side by side again for functions of scores."""

_METRICS = custom_metrics("scores")
_IN_CELLS = {
    Reason.FORECASTS_IN_CELLS: "scores were counted in bins, and these hold different scores or "
    "more than 1,000,000 examples"
}
SPECS: tuple[MetricSpec, ...] = tuple(
    MetricSpec(
        scope=Scope.PROBABILISTIC,
        interval=INTERVAL,
        **{**each.facts, "undefined_when": each.facts["undefined_when"] | _IN_CELLS},
    )
    for each in _METRICS
)


def custom_values(
    forecasts: Forecasts, names: tuple[str, ...], *, seed: int, confidence: float = 0.95
) -> dict[str, MetricValue]:
    """Each declared metric of scores by key, with its interval."""
    if not _METRICS:
        return {}
    actual, scores = forecasts.actual, forecasts.table
    return {
        each.key: value_of_samples(
            each,
            lambda places: ScoreInput(actual[places], scores[places], names),
            n_samples=forecasts.n_samples,
            seed=seed,
            confidence=confidence,
        )
        for each in _METRICS
    }


def undefined_in_cells() -> dict[str, MetricValue]:
    """Each declared metric of scores, undefined as scores were counted a class at a time."""
    return {each.key: MetricValue(None, Reason.FORECASTS_IN_CELLS.value) for each in _METRICS}


def custom_cell_values(
    cells: ScoreCells, names: tuple[str, ...], *, positive: int, seed: int
) -> dict[str, MetricValue]:
    """The same of counted scores: those of the samples where no cell holds different scores.

    Functions are given samples, not sums over them, so there is no bound of how far a value of
    other cells would be off.
    """
    if not _METRICS:
        return {}
    if not cells.is_exact or cells.n_samples > MOST_UNFOLDED:
        return undefined_in_cells()
    count = cells.count[:, [NEGATIVE, POSITIVE]].reshape(-1)
    codes = np.tile([1 - positive, positive], len(cells.low))
    scores = np.repeat(cells.low.astype(np.float32), 2)
    forecasts = Forecasts(
        np.repeat(codes, count), np.repeat(scores, count)[:, np.newaxis], 2, positive
    )
    return custom_values(forecasts, names, seed=seed)
