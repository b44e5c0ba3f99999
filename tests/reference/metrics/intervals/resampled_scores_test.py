"""Statistics of resampled counts against the metrics of the resampled cases themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals.brier_parts import brier_parts, forecast_cells
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import score_metrics

Resamples = NDArray[np.int64]
"""How often each case is drawn, (replicates, n)."""


def events(n_samples: int, digits: int, seed: int = 0) -> Forecasts:
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n_samples), digits)
    actual = (rng.random(n_samples) < 0.2 + 0.6 * p).astype(np.uint8)
    return Forecasts(actual, p.reshape(-1, 1), n_classes=2, positive=1)


def classes(n_samples: int, digits: int, seed: int = 0) -> Forecasts:
    rng = np.random.default_rng(seed)
    table = np.round(rng.dirichlet([1.0, 1.0, 1.0], size=n_samples), digits)
    table[:, 2] = 1 - table[:, 0] - table[:, 1]
    actual = rng.integers(0, 3, n_samples).astype(np.uint8)
    return Forecasts(actual, np.abs(table), n_classes=3)


def every_resample(n_samples: int) -> Resamples:
    draws = product(range(n_samples), repeat=n_samples)
    return np.array([np.bincount(drawn, minlength=n_samples) for drawn in draws])


def some_resamples(n_samples: int, replicates: int) -> Resamples:
    rng = np.random.default_rng(9)
    drawn = rng.integers(0, n_samples, (replicates, n_samples))
    return np.array([np.bincount(row, minlength=n_samples) for row in drawn])


def values_of(
    forecasts: Forecasts, resamples: Resamples, keys: tuple[str, ...]
) -> dict[str, NDArray[np.float64]]:
    """The metrics of samples that are really repeated; NaN where undefined."""
    found: dict[str, list[float]] = {key: [] for key in keys}
    for times in resamples:
        repeated = Forecasts(
            np.repeat(forecasts.actual, times),
            np.repeat(forecasts.scores, times, axis=0),
            n_classes=forecasts.n_classes,
            positive=forecasts.positive,
        )
        metrics = score_metrics(repeated)
        for key in keys:
            value = metrics[key].value
            found[key].append(np.nan if value is None else value)
    return {key: np.array(column) for key, column in found.items()}


def by_forecast_cell(forecasts: Forecasts, resamples: Resamples) -> NDArray[np.float64]:
    """Counts of forecast cells, from how often each case was drawn."""
    rows = np.ascontiguousarray(forecasts.scores)
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1])))
    # A single column is in the order of its numbers, several in that of their bytes.
    keys = (rows if rows.shape[1] == 1 else whole).reshape(-1)
    _, group = np.unique(keys, return_inverse=True)
    _, cell = np.unique(
        forecasts.actual.astype(np.int64) * (group.max() + 1) + group, return_inverse=True
    )
    return np.array([np.bincount(cell, weights=times) for times in resamples])


@pytest.mark.parametrize(
    ("forecasts", "resamples"),
    [
        (classes(4, 1), every_resample(4)),
        (classes(60, 1), some_resamples(60, 40)),
        (classes(60, 8), some_resamples(60, 40)),
        (events(60, 1), some_resamples(60, 40)),
    ],
    ids=["every resample of four", "shared forecasts", "distinct forecasts", "one column"],
)
def test_counts_give_the_parts_of_the_brier_score(
    forecasts: Forecasts, resamples: Resamples
) -> None:
    cells = forecast_cells(forecasts)
    keys = ("brier_reliability", "brier_resolution")
    expected = values_of(forecasts, resamples, keys)

    found = brier_parts(cells, by_forecast_cell(forecasts, resamples))

    assert found.keys() == (set(keys) if len(cells.shared) else {"brier_reliability"})
    for key, values in found.items():
        np.testing.assert_allclose(values, expected[key], atol=1e-12, err_msg=key)
