"""Moments of the parts of the Brier score against resampling, and what they are made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from offdiag.metrics.intervals import brier_parts as module
from offdiag.metrics.intervals.brier_parts import (
    CLOSED_FORM,
    RELIABILITY,
    RESOLUTION,
    brier_part_intervals,
    brier_parts,
    forecast_cells,
    part_moments,
    unseen_noise,
)
from offdiag.metrics.intervals.resampling import generator, resampled_samples
from offdiag.metrics.scores.forecasts import Forecasts

Z = 1.959963984540054


def events(n_samples: int, *, digits: int, sharp: float = 1.0) -> Forecasts:
    rng = np.random.default_rng(n_samples)
    logit = 1.4 * rng.standard_normal(n_samples) - 1.0
    actual = (rng.random(n_samples) < 1 / (1 + np.exp(-logit))).astype(np.uint8)
    p = np.round(1 / (1 + np.exp(-sharp * logit)), digits)
    return Forecasts(actual, p.reshape(-1, 1), n_classes=2, positive=1)


def classes(n_samples: int, *, digits: int) -> Forecasts:
    rng = np.random.default_rng(n_samples)
    table = np.round(rng.dirichlet([1.0, 1.0, 2.0], size=n_samples), digits)
    table[:, 2] = np.abs(1 - table[:, 0] - table[:, 1])
    uniform = rng.random((n_samples, 1))
    actual = (uniform > np.cumsum(table, axis=1)[:, :2]).sum(axis=1).astype(np.uint8)
    return Forecasts(actual, table, n_classes=3)


def resampled(forecasts: Forecasts) -> dict[str, NDArray[np.float64]]:
    cells = forecast_cells(forecasts)
    drawn: dict[str, list[NDArray[np.float64]]] = {}
    for _, counts in resampled_samples(cells.count, replicates=4_000, rng=generator(5)):
        for key, values in brier_parts(cells, counts).items():
            drawn.setdefault(key, []).append(values)
    return {key: np.concatenate(values) for key, values in drawn.items()}


@pytest.mark.parametrize(
    "forecasts",
    [
        events(3_000, digits=1),
        events(3_000, digits=2),
        events(3_000, digits=3),
        events(3_000, digits=3, sharp=9.0),
        events(3_000, digits=9),
        classes(3_000, digits=1),
        classes(3_000, digits=2),
    ],
    ids=["tied", "less tied", "hardly tied", "saturated", "distinct", "three tied", "three"],
)
def test_moments_are_those_of_resamples(forecasts: Forecasts) -> None:
    drawn = resampled(forecasts)
    cells = forecast_cells(forecasts)
    values = brier_parts(cells, cells.count[np.newaxis].astype(np.float64))

    found = part_moments(forecasts, tuple(drawn), confidence=0.95)

    for key, replicates in drawn.items():
        low, high = found[key].low, found[key].high
        assert low is not None
        assert high is not None
        mean = 2 * float(values[key][0]) - (low + high) / 2
        error = replicates.std() / len(replicates) ** 0.5
        if low > 0:  # An end that was cut off says nothing of the spread.
            expected = replicates.mean() + unseen_noise(forecasts)
            assert mean == pytest.approx(expected, abs=4 * error), key
            assert (high - low) / (2 * Z) == pytest.approx(replicates.std(), rel=0.05), key


@pytest.mark.parametrize(
    ("make", "resolution"),
    [
        (lambda: events(9_000, digits=12), None),
        (lambda: events(9_000, digits=6), "row bootstrap, reflected, 2000 replicates"),
        (lambda: events(60_000, digits=4), CLOSED_FORM),
    ],
    ids=["no shared forecast", "a few", "many"],
)
def test_many_cells_take_moments_but_few_shared_ones_are_drawn(
    make: Callable[[], Forecasts], resolution: str | None
) -> None:
    found = brier_part_intervals(make(), seed=1, confidence=0.95, replicates=2_000)

    assert found[RELIABILITY].method == CLOSED_FORM
    assert (RESOLUTION in found) == (resolution is not None)
    if resolution is not None:
        assert found[RESOLUTION].method == resolution


def test_cells_of_shared_forecasts_alone_give_the_same_resolution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forecasts = events(3_000, digits=4)
    all_cells = brier_part_intervals(forecasts, seed=1, confidence=0.95, replicates=4_000)

    monkeypatch.setattr(module, "MOST_CELLS", 0)
    monkeypatch.setattr(module, "FEW_SHARED", 4_000)
    shared = brier_part_intervals(forecasts, seed=1, confidence=0.95, replicates=4_000)

    old, new = all_cells[RESOLUTION], shared[RESOLUTION]
    assert old.low is not None
    assert old.high is not None
    width = old.high - old.low
    assert new.low == pytest.approx(old.low, abs=0.06 * width)
    assert new.high == pytest.approx(old.high, abs=0.06 * width)


def test_resamples_see_less_noise_than_there_is_among_few_samples_of_a_forecast() -> None:
    """Two samples of .5, one of each class, and one of .2, as Ferro and Fricker (2012) correct."""
    forecasts = Forecasts(
        np.array([0, 1, 0], np.uint8), np.array([[0.5], [0.5], [0.2]]), n_classes=2, positive=1
    )

    of_pair = 0.5 * (2 - (1 - np.exp(-2)))
    of_single = 1 - 0.2**2 - 0.8**2

    assert unseen_noise(forecasts) == pytest.approx((of_pair + of_single) / 3)


def test_intervals_hold_the_truth_where_few_samples_share_a_forecast() -> None:
    """Calibrated scores of two digits: their reliability is 0, whatever the samples."""
    rng = np.random.default_rng(7)
    covered: dict[str, list[bool]] = {RELIABILITY: [], RESOLUTION: []}

    def draw(n_samples: int) -> Forecasts:
        p = np.round(rng.beta(1, 4, n_samples), 2)
        actual = (rng.random(n_samples) < p).astype(np.uint8)
        return Forecasts(actual, p.reshape(-1, 1), n_classes=2, positive=1)

    p = draw(400_000).table[:, 1]
    truth = {RELIABILITY: 0.0, RESOLUTION: 2 * float(p.var())}
    for _ in range(60):
        found = brier_part_intervals(draw(300), seed=1, confidence=0.95, replicates=200)
        for key, held in covered.items():
            low, high = found[key].low, found[key].high
            held.append(low is not None and high is not None and low <= truth[key] <= high)

    assert min(map(np.mean, covered.values())) >= 0.85
