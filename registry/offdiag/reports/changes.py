"""What changed since the report before, judged by intervals and never by differences alone.

Two things can change. A run may be scored again, because a label was corrected or a metric was
defined anew: its predictions are the same, so its new value counts as a change when it lies
outside the interval of the old one. Or a run of the same name may have been logged: then the
change is the difference of two runs, and counts when the interval of the difference excludes
zero. A report compares many values of such runs, so their intervals hold together (Bonferroni):
equally good runs are said to differ in at most 5 reports of 100, and not in nearly every one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from offdiag.domain.values import MetricValue
from offdiag.metrics.intervals.bounds import difference_bounds
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.reports.snapshot import RunFigures

CHANGING_CLASS_METRICS = ("recall", "precision")
"""F1 follows from these two, so a change of it would be told twice."""
_CONFIDENCE = 0.95
"""Of the intervals that snapshots hold."""


class Origin(StrEnum):
    """Why there are two values to compare."""

    RESCORED = "rescored"
    """The same run was scored again."""
    SUCCEEDED = "succeeded"
    """A newer run of the same name took its place."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that left its interval.

    `low` and `high` bound the difference, new minus old, where it is that of two runs, together
    with all other such differences of the report.
    """

    origin: Origin
    run_id: str
    run_name: str
    previous_run_id: str
    slice: str | None
    metric: str
    class_label: str | None
    before: MetricValue
    after: MetricValue
    low: float | None = None
    high: float | None = None

    @property
    def difference(self) -> float | None:
        """New minus old value, None where either is undefined."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes beyond their interval, largest first, and how many values were compared."""

    beyond: tuple[Change, ...]
    n_compared: int


@dataclass(frozen=True, slots=True)
class _Pair:
    before: RunFigures
    after: RunFigures
    origin: Origin


def find_changes(
    before: Sequence[RunFigures], after: Sequence[RunFigures], metrics: Sequence[str]
) -> Changes:
    """Compare the runs of two reports, slices included.

    A run with the same inputs as before is not looked at: its values are the same.
    """
    compared = _held_together(
        [change for pair in _pairs(before, after) for change in _compared(pair, metrics)]
    )
    beyond = [change for change in compared if _is_beyond(change)]
    beyond.sort(key=lambda change: -_size(change))
    return Changes(tuple(beyond), len(compared))


def _pairs(before: Sequence[RunFigures], after: Sequence[RunFigures]) -> Iterator[_Pair]:
    known = {(run.id, run.slice): run for run in before}
    ids = {run.id for run in before}
    newest_then = _newest_by_name(before)
    newest_now = _newest_by_name(after)
    for run in after:
        same = known.get((run.id, run.slice))
        if same is not None:
            if same.input_digest != run.input_digest:
                yield _Pair(same, run, Origin.RESCORED)
            continue
        predecessor = newest_then.get((run.name, run.slice))
        is_newest = newest_now[run.name, run.slice] is run
        if predecessor is not None and is_newest and run.id not in ids:
            yield _Pair(predecessor, run, Origin.SUCCEEDED)


def _newest_by_name(
    runs: Sequence[RunFigures],
) -> dict[tuple[str, str | None], RunFigures]:
    oldest_first = sorted(runs, key=lambda run: (run.logged_at, run.id))
    return {(run.name, run.slice): run for run in oldest_first}


def _compared(pair: _Pair, metrics: Sequence[str]) -> Iterator[Change]:
    for key in metrics:
        if key in pair.before.metrics and key in pair.after.metrics:
            yield _change(pair, key, None, pair.before.metrics[key], pair.after.metrics[key])
    before = {figures.label: figures for figures in pair.before.classes}
    for figures in pair.after.classes:
        if figures.label in before:
            then = before[figures.label].values
            for key in CHANGING_CLASS_METRICS:
                yield _change(pair, key, figures.label, then[key], figures.values[key])


def _change(
    pair: _Pair, metric: str, class_label: str | None, before: MetricValue, after: MetricValue
) -> Change:
    bounds = difference_bounds(before, after) if pair.origin is Origin.SUCCEEDED else None
    low, high = bounds or (None, None)
    return Change(
        origin=pair.origin,
        run_id=pair.after.id,
        run_name=pair.after.name,
        previous_run_id=pair.before.id,
        slice=pair.after.slice,
        metric=metric,
        class_label=class_label,
        before=before,
        after=after,
        low=low,
        high=high,
    )


def _held_together(changes: Sequence[Change]) -> list[Change]:
    """The changes with each interval of a difference as wide as their number asks for."""
    n_bounded = sum(change.low is not None for change in changes)
    wider = normal_quantile(confidence_together(_CONFIDENCE, n_bounded))
    factor = wider / normal_quantile(_CONFIDENCE)
    return [_widened(change, factor) for change in changes]


def _widened(change: Change, factor: float) -> Change:
    middle = change.difference
    if middle is None or change.low is None or change.high is None:
        return change
    low, high = (middle + factor * (end - middle) for end in (change.low, change.high))
    return replace(change, low=low, high=high)


def _is_beyond(change: Change) -> bool:
    before, after = change.before, change.after
    if before.value is None or after.value is None:
        return before.is_defined != after.is_defined
    if change.origin is Origin.SUCCEEDED:
        return (
            change.low is not None
            and change.high is not None
            and (change.low > 0 or change.high < 0)
        )
    if before.ci_low is None or before.ci_high is None:
        return False
    return not before.ci_low <= after.value <= before.ci_high


def _size(change: Change) -> float:
    # What became undefined cannot be sized, and is too strange to come last.
    return math.inf if change.difference is None else abs(change.difference)
