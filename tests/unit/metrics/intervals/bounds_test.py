"""Intervals as values: open ends, provenance, and the value they belong to."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import Bounds, Interval, Intervals, difference_bounds


def test_ends_that_are_not_finite_are_none() -> None:
    bounds = Bounds(np.array([0.1, np.nan]), np.array([np.inf, np.nan]))

    assert bounds.at(0) == (0.1, None)
    assert bounds.at(1) == (None, None)


def test_one_of_many_intervals_keeps_its_own_note() -> None:
    many = Intervals(
        Bounds(np.array([0.1, 0.2]), np.array([0.5, 0.6])),
        "wilson",
        {(1,): "careful"},
    )

    assert many.at(0) == Interval(0.1, 0.5, "wilson")
    assert many.at(1) == Interval(0.2, 0.6, "wilson", "careful")


def test_provenance_says_all_that_qualifies_an_interval() -> None:
    interval = Interval(0.1, 0.5, "wilson", "unreliable, class has n = 3")

    assert interval.provenance == "wilson; unreliable, class has n = 3"


def test_a_value_takes_its_interval() -> None:
    value = Interval(0.1, 0.5, "wilson").around(MetricValue(0.3))

    assert value == MetricValue(0.3, ci_low=0.1, ci_high=0.5, ci_method="wilson")


def test_a_value_without_interval_still_tells_why() -> None:
    value = Interval(None, None, "drawn", note="no variation").around(MetricValue(1.0))

    assert (value.ci_low, value.ci_high) == (None, None)
    assert value.ci_method == "drawn; no variation"


def test_an_undefined_value_keeps_its_reason_alone() -> None:
    undefined = MetricValue(None, "no_cases")

    assert Interval(None, None, "wilson").around(undefined) == undefined


def test_an_infinite_value_may_have_a_lower_end() -> None:
    infinite = MetricValue(None, "positive_over_zero", "+inf")

    assert Interval(3.0, None, "drawn").around(infinite).ci_low == 3.0


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
