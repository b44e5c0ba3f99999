"""Costs as a terminal shows them."""

from __future__ import annotations

from offdiag.domain.values import MetricValue

PER = 1_000
"""Costs are shown for so many cases: mean costs are often too small to read."""


def per_thousand(value: MetricValue, *, signed: bool = False) -> str:
    """A cost per case as one per 1,000 cases with its interval, or why there is none."""
    if value.value is None:
        return f"undefined ({value.reason})"
    sign = "+" if signed else ""
    text = f"{value.value * PER:{sign},.4g}"
    if value.ci_low is None or value.ci_high is None:
        return text
    low, high = (f"{end * PER:{sign},.4g}" for end in (value.ci_low, value.ci_high))
    return f"{text} [{low}, {high}]"
