"""When an interval is too good to be true: the warning about small classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Intervals

RELIABLE_CLASS_SIZE = 20
"""Cases in the smallest class below which no resampling interval of a mean over classes keeps
its coverage: a nominal 95 % interval of macro F1 covers about 85 % with 50 cases in all."""


def smallest_class(cases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cases of the smallest class that has any, shape (), from those of all classes (K,)."""
    return np.asarray(cases[cases > 0].min())


def flagged(found: Intervals, cases: NDArray[np.int64], what: str) -> Intervals:
    """The intervals with a warning wherever there are ends but too few cases."""
    notes = dict(found.notes)
    few = (cases < RELIABLE_CLASS_SIZE) & ~np.isnan(found.bounds.low)
    for place in np.argwhere(few):
        index = tuple(int(part) for part in place)
        warning = f"unreliable, {what} has n = {cases[index]}"
        notes[index] = "; ".join([warning, *([notes[index]] if index in notes else [])])
    return Intervals(found.bounds, found.method, found.undefined_share, notes)
