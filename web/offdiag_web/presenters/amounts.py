"""How costs are written: as many decimals as tell them apart, the same for all beside each other.

The browser writes them too, while somebody types. Both round halves away from zero, on the
exact value of the number, so that they never differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from offdiag_web.presenters.numbers import MINUS

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
    digits_before = math.floor(math.log10(largest)) + 1
    return Amounts(min(MOST_DECIMALS, max(0, _DIGITS - digits_before)))
