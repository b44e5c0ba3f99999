"""Axes have tidy ends that hold everything, and ticks that say where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.values import MetricValue
from offdiag.reports.axis import axis_of
from support.report_figures import UNDEFINED, value

FINITE = st.floats(min_value=-50, max_value=50, allow_nan=False)


def texts(*values: MetricValue) -> list[str]:
    return [text for _, text in axis_of(values).labels]


def test_ends_are_tidy_and_hold_the_intervals() -> None:
    assert texts(value(0.83), value(0.91)) == ["0.8", "0.85", "0.9", "0.95"]


def test_negative_numbers_have_a_true_minus() -> None:
    assert texts(value(-0.5, 0.5)) == ["−1", "−0.8", "−0.6", "−0.4", "−0.2", "0"]


@pytest.mark.parametrize(("only", "ends"), [(1.0, ("0.9", "1")), (0.0, ("0", "0.1"))])
def test_one_value_without_an_interval_still_has_an_axis(
    only: float, ends: tuple[str, str]
) -> None:
    shown = texts(MetricValue(only))

    assert (shown[0], shown[-1]) == ends


def test_without_any_value_the_axis_goes_from_nothing_to_everything() -> None:
    assert texts(UNDEFINED)[0] == "0"
    assert texts(UNDEFINED)[-1] == "1"


@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=6))
def test_everything_lies_on_the_axis_and_ticks_say_where_they_stand(
    pairs: list[tuple[float, float]],
) -> None:
    values = [
        MetricValue(low, ci_low=low, ci_high=high, ci_method="m")
        for low, high in map(sorted, pairs)
    ]

    axis = axis_of(values)

    ends = [end for each in values for end in (each.ci_low or 0.0, each.ci_high or 0.0)]
    assert all(-1e-9 <= axis.fraction(end) <= 1 + 1e-9 for end in ends if end)
    assert 2 <= len(axis.ticks) <= 9
    for place, text in axis.labels:
        assert axis.fraction(float(text.replace("−", "-"))) == pytest.approx(place)
