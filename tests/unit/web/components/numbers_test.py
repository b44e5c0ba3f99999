from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag_web.components import numbers
from offdiag_web.components.numbers import Amounts, amounts_for


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8644, "0.864"),
        (0.0, "0.000"),
        (1.0, "1.000"),
        (-0.25, "−0.250"),
        (0.0001, "<0.001"),
        (-0.0001, ">−0.001"),
        (0.9996, ">0.999"),
        (-0.99999, "<−0.999"),
        (1234.5, "1,234.500"),
        (3.2e16, "3.2e+16"),
    ],
)
def test_metrics_have_three_decimals_and_never_round_to_nothing_or_all(
    value: float, text: str
) -> None:
    assert numbers.metric(value) == text


@pytest.mark.parametrize(
    ("part", "of", "text"),
    [
        (0, 7, "0 %"),
        (5, 1006, "<1 %"),
        (59, 168, "35 %"),
        (1005, 1006, ">99 %"),
        (7, 7, "100 %"),
        (1, 100, "1 %"),
        (99, 100, "99 %"),
    ],
)
def test_shares_in_cells_are_whole_percentages(part: int, of: int, text: str) -> None:
    assert numbers.whole_percent(part, of).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("part", "of", "text"),
    [(1006, 1503, "66.9 %"), (1, 5000, "<0.1 %"), (4999, 5000, ">99.9 %"), (0, 5, "0.0 %")],
)
def test_shares_in_tables_have_one_decimal(part: int, of: int, text: str) -> None:
    assert numbers.fine_percent(part, of).replace("\u202f", " ") == text


def test_intervals_are_written_with_a_dash_between_both_ends() -> None:
    assert numbers.interval(0.846, 0.881) == "0.846 – 0.881"
    assert numbers.interval(-0.114, 0.105) == "−0.114 to 0.105"


def test_counts_have_thousands_separators() -> None:
    assert numbers.count(1234567) == "1,234,567"
    assert numbers.hits_of(987, 1006) == "987/1,006"


def test_one_thing_is_singular() -> None:
    assert numbers.plural(1, "run") == "1 run"
    assert numbers.plural(0, "run") == "0 runs"
    assert numbers.plural(2, "class", "classes") == "2 classes"


def test_long_lists_are_cut_but_never_to_hide_a_single_word() -> None:
    assert numbers.listed(["a"]) == "a"
    assert numbers.listed(["a", "b", "c"]) == "a, b and c"
    assert numbers.listed(list("abcdef")) == "a, b, c, d, e and f"
    assert numbers.listed(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_long_names_are_cut_in_the_middle() -> None:
    assert numbers.shortened("abcdefghij", longest=7) == "abc…hij"
    assert numbers.shortened("abcdefg", longest=7) == "abcdefg"


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
    ("amount", "text"), [(12.0, "+12"), (-3.0, "−3"), (0.0, "0"), (0.2, "<1"), (-0.2, ">−1")]
)
def test_a_difference_has_a_sign(amount: float, text: str) -> None:
    assert Amounts(0).signed(amount) == text


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
