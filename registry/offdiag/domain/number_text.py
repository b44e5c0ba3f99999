"""Numbers as text, as papers report them: counts, percentages, p values, intervals, costs.

Shares are in [0, 1]. Rounding never turns a share into 0 or 1, nor a p value into 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

MINUS = "\N{MINUS SIGN}"
EN_DASH = "\N{EN DASH}"
_MOST_DECIMALS = 3
_KILO = 1000
USUAL_LEVEL = 0.05
"""Significance level of p values: the side of it decides what is said."""


def read_number(text: str) -> float:
    """The number in a text. Raises `ValueError`, also for "1_0", which Python reads as 10."""
    if "_" in text:
        raise ValueError(f"could not convert string to float: {text!r}")
    return float(text)


def count(number: float, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 run", "1,200 runs", "2 matrices"."""
    return f"{number:,.0f} {one if number == 1 else many or f'{one}s'}"


def byte_size(n_bytes: int) -> str:
    """A number of bytes with three to four digits: "812 bytes", "1.2 kB", "30.5 GB"."""
    if n_bytes < _KILO:
        return count(n_bytes, "byte")
    amount, units = n_bytes / _KILO, ["kB", "MB", "GB"]
    # What would be rounded to 1000.0 is in the next unit.
    while len(units) > 1 and amount >= _KILO - 0.05:
        amount, units = amount / _KILO, units[1:]
    return f"{amount:,.1f} {units[0]}"


def number(value: float, *, decimals: int = 3, decimals_from_100: int = 1) -> str:
    """Three decimals, or one from 100 on; nothing but 0 becomes 0, and nothing below 1 becomes 1.

    From a million on it is written "1.23e+09".
    """
    size, smallest = abs(value), 10.0**-decimals
    if 0 < size < smallest / 2:
        return f"<{smallest:.{decimals}f}" if value > 0 else f">{MINUS}{smallest:.{decimals}f}"
    if 1 - smallest / 2 <= size < 1:
        largest = f"{1 - smallest:.{decimals}f}"
        return f">{largest}" if value > 0 else f"<{MINUS}{largest}"
    # Adding 0.0 turns negative zero into plain zero.
    decimals = decimals if size < 100 else decimals_from_100
    text = f"{value + 0.0:,.{decimals}f}" if size < 1e6 else f"{value:.3g}"
    return text.replace("-", MINUS)


def beside(value: float, limit: float) -> str:
    """Six digits, or as many more as it takes to tell the value from its limit: "0.7999998"."""
    texts = (f"{value:.{digits}g}" for digits in range(6, 18))
    return next(text for text in texts if value == limit or float(text) != limit)


def signed(value: float, decimals: int) -> str:
    """A difference: "+3.2", "−0.4", "0"; if it rounds to 0, to one digit: "+0.03"."""
    text = f"{value:+.{decimals}f}"
    return _one_digit(value, decimals) if float(text) == 0 else text.replace("-", MINUS)


_MOST_ZEROS = 4
"""Decimals in which a digit of a small difference is searched, unless more are shown."""


def _one_digit(value: float, decimals: int) -> str:
    """A small difference with its sign, so that an end of an interval stays on its side of 0."""
    least = 10.0 ** -max(decimals, _MOST_ZEROS)
    if 0 < abs(value) < least:
        step = f"{least:f}".rstrip("0")
        return f"< +{step}" if value > 0 else f"> {MINUS}{step}"
    return f"{value:+.1g}".replace("-", MINUS) if value else "0"


def about(value: float) -> str:
    """ "about 0.942", but ">0.999" and "<0.001", which say themselves that they are not exact."""
    text = number(value)
    return text if text[0] in "<>" else f"about {text}"


def interval(low: float, high: float, *, decimals: int = 3, decimals_from_100: int = 1) -> str:
    """ "0.846 – 0.881"; "−0.114 to 0.105", where a dash would be read as another minus."""
    ends = (
        number(end, decimals=decimals, decimals_from_100=decimals_from_100) for end in (low, high)
    )
    return between(low).join(ends)


def between(low: float) -> str:
    """What stands between the ends of an interval."""
    return f" {EN_DASH if low >= 0 else 'to'} "


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent: "35 %", "<1 %", ">99 %"; one decimal: "35.2 %"."""
    smallest, value = 10.0**-decimals, 100 * share
    # Steps of a percentage are no exact floats: 100 * 0.999 may be a little more than 99.9.
    tolerance = 1e-9 * smallest
    text = f"{value:.{decimals}f}"
    if share > 0 and value < smallest - tolerance:
        text = f"<{smallest:.{decimals}f}"
    elif share < 1 and value > 100 - smallest + tolerance:
        text = f">{100 - smallest:.{decimals}f}"
    return f"{text} %"


def percents(*shares: float) -> list[str]:
    """Shares in percent, with as few decimals as needed to distinguish shares that differ."""
    for decimals in range(_MOST_DECIMALS):
        texts = [percent(share, decimals) for share in shares]
        if len(set(texts)) == len(set(shares)):
            return texts
    return [percent(share, _MOST_DECIMALS) for share in shares]


def points(difference: float) -> str:
    """A difference of two shares: "1 point", "20 points", "2.5 points"."""
    number = f"{100 * difference:.3g}"
    return f"{number} {'point' if number == '1' else 'points'}"


def interval_percent(low: float, high: float) -> str:
    """The 95 % interval of a share: "CI 16 to 28 %"."""
    return f"CI {percent(low).removesuffix(' %')} to {percent(high)}"


def interval_points(low: float, high: float, confidence: float = 0.95) -> str:
    """The interval of a difference of shares: "CI -25 to -13 points", "90 % CI ...".

    With decimals if whole points would be the same, or if an end would seem to be 0.
    """
    ends = [f"{round(100 * end):d}" for end in (low, high)]
    hides_sign = any(end and round(100 * end) == 0 for end in (low, high))
    if ends[0] == ends[1] or hides_sign:
        ends = [_tenths(100 * end) for end in (low, high)]
    level = "" if confidence == 0.95 else f"{100 * confidence:g} % "
    return f"{level}CI {ends[0]} to {ends[1]} points"


def _tenths(end: float) -> str:
    text = f"{end + 0.0:.1f}"
    return f"{end:.1g}" if float(text) == 0 and end else text


def p_value(p: float) -> str:
    """A p value with two significant digits, down to 0.001: "p = 0.024", "p < 0.001"."""
    shown = p_in_column(p)
    return f"p {shown}" if shown[0] in "<>" else f"p = {shown}"


def p_in_column(p: float) -> str:
    """A p value under a heading that says so: "0.024", "< 0.001".

    Only a value of exactly 0.05 is written as 0.05; others are not rounded to it.
    """
    if p < 0.001:
        return "< 0.001"
    if p > 0.99:
        return "1.00" if p >= 1 else "> 0.99"
    text = f"{p:#.2g}"
    if float(text) != USUAL_LEVEL or p == USUAL_LEVEL:
        return text
    finer = f"{p:.4f}"
    if float(finer) != USUAL_LEVEL:
        return finer
    return f"{'<' if p < USUAL_LEVEL else '>'} {USUAL_LEVEL}"


def cost(amount: float, currency: str | None = None) -> str:
    """A cost with no more digits than are informative: "1,240 EUR", "0.4312"."""
    text = (Amounts(0) if amount == round(amount) else amounts_for([amount])).text(amount)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text}{f' {currency}' if currency else ''}"


MOST_DECIMALS = 6
_DIGITS = 4
"""Digits shown of the largest amount of a table, with decimals only as far as needed."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Writes amounts that stand next to each other with the same number of decimals, 0 to 6.

    The browser also writes them, while a user types. Both round halves away from zero, on the
    exact value of the number, so that they never differ.
    """

    decimals: int

    def text(self, amount: float) -> str:
        """ "1,127", "−0.25"; an amount that rounds to 0 without being 0 is "<0.01"."""
        step = Decimal(1).scaleb(-self.decimals)
        rounded = Decimal(amount).quantize(step, ROUND_HALF_UP) + 0
        if amount and not rounded:
            return f"<{step:f}" if amount > 0 else f">{MINUS}{step:f}"
        return f"{rounded:,f}".replace("-", MINUS)

    def signed(self, amount: float) -> str:
        """A difference: "+12", "−3", "0"; one that rounds to 0 is written as by `signed`."""
        text = self.text(amount)
        if text[0] in "<>":
            return _one_digit(amount, self.decimals)
        return f"+{text}" if amount > 0 else text

    def interval(self, low: float, high: float) -> str:
        """ "1,103 – 1,149", "−250 to 1,149"."""
        return between(low).join((self.text(low), self.text(high)))


def amounts_for(values: Iterable[float]) -> Amounts:
    """The `Amounts` that show four digits of the largest value, without decimals from 1000 on."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest == 0 or not math.isfinite(largest):
        return Amounts(0)
    digits_before = Decimal(largest).adjusted() + 1
    return Amounts(min(MOST_DECIMALS, max(0, _DIGITS - digits_before)))
