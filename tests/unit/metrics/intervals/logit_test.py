"""Normal intervals on the logit scale."""

from __future__ import annotations

from math import log

import pytest

from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.logit import logit_interval


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

    assert found.low is not None
    assert found.high is not None
    low, centre, high = (log(p / (1 - p)) for p in (found.low, 0.9, found.high))
    assert high - centre == pytest.approx(centre - low)
    assert high - centre == pytest.approx(1.959964 * 0.02 / 0.09, rel=1e-6)
    assert found.note is None


def test_a_large_variance_does_not_leave_the_range() -> None:
    found = interval_of(0.95, 0.3**2)

    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.95 < found.high < 1


@pytest.mark.parametrize(
    ("value", "variance", "n_smallest", "note"),
    [
        (0.9, None, 0, "unreliable, smaller class has n = 0"),
        (0.9, 0.1, 4, "unreliable, smaller class has n = 4"),
        (1.0, 0.1, 30, "no variation among the cases"),
        (0.0, 0.1, 30, "no variation among the cases"),
        (0.5, 0.0, 30, "no variation among the cases"),
        (0.5, 1e-30, 30, "no variation among the cases"),
    ],
)
def test_without_spread_there_are_no_ends_but_a_note(
    value: float, variance: float | None, n_smallest: int, note: str
) -> None:
    found = interval_of(value, variance, n_smallest)

    assert (found.low, found.high) == (None, None)
    assert found.note == note


def test_a_small_class_makes_it_unreliable() -> None:
    assert interval_of(0.8, 0.01, 19).note == "unreliable, smaller class has n = 19"
    assert interval_of(0.8, 0.01, 20).note is None
