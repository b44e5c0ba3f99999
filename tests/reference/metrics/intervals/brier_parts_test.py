"""Intervals of the parts of the Brier score in seeded simulations, and where there are none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from offdiag.metrics.intervals.brier_parts import RELIABILITY, RESOLUTION, brier_part_intervals
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import score_metrics
from support.optional import present

Rng = np.random.Generator
Z = 1.959963984540054
SCALES = np.array([[1.0, 1.0, 2.0], [4.0, 1.0, 1.0], [1.0, 3.0, 0.5]])


def true_share(p: np.ndarray, miscalibrated: bool) -> np.ndarray:
    return 0.15 + 0.3 * p if miscalibrated else p


def event(rng: Rng, n: int, *, steps: int, miscalibrated: bool) -> tuple[Forecasts, np.ndarray]:
    """Scores in so many steps, and what share of each is really positive."""
    p = np.round(rng.beta(0.8, 1.6, n) * steps) / steps
    share = true_share(p, miscalibrated)
    actual = (rng.random(n) < share).astype(np.uint8)
    forecasts = Forecasts(actual, p.reshape(-1, 1), n_classes=2, positive=1)
    return forecasts, np.column_stack([1 - share, share])


def classes(rng: Rng, n: int, *, steps: int, miscalibrated: bool) -> tuple[Forecasts, np.ndarray]:
    """Of three classes, one of few forecasts for each sample."""
    rows = SCALES[rng.integers(0, 3, n)] * rng.integers(1, steps, (n, 3))
    table = rows / rows.sum(axis=1, keepdims=True)
    share = (table + 0.5) / 2.5 if miscalibrated else table
    uniform = rng.random((n, 1))
    actual = (uniform > np.cumsum(share, axis=1)[:, :2]).sum(axis=1).astype(np.uint8)
    return Forecasts(actual, table, n_classes=3), share


def truth_of(make: Callable[[Rng, int], tuple[Forecasts, np.ndarray]]) -> dict[str, float]:
    forecasts, share = make(np.random.default_rng(1), 50_000)
    return {
        RELIABILITY: float(np.square(forecasts.table - share).sum(axis=1).mean()),
        RESOLUTION: float(np.square(share - share.mean(axis=0)).sum(axis=1).mean()),
    }


@pytest.mark.parametrize("miscalibrated", [False, True])
@pytest.mark.parametrize(
    ("draw", "n", "steps"),
    [(event, 100, 4), (event, 300, 10), (event, 300, 50), (event, 300, 300), (classes, 300, 3)],
)
def test_intervals_hold_the_truth_whether_calibrated_or_not(
    draw: Callable[..., tuple[Forecasts, np.ndarray]], n: int, steps: int, miscalibrated: bool
) -> None:
    def make(rng: Rng, n: int) -> tuple[Forecasts, np.ndarray]:
        return draw(rng, n, steps=steps, miscalibrated=miscalibrated)

    truth, rng = truth_of(make), np.random.default_rng(2)
    held: dict[str, list[bool]] = {RELIABILITY: [], RESOLUTION: []}
    for _ in range(200):
        for key, found in brier_part_intervals(make(rng, n)[0], confidence=0.95).items():
            if found.low is not None and found.high is not None:
                held[key].append(found.low <= truth[key] <= found.high)

    for key, each in held.items():
        assert len(each) > 100, key
        assert np.mean(each) >= 0.92, key


def test_the_middle_is_unbiased_and_the_reach_is_its_spread() -> None:
    def make(rng: Rng, n: int) -> tuple[Forecasts, np.ndarray]:
        return event(rng, n, steps=5, miscalibrated=True)

    truth, rng = truth_of(make), np.random.default_rng(3)
    middles: dict[str, list[float]] = {RELIABILITY: [], RESOLUTION: []}
    reaches: dict[str, list[float]] = {RELIABILITY: [], RESOLUTION: []}
    for _ in range(200):
        for key, found in brier_part_intervals(make(rng, 2_000)[0], confidence=0.95).items():
            middles[key].append((present(found.low) + present(found.high)) / 2)
            reaches[key].append((present(found.high) - present(found.low)) / 2 / Z)

    for key, each in middles.items():
        assert np.mean(each) == pytest.approx(truth[key], abs=float(np.std(each)) / 5), key
        assert np.mean(reaches[key]) == pytest.approx(np.std(each), rel=0.12), key


def test_the_noise_of_a_single_sample_widens_both_parts() -> None:
    scores = [0.9] * 10 + [0.2] * 10
    shared = Forecasts(
        np.array(([0] * 7 + [1] * 3) + ([0] * 2 + [1] * 8), np.uint8),
        np.reshape(scores, (-1, 1)),
        n_classes=2,
        positive=1,
    )
    single = Forecasts(
        np.append(shared.actual, np.uint8(1)),
        np.append(shared.scores, [[0.55]], axis=0),
        n_classes=2,
        positive=1,
    )

    for key in (RELIABILITY, RESOLUTION):
        narrow, wide = (
            brier_part_intervals(each, confidence=1e-9)[key] for each in (shared, single)
        )
        assert narrow.high == pytest.approx(narrow.low, abs=1e-6)
        assert present(wide.high) - present(wide.low) == pytest.approx(0.5 / 21), key


def test_where_most_samples_have_a_score_of_their_own_there_are_no_ends() -> None:
    rng = np.random.default_rng(4)
    forecasts, _ = event(rng, 300, steps=10**9, miscalibrated=True)

    found = brier_part_intervals(forecasts, confidence=0.95)

    for key in (RELIABILITY, RESOLUTION):
        assert (found[key].low, found[key].high) == (None, None)
        assert found[key].note == (
            "noise cannot be separated: 300 of 300 examples have scores of their own"
        )
    values = score_metrics(forecasts)
    assert values[RELIABILITY].value == pytest.approx(values["brier_sum"].value)
    assert values[RESOLUTION].value == pytest.approx(values["brier_uncertainty"].value)


def test_where_nearly_all_samples_are_of_one_class_there_are_no_ends() -> None:
    actual = np.array([1] * 4 + [0] * 96, np.uint8)
    forecasts = Forecasts(actual, np.full((100, 1), 0.1), n_classes=2, positive=1)

    found = brier_part_intervals(forecasts, confidence=0.95)[RELIABILITY]

    assert (found.low, found.high) == (None, None)
    assert found.note == "unreliable, all but 4 of 100 examples are of one class"
