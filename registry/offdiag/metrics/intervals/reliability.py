"""When an interval is too good to be true: what is said, and withheld, of small classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from offdiag.metrics.intervals.bounds import Bounds, Intervals

RELIABLE_CLASS_SIZE = 20
"""Cases in the smallest class below which no resampling interval of a mean over classes keeps
its coverage: a nominal 95 % interval of macro F1 covers about 85 % with 50 cases in all."""
SMALLEST_WITH_ENDS = 5
"""Cases in the smallest class below which no interval of such a mean is worth showing: with two
or three positive cases, nominal 95 % cover as little as 57 %."""


def smallest_class(cases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cases of the smallest class that has any, shape (), from those of all classes (K,)."""
    return np.asarray(cases[cases > 0].min())


def flagged(found: Intervals, cases: NDArray[np.int64], what: str) -> Intervals:
    """The intervals with a warning wherever there are ends but too few cases."""
    notes = dict(found.notes)
    few = (cases < RELIABLE_CLASS_SIZE) & ~np.isnan(found.bounds.low)
    for place in np.argwhere(few):
        index = tuple(int(part) for part in place)
        _add(notes, index, f"unreliable, {what} has n = {cases[index]}")
    return Intervals(found.bounds, found.method, found.undefined_share, notes)


def size_warning(n_smallest: int, smallest: str) -> tuple[str | None, bool]:
    """What to note of a class of so many cases, and whether an interval can have ends."""
    is_reliable = n_smallest >= RELIABLE_CLASS_SIZE
    note = None if is_reliable else f"unreliable, {smallest} has n = {n_smallest}"
    return note, n_smallest >= SMALLEST_WITH_ENDS


def judged_by_classes(
    found: Intervals,
    cases: NDArray[np.int64],
    names: Sequence[str] | None,
    *,
    is_average: bool,
    what: str = "class",
) -> Intervals:
    """An interval, shape (), of a metric that small classes decide, as far as it can be shown.

    `cases` (K,) are those of the declared classes, or labels, called `names` if known. Below
    five cases in the smallest class there are no ends. Of an average over the classes
    (`is_average`) there are none either where a declared class has no case: the sample says
    nothing about a part of what is averaged. Notes say "unreliable" then, and below 20 cases.
    """
    absent = np.flatnonzero(cases == 0)
    smallest = int(cases[cases > 0].min(initial=RELIABLE_CLASS_SIZE))
    has_ends = smallest >= SMALLEST_WITH_ENDS and not (is_average and len(absent))
    warnings = []
    if len(absent):
        first = f"one {what}" if names is None else repr(names[absent[0]])
        others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        warnings.append(f"no example of {first}{others}")
    if smallest < RELIABLE_CLASS_SIZE:
        warnings.append(f"smallest {what} has n = {smallest}")
    notes = dict(found.notes)
    if warnings and not (has_ends and np.isnan(found.bounds.low)):
        _add(notes, (), f"unreliable, {', '.join(warnings)}")
    nothing = np.asarray(np.nan)
    bounds = found.bounds if has_ends else Bounds(nothing, nothing)
    return Intervals(bounds, found.method, found.undefined_share, notes)


def _add(notes: dict[tuple[int, ...], str], index: tuple[int, ...], warning: str) -> None:
    notes[index] = "; ".join([warning, *([notes[index]] if index in notes else [])])
