"""How numbers are written, everywhere: counts, shares, measured values and amounts of cost.

Rounding never turns something into nothing or nearly all into all: a share above 0 is not
"0 %", a metric below 1 is not "1.000". CSV and JSON carry the full precision instead.

Amounts that are next to each other have the same number of decimals, as many as tell them apart.
The browser writes them too, while a user types. Both round halves away from zero, on the exact
value of the number, so that they never differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from offdiag.domain import number_text, texts

shortened = texts.shortened
MINUS = "\N{MINUS SIGN}"
_NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
_EN_DASH = "\N{EN DASH}"


def count(number: int) -> str:
    """1503 -> "1,503"."""
    return f"{number:,}".replace("-", MINUS)


def signed(difference: int) -> str:
    """A difference of counts: "+3", "−1,204", "0"."""
    return f"+{count(difference)}" if difference > 0 else count(difference)


def plural(number: int, one: str, many: str | None = None) -> str:
    """ "1 run", "12 runs"."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def metric(value: float) -> str:
    """A metric with three decimals: "0.864", "<0.001", ">0.999", with a true minus sign.

    Ratios may grow without bound: from a million on they are written "1.23e+09".
    """
    return number_text.number(value, decimals_from_100=3)


def interval(low: float, high: float) -> str:
    """ "0.846 – 0.881"; "−0.114 to 0.105", where a dash would be read as another minus."""
    return f"{metric(low)} {'to' if low < 0 else _EN_DASH} {metric(high)}"


def whole_percent(part: int, of: int) -> str:
    """Share of a count as a whole percentage, `of` > 0: "35 %", "<1 %", ">99 %"."""
    if 0 < 100 * part < of:
        return f"<1{_NARROW_SPACE}%"
    if 99 * of < 100 * part < 100 * of:
        return f">99{_NARROW_SPACE}%"
    return f"{round(100 * part / of)}{_NARROW_SPACE}%"


def fine_percent(part: int, of: int) -> str:
    """Share of a count with one decimal, `of` > 0: "66.9 %", "<0.1 %", ">99.9 %"."""
    if 0 < 1000 * part < of:
        return f"<0.1{_NARROW_SPACE}%"
    if 999 * of < 1000 * part < 1000 * of:
        return f">99.9{_NARROW_SPACE}%"
    return f"{100 * part / of:.1f}{_NARROW_SPACE}%"


def hits_of(hits: int, cases: int) -> str:
    """ "96/168", the exact form of a recall."""
    return f"{count(hits)}/{count(cases)}"


def labelled(n_labelled: int, n_samples: int) -> str:
    """ "all 540", or "300 of 540 (55.6 %)" where some labels are still to come."""
    if n_labelled == n_samples:
        return f"all {count(n_samples)}"
    share = fine_percent(n_labelled, max(n_samples, 1))
    return f"{count(n_labelled)} of {count(n_samples)} ({share})"


def listed(words: Sequence[str], *, at_most: int = 5) -> str:
    """ "a", "a and b", "a, b and c", "a, b and 4 more"; nothing is hidden to hide one word."""
    shown = list(words if len(words) == at_most + 1 else words[:at_most])
    hidden = len(words) - len(shown)
    if hidden:
        return f"{', '.join(shown)} and {count(hidden)} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def cut_in_the_middle(text: str, *, longest: int = 26) -> str:
    """A text of at most so many characters: what tells names apart is often at their end."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail].rstrip()}\N{HORIZONTAL ELLIPSIS}{text[-tail:].lstrip()}"


MOST_DECIMALS = 6
_DIGITS = 4
"""Digits of the largest amount of a table that are shown, decimals only as far as needed."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Writes amounts with one number of decimals, 0 to `MOST_DECIMALS`."""

    decimals: int

    def text(self, amount: float) -> str:
        """ "1,127", "−0.25"; what is not nothing is not "0" but "<0.01"."""
        step = Decimal(1).scaleb(-self.decimals)
        rounded = Decimal(amount).quantize(step, ROUND_HALF_UP) + 0
        if amount and not rounded:
            return f"<{step:f}" if amount > 0 else f">{MINUS}{step:f}"
        return f"{rounded:,f}".replace("-", MINUS)

    def signed(self, amount: float) -> str:
        """A difference: "+12", "−3", "0"."""
        text = self.text(amount)
        return f"+{text}" if amount > 0 and text[0] != "<" else text

    def interval(self, low: float, high: float) -> str:
        """ "1,103 – 1,149"."""
        return f"{self.text(low)} \N{EN DASH} {self.text(high)}"


def amounts_for(values: Iterable[float]) -> Amounts:
    """Decimals that show four digits of the largest of these amounts, none where there are."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest == 0 or not math.isfinite(largest):
        return Amounts(0)
    digits_before = Decimal(largest).adjusted() + 1
    return Amounts(min(MOST_DECIMALS, max(0, _DIGITS - digits_before)))
