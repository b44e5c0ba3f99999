"""Differences of values that were measured on different cases."""

import pytest

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.independent import difference_bounds


def test_the_difference_of_skew_intervals_uses_the_ends_that_face_each_other() -> None:
    old = MetricValue(0.5, ci_low=0.4, ci_high=0.55, ci_method="m")
    new = MetricValue(0.7, ci_low=0.67, ci_high=0.9, ci_method="m")

    low, high = difference_bounds(old, new) or (0.0, 0.0)

    assert low == pytest.approx(0.2 - (0.03**2 + 0.05**2) ** 0.5)
    assert high == pytest.approx(0.2 + (0.2**2 + 0.1**2) ** 0.5)


def test_the_difference_to_an_interval_as_newcombe_publishes_it() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 873-890, Table II, method 10: 56/70 - 48/80.
    first = MetricValue(48 / 80, ci_low=0.4905, ci_high=0.7003, ci_method="Wilson")
    second = MetricValue(56 / 70, ci_low=0.6918, ci_high=0.8769, ci_method="Wilson")

    low, high = difference_bounds(first, second) or (0.0, 0.0)

    assert low == pytest.approx(0.0524, abs=2e-4)
    assert high == pytest.approx(0.3339, abs=2e-4)


def test_without_both_intervals_there_is_none_of_the_difference() -> None:
    plain = MetricValue(0.8)
    whole = MetricValue(0.9, ci_low=0.85, ci_high=0.95, ci_method="m")

    assert difference_bounds(plain, whole) is None
    assert difference_bounds(whole, plain) is None
    assert difference_bounds(MetricValue(None, "no_cases"), whole) is None


def test_exchanging_the_sides_changes_the_sign_only() -> None:
    old = MetricValue(0.5, ci_low=0.4, ci_high=0.55, ci_method="m")
    new = MetricValue(0.7, ci_low=0.67, ci_high=0.9, ci_method="m")

    low, high = difference_bounds(old, new) or (0.0, 0.0)

    assert difference_bounds(new, old) == (-high, -low)
