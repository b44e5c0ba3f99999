"""Numbers in sentences: rounded as in papers, and never rounded to nothing or everything."""

from __future__ import annotations

import pytest

from offdiag.domain import number_text


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (0.6, 0, "60 %"),
        (0.001, 0, "<1 %"),
        (0.999, 0, ">99 %"),
        (0.0, 0, "0 %"),
        (1.0, 0, "100 %"),
        (0.99999, 1, ">99.9 %"),
        (0.0001, 1, "<0.1 %"),
    ],
)
def test_a_percentage_is_0_or_100_only_where_the_share_is(
    share: float, decimals: int, text: str
) -> None:
    assert number_text.percent(share, decimals) == text


def test_two_shares_that_differ_differ_in_percent() -> None:
    assert number_text.percents(0.61, 0.6) == ["61 %", "60 %"]
    assert number_text.percents(0.612, 0.609) == ["61.2 %", "60.9 %"]
    assert number_text.percents(0.8, 0.8) == ["80 %", "80 %"]
    assert number_text.percents(0.5, 0.5 + 1e-9) == ["50.000 %", "50.000 %"]


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.5e-85, "p < 0.001"),
        (0.00099, "p < 0.001"),
        (0.00123, "p = 0.0012"),
        (0.024, "p = 0.024"),
        (0.5, "p = 0.50"),
        (0.0497, "p = 0.0497"),
        (0.05, "p = 0.050"),
        (0.0503, "p = 0.0503"),
        (0.0499999, "p < 0.05"),
        (0.0500001, "p > 0.05"),
        (0.996, "p > 0.99"),
        (1.0, "p = 1.00"),
    ],
)
def test_p_values_have_two_digits_from_a_thousandth_on(p: float, text: str) -> None:
    assert number_text.p_value(p) == text


def test_intervals_and_points() -> None:
    assert number_text.interval_percent(0.161, 0.284) == "CI 16 to 28 %"
    assert number_text.interval_points(-0.25, -0.13) == "CI -25 to -13 points"
    assert number_text.interval_points(-0.004, 0.004, 0.99) == "99 % CI -0.4 to 0.4 points"
    assert number_text.interval_points(-0.25, -0.004) == "CI -25.0 to -0.4 points"
    assert number_text.interval_points(0.0002, 0.25) == "CI 0.02 to 25.0 points"
    assert number_text.interval_points(-0.25, -0.0) == "CI -25 to 0 points"
    assert [number_text.points(x) for x in (0.01, 0.2, 0.025)] == [
        "1 point",
        "20 points",
        "2.5 points",
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0, "0.000"), (0.9997, ">0.999"), (-0.0001, ">−0.001"), (1.0, "1.000")]
)
def test_a_value_is_nothing_or_everything_only_where_it_is(value: float, text: str) -> None:
    assert number_text.number(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.0, 0.0031, "0.00 – <0.01"),
        (0.9951, 1.0, ">0.99 – 1.00"),
        (0.005, 0.994, "0.01 – 0.99"),
        (-0.9991, -0.9952, "<−0.99 – <−0.99"),
    ],
)
def test_with_two_decimals_an_interval_has_no_end_at_a_limit_that_it_does_not_reach(
    low: float, high: float, text: str
) -> None:
    assert number_text.interval(low, high, decimals=2) == text


def test_counts_and_costs() -> None:
    assert number_text.count(1, "example") == "1 example"
    assert number_text.count(1200, "match", "matches") == "1,200 matches"
    assert number_text.cost(1240.0, "EUR") == "1,240 EUR"
    assert number_text.cost(0.43123456) == "0.4312"
    assert number_text.cost(12.5, "h") == "12.5 h"
