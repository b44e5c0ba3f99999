"""Percentile intervals when some replicates are undefined or unbounded."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import Reason
from offdiag.metrics.intervals.bootstrap import (
    percentile_bounds,
    percentile_intervals,
    percentile_intervals_by_key,
    reflected_interval,
    replicated,
)
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.quantity import Quantity, reason_code


def test_the_ends_are_the_quantiles_numpy_computes() -> None:
    values = np.random.default_rng(0).normal(size=(501, 3))

    bounds, undefined = percentile_bounds(values, confidence=0.9)

    assert bounds.low == pytest.approx(np.quantile(values, 0.05, axis=0), rel=1e-14)
    assert bounds.high == pytest.approx(np.quantile(values, 0.95, axis=0), rel=1e-14)
    assert undefined.tolist() == [0.0, 0.0, 0.0]


def test_undefined_replicates_are_left_out_and_their_share_is_told() -> None:
    values = np.random.default_rng(1).normal(size=(1_000, 2))
    values[:250, 0] = np.nan

    bounds, undefined = percentile_bounds(values, confidence=0.95)

    assert bounds.low == pytest.approx(np.nanquantile(values, 0.025, axis=0), rel=1e-14)
    assert bounds.high == pytest.approx(np.nanquantile(values, 0.975, axis=0), rel=1e-14)
    assert undefined.tolist() == [0.25, 0.0]


def test_without_a_defined_replicate_there_is_no_interval() -> None:
    bounds, undefined = percentile_bounds(np.full(10, np.nan), confidence=0.95)

    assert bounds.at() == (None, None)
    assert undefined == 1.0


def test_replicates_that_tend_to_infinity_count_as_large_ones() -> None:
    values = np.arange(100.0)
    values[95:] = np.inf

    bounds, undefined = percentile_bounds(values, confidence=0.95)

    low, high = bounds.at()
    assert low == pytest.approx(2.475)
    assert high is None
    assert np.isposinf(bounds.high)
    assert undefined == 0.0


def test_an_end_between_a_number_and_infinity_is_open() -> None:
    values = np.array([0.0, 1.0, 2.0, np.inf])

    bounds, _ = percentile_bounds(values, confidence=0.5)

    assert bounds.low == pytest.approx(0.75)
    assert np.isposinf(bounds.high)


def test_a_quotient_that_tends_to_infinity_is_told_from_an_undefined_one() -> None:
    code = np.uint8(reason_code(Reason.POSITIVE_OVER_ZERO))
    quantity = Quantity(
        np.array([1.0, np.nan, np.nan]),
        np.array([0, code, 1], np.uint8),
        np.array([0, 1, 0], bool),
    )

    values = replicated(quantity)

    assert values[0] == 1.0
    assert np.isposinf(values[1])
    assert np.isnan(values[2])


def test_many_metrics_at_once_have_the_intervals_they_have_alone() -> None:
    rng = np.random.default_rng(3)
    values = {
        "one": rng.normal(size=400),
        "flat": np.full(400, 0.5),
        "classes": rng.normal(size=(400, 3)),
        "limits": np.where(rng.random((400, 2)) < 0.3, np.inf, rng.random((400, 2))),
        "partly undefined": np.where(rng.random(400) < 0.4, np.nan, rng.random(400)),
    }
    estimates = {
        "classes": np.array([0.0, np.nan, 9.0]),
        "one": np.array(0.1),
        "flat": np.array(0.5),
        "limits": np.array([0.5, 0.5]),
        "partly undefined": np.array(0.4),
    }

    found = percentile_intervals_by_key(
        values, estimates=estimates, confidence=0.95, method="drawn"
    )

    assert list(found) == list(estimates)
    for key, estimate in estimates.items():
        alone = percentile_intervals(
            values[key], estimate=estimate, confidence=0.95, method="drawn"
        )
        assert np.array_equal(found[key].bounds.low, alone.bounds.low, equal_nan=True)
        assert np.array_equal(found[key].bounds.high, alone.bounds.high, equal_nan=True)
        assert np.array_equal(found[key].undefined_share, alone.undefined_share)
        assert found[key].notes == alone.notes
    assert {key for key in found if found[key].notes} == {"classes", "flat", "limits"}


def test_without_metrics_there_is_nothing_to_resample() -> None:
    assert percentile_intervals_by_key({}, estimates={}, confidence=0.95, method="drawn") == {}


HUNDREDTHS = np.arange(101) / 100
"""Their 2.5 % and 97.5 % quantiles are 0.025 and 0.975."""


def interval_of(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
    estimate: float | None,
    *,
    low: float = -1.0,
    high: float = 1.0,
    warning: str | None = None,
) -> Interval:
    return reflected_interval(
        values,
        estimate=estimate,
        low=low,
        high=high,
        confidence=0.95,
        method="m",
        warning=warning,
    )


def test_quantiles_are_turned_around_the_value() -> None:
    found = interval_of(HUNDREDTHS, 0.4)

    assert found.low == pytest.approx(0.8 - 0.975)
    assert found.high == pytest.approx(0.8 - 0.025)
    assert found.note is None


def test_ends_stay_inside_the_range() -> None:
    found = interval_of(HUNDREDTHS, 0.4, low=0.0, high=0.5)

    assert (found.low, found.high) == (0.0, 0.5)


def test_a_value_below_all_resamples_is_called_noise() -> None:
    found = interval_of(0.5 + HUNDREDTHS / 10, 0.4, warning="unreliable, n = 9")

    assert found.high is not None
    assert found.high < 0.4
    assert found.note == "unreliable, n = 9; the value lies outside: it is mostly noise"


def test_reflection_beyond_the_range_leaves_no_interval() -> None:
    found = interval_of(0.5 + HUNDREDTHS / 10, 0.1, low=0.0)

    assert (found.low, found.high, found.note) == (None, None, "resamples are too biased")


@pytest.mark.parametrize("values", [np.full(9, 0.25), 0.25 + np.arange(9) * 1e-16])
def test_resamples_that_agree_leave_no_interval(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> None:
    found = interval_of(values, 0.25)

    assert (found.low, found.high, found.note) == (None, None, "no variation among resamples")


def test_undefined_resamples_are_left_out_and_reported() -> None:
    found = interval_of(np.append(HUNDREDTHS, [np.nan] * 25), 0.4)

    assert found.low == pytest.approx(0.8 - 0.975)
    assert found.undefined_share == pytest.approx(25 / 126)


def test_an_undefined_value_has_no_interval() -> None:
    found = interval_of(np.full(5, np.nan), None)

    assert (found.low, found.high, found.undefined_share) == (None, None, 1.0)
