from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offdiag.domain.values import Reason
from offdiag_web.components.numbers import REASON_TEXTS, Amounts, amounts_for, reason_text


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


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_told_in_words(reason: Reason) -> None:
    assert reason in REASON_TEXTS
    assert "_" not in reason_text(reason.value)


def test_a_reason_of_a_newer_version_is_shown_by_its_name() -> None:
    assert reason_text("moon_phase_unknown") == "moon phase unknown"
