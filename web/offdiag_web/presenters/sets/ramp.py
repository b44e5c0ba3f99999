"""Which step of which ramp a share has."""

from __future__ import annotations

import math

from offdiag_web.charts.palette import BINS


def ramp_class(share: float, *, is_right: bool, end: float = 1.0) -> str:
    """CSS class of a cell with a share of at most `end`; one without any has no colour.

    Errors grow with the square root, so that a few can be told from none.
    """
    if share <= 0:
        return "zero"
    height = share / end if is_right else math.sqrt(share / end)
    step = min(max(round(height * (BINS - 1)), 1), BINS - 1)
    return f"{'correct' if is_right else 'error'}-{step}"
