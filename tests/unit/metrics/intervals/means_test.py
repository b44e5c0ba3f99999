"""Intervals of means."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.means import (
    logit_interval,
    loss_intervals,
    mean_interval,
    mean_loss_interval,
    student_quantile,
)
from offdiag.metrics.scores import forecasts as forecasts_module
from offdiag.metrics.scores.losses import Moments, loss_metrics, squared_distances
from support.forecasts import of_classes, of_event
from support.optional import present

LOSSES = np.array([0.1, 0.2, 0.2, 0.9, 0.05, 2.5])


def test_the_interval_of_a_mean_is_that_of_student() -> None:
    # Mean 3, standard deviation sqrt(2.5), t(4, 0.975) = 2.776445.
    found = mean_interval(np.arange(1.0, 6.0), low=0, high=10, confidence=0.95)

    assert found.low == pytest.approx(3 - 2.776445 * np.sqrt(0.5), abs=1e-5)
    assert found.high == pytest.approx(3 + 2.776445 * np.sqrt(0.5), abs=1e-5)
    assert found.provenance == "student t; unreliable, n = 5"


def test_ends_stay_inside_the_range() -> None:
    found = mean_interval(np.array([0.0, 1.0, 1.0]), low=0, high=1, confidence=0.95)

    assert (found.low, found.high) == (0, 1)


def test_the_interval_of_losses_is_symmetric_on_the_log_scale() -> None:
    found = mean_loss_interval(Moments.of(LOSSES), confidence=0.95)

    mean, error = LOSSES.mean(), LOSSES.std(ddof=1) / np.sqrt(6)
    assert log(present(found.high) / mean) == pytest.approx(2.570582 * error / mean, abs=1e-5)
    assert log(present(found.high) / mean) == pytest.approx(log(mean / present(found.low)))
    assert found.method == "student t, log scale"


def test_losses_have_a_largest_value() -> None:
    found = mean_loss_interval(Moments.of(LOSSES), largest=0.7, confidence=0.95)

    assert found.high == 0.7


def test_an_end_beyond_all_numbers_is_open() -> None:
    found = mean_loss_interval(Moments.of(np.array([0.0, 1.0])), confidence=0.9999)

    assert found.low == 0.0
    assert found.high is None
    assert (
        mean_loss_interval(Moments.of(np.array([0.0, 1.0])), largest=2.0, confidence=0.9999).high
        == 2.0
    )


@pytest.mark.parametrize(
    ("losses", "note"),
    [
        ([0.5], "a single example"),
        ([0.1, 0.1, 0.1], "no variation among the examples"),
        ([0.0, 0.0], "no variation among the examples"),
    ],
)
def test_without_spread_there_are_no_ends_but_a_note(losses: list[float], note: str) -> None:
    for found in (
        mean_loss_interval(Moments.of(np.array(losses)), confidence=0.95),
        mean_interval(np.array(losses), low=0, high=inf, confidence=0.95),
    ):
        assert (found.low, found.high) == (None, None)
        assert found.note == note


def test_twenty_cases_need_no_warning() -> None:
    losses = np.linspace(0.1, 1, 20)

    assert mean_loss_interval(Moments.of(losses), confidence=0.95).note is None
    assert mean_loss_interval(Moments.of(losses[1:]), confidence=0.95).note == "unreliable, n = 19"


def test_the_quantile_approaches_that_of_the_normal_law() -> None:
    assert student_quantile(0.95, freedom=1) == pytest.approx(12.7062, abs=1e-4)
    assert student_quantile(0.95, freedom=10**7 - 1) == pytest.approx(1.959964, abs=1e-5)


def interval_of(value: float, variance: float | None, n_smallest: int = 50) -> Interval:
    return logit_interval(
        value,
        variance,
        method="m",
        quantile=1.959964,
        n_smallest=n_smallest,
        smallest="smaller class",
    )


def test_the_interval_is_symmetric_on_the_logit_scale() -> None:
    found = interval_of(0.9, 0.02**2)

    low, centre, high = (log(p / (1 - p)) for p in (present(found.low), 0.9, present(found.high)))
    assert high - centre == pytest.approx(centre - low)
    assert high - centre == pytest.approx(1.959964 * 0.02 / 0.09, rel=1e-6)
    assert found.note is None


def test_a_large_variance_does_not_leave_the_range() -> None:
    found = interval_of(0.95, 0.3**2)

    assert 0 < present(found.low) < 0.95 < present(found.high) < 1


@pytest.mark.parametrize(
    ("value", "variance", "n_smallest", "note"),
    [
        (0.9, None, 0, "unreliable, smaller class has n = 0"),
        (0.9, 0.1, 4, "unreliable, smaller class has n = 4"),
        (1.0, 0.1, 30, "no variation among the examples"),
        (0.0, 0.1, 30, "no variation among the examples"),
        (0.5, 0.0, 30, "no variation among the examples"),
        (0.5, 1e-30, 30, "no variation among the examples"),
    ],
)
def test_without_spread_there_are_no_ends_on_the_logit_scale_either(
    value: float, variance: float | None, n_smallest: int, note: str
) -> None:
    found = interval_of(value, variance, n_smallest)

    assert (found.low, found.high) == (None, None)
    assert found.note == note


def test_a_small_class_makes_it_unreliable() -> None:
    assert interval_of(0.8, 0.01, 19).note == "unreliable, smaller class has n = 19"
    assert interval_of(0.8, 0.01, 20).note is None


def test_squared_distances_average_to_the_brier_score(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(1).dirichlet([1, 1, 1], size=20)
    forecasts = of_classes([0, 1, 2, 0] * 5, table.tolist())
    monkeypatch.setattr(forecasts_module, "CELLS_AT_ONCE", 12)

    found = squared_distances(forecasts)

    assert found.shape == (20,)
    assert found.mean() == pytest.approx(loss_metrics(forecasts)["brier_sum"].value)


def test_half_the_brier_score_has_half_the_interval() -> None:
    found = loss_intervals(of_event([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), confidence=0.9)

    whole, half = found["brier_sum"], found["brier_half"]
    assert half.low == pytest.approx(present(whole.low) / 2)
    assert half.high == pytest.approx(present(whole.high) / 2)


def test_an_infinite_log_loss_has_no_interval_and_the_clipped_one_has() -> None:
    found = loss_intervals(of_event([0, 1, 1], [0.2, 0.0, 0.9]), confidence=0.95)

    assert "log_loss" not in found
    assert found["log_loss_clipped"].low is not None


@pytest.mark.parametrize(
    ("n_rare", "note"), [(6, "unreliable, smallest class has n = 6"), (20, None)]
)
def test_a_logarithmic_loss_with_few_cases_of_a_class_is_called_unreliable(
    n_rare: int, note: str | None
) -> None:
    rng = np.random.default_rng(1)
    actual = [1] * n_rare + [0] * 200

    found = loss_intervals(of_event(actual, rng.random(len(actual)).tolist()), confidence=0.95)

    assert found["log_loss"].low is not None
    assert found["log_loss"].note == found["log_loss_clipped"].note == note
    assert found["brier_half"].note is None
