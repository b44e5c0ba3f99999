"""How numbers are written in messages."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share as a percentage with one decimal: 0.4 -> "40.0 %"."""
    return f"{100 * share:.1f} %"


def whole_percent(share: float) -> str:
    """A share as a percentage without decimals: 0.402 -> "40 %"."""
    return f"{100 * share:.0f} %"


def points(difference: float) -> str:
    """A difference of two shares in percentage points: 0.2 -> "20 points"."""
    return f"{100 * difference:.3g} points"


def p_value(p: float) -> str:
    """A p value as papers report it: two significant digits, from 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def chance(probability: float) -> str:
    """A probability with two significant digits; tiny ones as a power of ten."""
    return f"{probability:.2g}"


def number_of(count: float, noun: str) -> str:
    """A count with its noun: "1 case", "12 cases"."""
    return f"{count:,.0f} {noun}" if count == 1 else f"{count:,.0f} {noun}s"


def amount(cost: float) -> str:
    """A cost without more digits than it carries information."""
    return f"{cost:,.10g}"
