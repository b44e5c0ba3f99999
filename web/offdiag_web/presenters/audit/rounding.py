"""Which values a printed number may stand for, in the form it was printed in."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from offdiag.audit.printed import Interval, Printed, Rounding

_EN_DASH = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_ADDED = {
    Rounding.CUT_OFF: ", cut off instead of rounded",
    Rounding.PADDED: ", zeros added",
}


def allowed_text(printed: Printed, rounding: Rounding | None = None) -> str:
    """ "57.25 – 57.35 %" for "57.3 %", "exactly" for a quotient, "no value" for undefined."""
    if printed.value is None:
        return "no value"
    if printed.unit == 0:
        return "exactly this"
    is_percent = "%" in printed.text
    scale = 100 if is_percent else 1
    low, high = (end * scale for end in _ends(printed, rounding))
    decimals = _decimals(printed.unit * scale) + 1
    unit = " %" if is_percent else ""
    text = f"{_fixed(low, decimals)} {_EN_DASH} {_fixed(high, decimals)}{unit}"
    return text + (_ADDED.get(rounding, "") if rounding is not None else "")


def expected_text(expected: Interval | None, printed: Printed) -> str | None:
    """What the other numbers leave for a metric, two digits finer than it was printed."""
    if expected is None or expected.is_empty:
        return None
    scale = 100 if "%" in printed.text else 1
    decimals = min(9, _decimals(printed.unit * scale) + 2) if printed.unit else 6
    unit = " %" if scale == 100 else ""
    ends = [f"{end * scale:.{decimals}f}" for end in (expected.low, expected.high)]
    if ends[0] == ends[1]:
        return f"{_signed(ends[0])}{unit}"
    return f"{_signed(ends[0])} {_EN_DASH} {_signed(ends[1])}{unit}"


def _ends(printed: Printed, rounding: Rounding | None) -> tuple[Fraction, Fraction]:
    value, unit = printed.value or Fraction(0), printed.unit
    if rounding is not Rounding.CUT_OFF:
        return value - unit / 2, value + unit / 2
    return (value if value > 0 else value - unit), (value if value < 0 else value + unit)


def _decimals(unit: Fraction) -> int:
    """Places behind the point of a number in steps of `unit`, a power of ten."""
    return max(0, -Decimal(float(unit)).adjusted())


def _fixed(value: Fraction, decimals: int) -> str:
    """Exactly, because half a step always ends with a 5."""
    digits = f"{abs(round(value * 10**decimals)):0{decimals + 1}d}"
    text = f"{digits[:-decimals]}.{digits[-decimals:]}"
    return f"{_MINUS}{text}" if value < 0 else text


def _signed(text: str) -> str:
    return text.replace("-", _MINUS)
