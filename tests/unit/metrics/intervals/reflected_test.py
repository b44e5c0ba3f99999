"""Reflected bootstrap intervals."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.reflected import reflected_interval

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
