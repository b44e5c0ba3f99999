"""An interval, the intervals of all classes, and warnings for intervals from too few samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower and upper ends, float64 arrays of one shape, both NaN where there is no interval.

    An upper end of +inf means that the interval has no upper end.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def at(self, *index: int) -> tuple[float | None, float | None]:
        """One interval. An end is None where there is no interval or it is open on that side."""
        return _finite(self.low[index]), _finite(self.high[index])


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval as it is stored and shown.

    `low` and `high` are finite or None. `method` names how it was found, and `note` what a reader
    must know before trusting it.
    """

    low: float | None
    high: float | None
    method: str
    note: str | None = None

    @property
    def provenance(self) -> str:
        """Method and note in one line, as shown beside the ends.

        >>> Interval(0.1, 0.9, "wilson", note="unreliable, class has n = 5").provenance
        'wilson; unreliable, class has n = 5'
        """
        return self.method if self.note is None else f"{self.method}; {self.note}"

    def around(self, value: MetricValue) -> MetricValue:
        """The value with this interval; an undefined value only accepts a one-sided interval."""
        if value.value is None and self.low is None and self.high is None:
            return value
        return replace(value, ci_low=self.low, ci_high=self.high, ci_method=self.provenance)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of one metric: of all classes, shape (K,), or of a matrix, shape ().

    `notes` holds a note for each place that needs one, keyed by its index.
    """

    bounds: Bounds
    method: str
    notes: dict[tuple[int, ...], str] = field(default_factory=dict)

    def at(self, *index: int) -> Interval:
        """The interval of one class, or without an index that of the matrix."""
        low, high = self.bounds.at(*index)
        return Interval(low, high, self.method, self.notes.get(index))


NO_ENDS = "no interval"


def without_ends(
    shape: tuple[int, ...], notes: dict[tuple[int, ...], str] | None = None
) -> Intervals:
    """Intervals of this shape without ends."""
    nothing = np.full(shape, np.nan)
    return Intervals(Bounds(nothing, nothing), NO_ENDS, notes or {})


def _finite(end: np.float64) -> float | None:
    return float(end) if np.isfinite(end) else None


RELIABLE_CLASS_SIZE = 20
"""Samples in the smallest class below which an interval is called unreliable: with few of them
its coverage can be poor. Drawn intervals of macro F1 contained the true value in about 80 % of
datasets in which a class had five samples although two were expected (docs/intervals.md)."""
SMALLEST_WITH_ENDS = 5
"""Samples in the smallest class below which the interval of a mean over classes has no ends: with
two or three positive samples, resampled 95 % intervals covered as little as 57 %
(docs/decisions/037)."""


def smallest_class(cases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Samples of the smallest class that has any, shape (), from those of all classes (K,)."""
    return np.asarray(cases[cases > 0].min())


def flagged(found: Intervals, cases: NDArray[np.int64], what: str) -> Intervals:
    """The intervals, with a warning for every one that has ends but too few samples."""
    notes = dict(found.notes)
    few = (cases < RELIABLE_CLASS_SIZE) & ~np.isnan(found.bounds.low)
    for place in np.argwhere(few):
        index = tuple(int(part) for part in place)
        _add(notes, index, f"unreliable, {what} has n = {cases[index]}")
    return Intervals(found.bounds, found.method, notes)


def size_warning(n_smallest: int, smallest: str) -> tuple[str | None, bool]:
    """The note for a class of this size, if any, and whether an interval can have ends."""
    is_reliable = n_smallest >= RELIABLE_CLASS_SIZE
    note = None if is_reliable else f"unreliable, {smallest} has n = {n_smallest}"
    return note, n_smallest >= SMALLEST_WITH_ENDS


def judged_by_classes(
    found: Intervals,
    cases: NDArray[np.int64],
    names: Sequence[str] | None,
    *,
    what: str = "class",
) -> Intervals:
    """An interval, shape (), of an average over classes, as far as the class sizes allow it.

    `cases` (K,) are the samples of the declared classes, or labels; `names` are their names if
    known. There are no ends below five samples in the smallest class, or if a declared class has
    no sample: then nothing is known about a part of the average. Notes say "unreliable" in both
    cases, and below 20 samples.
    """
    smallest = int(cases[cases > 0].min(initial=RELIABLE_CLASS_SIZE))
    warnings = _absent(cases, names, what)
    has_ends = smallest >= SMALLEST_WITH_ENDS and not warnings
    if smallest < RELIABLE_CLASS_SIZE:
        warnings.append(f"smallest {what} has n = {smallest}")
    return _judged(found, has_ends, warnings)


def judged_by_minority(
    found: Intervals, cases: NDArray[np.int64], names: Sequence[str]
) -> Intervals:
    """An interval, shape (), of a metric that counts every sample but needs more than one class.

    `cases` (K,) are the samples of the declared classes, called `names`. There are no ends with
    fewer than five samples outside the largest class. Notes say "unreliable" in that case, below
    20 samples, and if a declared class has no sample.
    """
    n_others = int(cases.sum() - cases.max(initial=0))
    warnings = _absent(cases, names, "class")
    if n_others < RELIABLE_CLASS_SIZE:
        warnings.append(f"n = {n_others} outside the largest class")
    return _judged(found, n_others >= SMALLEST_WITH_ENDS, warnings)


def warned(found: Intervals, warning: str) -> Intervals:
    """The interval, shape (), marked unreliable for this reason if it has ends and no mark yet."""
    if np.isnan(found.bounds.low) or "unreliable" in found.notes.get((), ""):
        return found
    return _judged(found, True, [warning])


def _absent(cases: NDArray[np.int64], names: Sequence[str] | None, what: str) -> list[str]:
    """A warning that names the declared classes, or labels, that have no sample."""
    absent = np.flatnonzero(cases == 0)
    if not len(absent):
        return []
    first = f"one {what}" if names is None else repr(names[absent[0]])
    others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
    return [f"no example of {first}{others}"]


def _judged(found: Intervals, has_ends: bool, warnings: Sequence[str]) -> Intervals:
    notes = dict(found.notes)
    if warnings and not (has_ends and np.isnan(found.bounds.low)):
        _add(notes, (), f"unreliable, {', '.join(warnings)}")
    nothing = np.asarray(np.nan)
    bounds = found.bounds if has_ends else Bounds(nothing, nothing)
    return Intervals(bounds, found.method, notes)


def _add(notes: dict[tuple[int, ...], str], index: tuple[int, ...], warning: str) -> None:
    notes[index] = "; ".join([warning, *([notes[index]] if index in notes else [])])


def difference_bounds(before: MetricValue, after: MetricValue) -> tuple[float, float] | None:
    """Interval of the difference of two values, new minus old, from the interval of each.

    Square-and-add (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702), which assumes
    independent runs. Runs on the same samples usually err on the same ones, and then this
    interval is wider than necessary. None where either interval is missing.
    """
    if before.value is None or after.value is None:
        return None
    bounds = before.ci_low, before.ci_high, after.ci_low, after.ci_high
    if None in bounds:
        return None
    old_low, old_high, new_low, new_high = (bound or 0.0 for bound in bounds)
    difference = after.value - before.value
    return (
        difference - math.hypot(after.value - new_low, old_high - before.value),
        difference + math.hypot(new_high - after.value, before.value - old_low),
    )
