"""A number as it was printed, and the range of exact values it may stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction

from offdiag.errors import InvalidInput

ROUNDING = 1e-12
"""Slack for the rounding of float64 in every comparison of an audit."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from `low` to `high`, both included; empty if low exceeds high.

    With `or_undefined`, there may also be no number at all.
    """

    low: float
    high: float
    or_undefined: bool = False

    @property
    def is_empty(self) -> bool:
        return self.low > self.high + ROUNDING

    def meets(self, other: Interval) -> bool:
        """Whether the two have a number in common, allowing for rounding."""
        return not self.intersection(other).is_empty

    def intersection(self, other: Interval) -> Interval:
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def rising(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that never falls."""
        return Interval(function(self.low), function(self.high))

    def falling(self, function: Callable[[float], float]) -> Interval:
        """The image under a function that never rises."""
        return Interval(function(self.high), function(self.low))

    def to_list(self) -> list[float | None]:
        """JSON form: low and high, None for an end that is infinite."""
        return [end if math.isfinite(end) else None for end in (self.low, self.high)]


UNIT = Interval(0.0, 1.0)


def mean_of(parts: Iterable[Interval], weights: Iterable[float]) -> Interval:
    """Weighted mean of intervals; the weights add up to 1."""
    pairs = list(zip(parts, weights, strict=True))
    return Interval(
        sum(weight * part.low for part, weight in pairs),
        sum(weight * part.high for part, weight in pairs),
    )


def rising_in_both(
    function: Callable[[float, float], float], first: Interval, second: Interval
) -> Interval:
    """The image under a function of two arguments that falls in neither."""
    return Interval(function(first.low, second.low), function(first.high, second.high))


def harmonic_mean(first: float, second: float) -> float:
    """2 a b / (a + b), 0 where both are 0; rising in both arguments from 0 on."""
    return 2 * first * second / (first + second) if first + second > 0 else 0.0


UNDEFINED_WORDS = frozenset({"undefined", "n/a", "na", "nan", "none", "null", "not defined"})
WHOLE_AND_EXACT = (-1, 0, 1)
"""Without decimals these count as exact; nobody rounds 0.6 to "1"."""
COARSEST_CUT_OFF = Fraction(1, 100)
NEARLY_ONE = Fraction(999_999, 1_000_000)
FEWEST_DECIMALS_TO_PAD = 6
"""Zeros after at least this many decimals may have been added by a table, not measured."""
MOST_PLACES = 40
"""No metric is printed with more digits before or after the point."""
_QUOTIENT = re.compile(r"\d{1,18}\s*/\s*\d{1,18}")


class Rounding(StrEnum):
    """How an exact value became the printed one."""

    NEAREST = "nearest"
    CUT_OFF = "cut_off"
    """The digits after the last printed one were dropped."""
    PADDED = "padded"
    """Zeros were added after the last digit that was computed."""


_ROUNDED = frozenset({Rounding.NEAREST})


@dataclass(frozen=True, slots=True)
class Printed:
    """A published number.

    `value` is what was printed, percentages divided by 100, and `unit` the size of one step
    of its last digit, 0 if it counts as exact. `value` None means that the metric was reported as
    undefined. `text` is the number as it was given. `ways` are the possible roundings of its last
    digit.
    """

    text: str
    value: Fraction | None
    unit: Fraction = Fraction(0)
    ways: frozenset[Rounding] = _ROUNDED

    @property
    def interval(self) -> Interval | None:
        """The exact values that would be printed like this; None if reported as undefined."""
        if self.value is None:
            return None
        parts = []
        if Rounding.NEAREST in self.ways:
            parts.append(_around(self.value, self.unit / 2))
        if Rounding.CUT_OFF in self.ways:
            parts.append(self._cut_off_interval(self.value))
        return Interval(min(part.low for part in parts), max(part.high for part in parts))

    @property
    def has_last_digit(self) -> bool:
        """Whether it stands for a range of values."""
        return self.value is not None and self.unit > 0

    @property
    def may_be_cut_off(self) -> bool:
        """Whether it may be cut off by itself; coarse numbers would fit too much that way."""
        return self.has_last_digit and self.unit <= COARSEST_CUT_OFF

    def taken(self, *ways: Rounding) -> Printed:
        """The number, assuming that its last digit was rounded in one of these ways."""
        return replace(self, ways=frozenset(ways)) if self.has_last_digit else self

    def rounding_of(self, exact: float | None) -> Rounding | None:
        """How `exact` (None: undefined) came to be printed like this, or None if it cannot."""
        if self.value is None or exact is None:
            return Rounding.NEAREST if self.value is None and exact is None else None
        if _contains(_around(self.value, self.unit / 2), exact):
            return Rounding.NEAREST
        if self.may_be_cut_off and _contains(self._cut_off_interval(self.value), exact):
            return Rounding.CUT_OFF
        decimals = _decimals_without_padding(self.text)
        if decimals is not None:
            unit = Fraction(1, 10**decimals) * (Fraction(1, 100) if "%" in self.text else 1)
            if _contains(_around(self.value, unit / 2), exact):
                return Rounding.PADDED
        return None

    def _cut_off_interval(self, value: Fraction) -> Interval:
        # The far end itself would have been printed with its own last digit.
        reach = self.unit * NEARLY_ONE
        # Zero may be what remains of small values of either sign.
        low = value - reach if value <= 0 else value
        high = value + reach if value >= 0 else value
        return Interval(float(low), float(high))


def printed(reported: object, *, field: str) -> Printed:
    """Read one published number: text such as "57.3 %" or "0.6030", a number, or None.

    Text keeps its trailing zeros, so its decimals say how far it was rounded; a float has
    the decimals that Python shows. A quotient of whole numbers, "72/82", is exact. None, NaN,
    "0/0" and words such as "undefined" and "n/a" report that the metric is undefined. Raises
    `InvalidInput` for anything else.
    """
    # Turns a numpy scalar into the Python number it holds.
    item = getattr(reported, "item", None)
    plain = item() if callable(item) and getattr(reported, "shape", None) == () else reported
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        return Printed("undefined", None)
    if isinstance(plain, bool) or not isinstance(plain, (str, int, float, Decimal)):
        raise InvalidInput(
            f"{reported!r} is not a number.", field=field, hint='Write 0.593 or "59.3 %".'
        )
    text = plain.strip() if isinstance(plain, str) else str(plain)
    if text.lower() in UNDEFINED_WORDS:
        return Printed(text, None)
    if _QUOTIENT.fullmatch(text):
        part, of = (int(number) for number in text.split("/"))
        if of == 0 and part != 0:
            raise InvalidInput(
                f"{text!r} divides by zero.", field=field, hint="Write 72/82 or 0.878."
            )
        return Printed(text, Fraction(part, of) if of else None)
    digits = _number_in(text, field)
    decimals = -int(digits.as_tuple().exponent)
    unit = Fraction(10) ** -decimals
    is_percent = "%" in text
    if decimals == 0 and not is_percent and digits in WHOLE_AND_EXACT:
        unit = Fraction(0)
    scale = Fraction(1, 100) if is_percent else Fraction(1)
    return Printed(text, Fraction(digits) * scale, unit * scale)


def _number_in(text: str, field: str) -> Decimal:
    """The decimal number before a percent sign, if there is a sign."""
    body = text.removesuffix("%").strip().replace("\N{MINUS SIGN}", "-")
    try:
        digits = Decimal(body)
    except InvalidOperation:
        digits = Decimal("nan")
    if not digits.is_finite() or abs(digits.adjusted()) > MOST_PLACES or len(body) > MOST_PLACES:
        comma = re.fullmatch(r"[+-]?\d+,\d+", body) is not None
        raise InvalidInput(
            f"{text!r} is not a number.",
            field=field,
            hint="Write the decimal comma as a point."
            if comma
            else 'Write 0.593, "59.3 %" or "undefined".',
        )
    return digits


def _around(value: Fraction, reach: Fraction) -> Interval:
    return Interval(float(value - reach), float(value + reach))


def _contains(interval: Interval, exact: float) -> bool:
    return interval.low - ROUNDING <= exact <= interval.high + ROUNDING


def _decimals_without_padding(text: str) -> int | None:
    """Decimals without trailing zeros, if there are such zeros and enough decimals in all."""
    found = re.search(r"\.(\d+?)(0+)\s*%?$", text)
    if found is None or len(found.group(1)) < FEWEST_DECIMALS_TO_PAD:
        return None
    return len(found.group(1))
