"""Numbers in sentences: rounded as in papers, and never rounded to nothing or everything."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain import number_text
from offdiag.domain.number_text import Amounts, amounts_for


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
        (0.006, 0, "<1 %"),
        (0.994, 0, ">99 %"),
        (0.99, 0, "99 %"),
        (0.01, 0, "1 %"),
        (0.999, 1, "99.9 %"),
        (0.001, 1, "0.1 %"),
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
        (-0.9991, -0.9952, "<−0.99 to <−0.99"),
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
    assert number_text.cost(1062.5) == "1,063"


@pytest.mark.parametrize(
    ("amount", "decimals", "text"),
    [
        (1127.4, 0, "1,127"),
        (0.0, 2, "0.00"),
        (-0.25, 2, "−0.25"),
        (2.5, 0, "3"),
        (-2.5, 0, "−3"),
        (0.125, 2, "0.13"),
        (1e18, 0, "1,000,000,000,000,000,000"),
        (0.0004, 3, "<0.001"),
        (-0.0004, 3, ">−0.001"),
        (-0.0, 1, "0.0"),
    ],
)
def test_an_amount_is_rounded_half_away_from_zero(amount: float, decimals: int, text: str) -> None:
    assert Amounts(decimals).text(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(12.0, "+12"), (-3.0, "−3"), (0.0, "0"), (0.24, "+0.2"), (-0.2, "−0.2")]
)
def test_a_difference_of_amounts_has_a_sign(amount: float, text: str) -> None:
    assert Amounts(0).signed(amount) == text


def test_a_small_difference_of_amounts_is_told_as_exactly_as_they_are() -> None:
    assert Amounts(6).signed(4e-7) == "< +0.000001"
    assert Amounts(5).signed(-4e-6) == "> −0.00001"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.24, "+3.2"),
        (-0.4, "−0.4"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.034, "+0.03"),
        (-0.0004, "−0.0004"),
        (1e-17, "< +0.0001"),
        (-1e-17, "> −0.0001"),
    ],
)
def test_a_difference_has_a_sign_however_small_it_is(value: float, text: str) -> None:
    assert number_text.signed(value, 1) == text


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([], 0), ([0.0], 0), ([1127.0, 3.0], 0), ([62.5, -3], 2), ([0.5], 4), ([1e-9], 6)],
)
def test_as_many_decimals_as_the_largest_amount_needs(values: list[float], decimals: int) -> None:
    assert amounts_for(values).decimals == decimals


@given(st.floats(-1e15, 1e15), st.integers(0, 6))
def test_what_is_written_is_within_half_a_step(amount: float, decimals: int) -> None:
    text = Amounts(decimals).text(amount)

    if text[0] not in "<>":
        shown = Decimal(text.replace(",", "").replace("−", "-"))
        assert abs(shown - Decimal(amount)) <= Decimal(1).scaleb(-decimals) / 2


def test_no_dash_stands_before_a_minus() -> None:
    assert number_text.interval(-0.114, 0.105) == "−0.114 to 0.105"
    assert number_text.interval(-1.0, -0.9997) == "−1.000 to <−0.999"
    assert Amounts(0).interval(-250.0, 1149.0) == "−250 to 1,149"
    assert Amounts(0).interval(1103.0, 1149.0) == "1,103 – 1,149"


@pytest.mark.parametrize(
    ("value", "text"), [(0.9421, "about 0.942"), (0.99998, ">0.999"), (1e-9, "<0.001")]
)
def test_a_bound_is_not_said_to_be_about_itself(value: float, text: str) -> None:
    assert number_text.about(value) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_940, "999.9 kB"),
        (999_950, "1.0 MB"),
        (30_520_000_000, "30.5 GB"),
        (4_000_000_000_000, "4,000.0 GB"),
    ],
)
def test_a_size_is_in_the_unit_that_shows_it(n_bytes: int, text: str) -> None:
    assert number_text.byte_size(n_bytes) == text


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (0.5117647, 0.9, "0.511765"),
        (0.79999983, 0.8, "0.7999998"),
        (1 - 1e-15, 1.0, "0.999999999999999"),
        (0.8, 0.8, "0.8"),
    ],
)
def test_a_value_beside_its_limit_is_on_its_side_of_it(
    value: float, limit: float, text: str
) -> None:
    assert number_text.beside(value, limit) == text
