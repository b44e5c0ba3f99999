"""What a printed number may stand for."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from offdiag.audit.printed import Rounding, printed
from offdiag.errors import InvalidInput


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ("0.593", 0.5925, 0.5935),
        (".593", 0.5925, 0.5935),
        ("0.5930", 0.59295, 0.59305),
        (0.593, 0.5925, 0.5935),
        (np.float64(0.593), 0.5925, 0.5935),
        (Decimal("0.5930"), 0.59295, 0.59305),
        ("59.3%", 0.5925, 0.5935),
        (" 59.3 % ", 0.5925, 0.5935),
        ("80%", 0.795, 0.805),
        ("-0.47", -0.475, -0.465),
        ("\N{MINUS SIGN}0.47", -0.475, -0.465),
        ("5e-3", 0.0045, 0.0055),
        ("12", 11.5, 12.5),
        (0, 0.0, 0.0),
        ("1", 1.0, 1.0),
        ("100%", 0.995, 1.005),
    ],
)
def test_decimals_say_what_rounds_to_a_number(given: object, low: float, high: float) -> None:
    interval = printed(given, field="x").interval

    assert interval is not None
    assert interval.low == pytest.approx(low, abs=1e-15)
    assert interval.high == pytest.approx(high, abs=1e-15)


@pytest.mark.parametrize("given", [None, "undefined", "N/A", "nan", float("nan"), " None ", "0/0"])
def test_a_metric_may_be_called_undefined(given: object) -> None:
    claimed = printed(given, field="x")

    assert claimed.value is None
    assert claimed.interval is None
    assert claimed.rounding_of(None) is Rounding.NEAREST
    assert claimed.rounding_of(0.0) is None


@pytest.mark.parametrize(("given", "exact"), [("72/82", 72 / 82), (" 0 / 7 ", 0.0), ("3/3", 1.0)])
def test_a_quotient_is_exact(given: str, exact: float) -> None:
    quotient = printed(given, field="x")

    assert quotient.interval is not None
    assert (quotient.interval.low, quotient.interval.high) == (exact, exact)
    assert quotient.rounding_of(exact) is Rounding.NEAREST
    assert quotient.rounding_of(exact + 1e-6) is None


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("0,593", "point"),
        ("", "0.593"),
        ("about half", "0.593"),
        ("inf", "0.593"),
        ("1e999999999", "0.593"),
        ("1e-999999999", "0.593"),
        ("0." + "3" * 60, "0.593"),
        (True, "0.593"),
        ([0.5], "0.593"),
        ("1/x", "0.593"),
        ("1/0", "72/82"),
    ],
)
def test_what_is_no_number_is_refused_with_a_way_out(given: object, hint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        printed(given, field="reported['recall']")

    assert caught.value.field == "reported['recall']"
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "exact", "rounding"),
    [
        ("0.593", 0.5925001, Rounding.NEAREST),
        ("0.593", 0.5935, Rounding.NEAREST),
        ("0.593", 0.5939, Rounding.CUT_OFF),
        ("0.593", 0.594, None),
        ("0.593", 0.5924, None),
        ("-0.593", -0.5939, Rounding.CUT_OFF),
        ("-0.593", -0.5921, None),
        ("99%", 0.9999, Rounding.CUT_OFF),
        ("99%", 1.0, None),
        ("0.5915143000", 0.5915143032, Rounding.PADDED),
        ("59.15143000%", 0.5915143032, None),
        ("59.151430%", 0.5915143032, Rounding.NEAREST),
        ("0.5", 0.59, None),
        ("0.5000", 0.4996, None),
        ("1", 1.0, Rounding.NEAREST),
        ("1", 0.9999, None),
    ],
)
def test_the_way_from_the_exact_value_to_the_printed_one_is_told(
    text: str, exact: float, rounding: Rounding | None
) -> None:
    assert printed(text, field="x").rounding_of(exact) is rounding


def test_a_value_with_all_its_digits_fits_itself_despite_float_rounding() -> None:
    assert printed(0.1 + 0.2, field="x").rounding_of(0.3) is Rounding.NEAREST


def test_percentages_are_exact_fractions() -> None:
    assert printed("57.3%", field="x").value == Fraction(573, 1000)
