"""What changed since the previous edition, judged by intervals: metrics, ranks and flags.

The value of a metric can change in two ways. A run may be re-evaluated, because a label was
corrected or a metric was redefined: its predictions are the same, so its new value counts as a
change if it lies outside the interval of the old one. Or a new run of the same name may have been
logged: then the change is the difference of two runs, and counts if the interval of the
difference excludes zero. If further samples are labelled, chance also moves the value of a run
that is re-evaluated. A report compares many values that chance can move, so their intervals hold
together (Bonferroni): by chance at most 5 reports in 100 say that something changed, instead of
nearly every one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.intervals.bounds import difference_bounds
from offdiag.metrics.intervals.proportions import normal_quantile
from offdiag.metrics.metric_text import spec_of
from offdiag.metrics.paired.class_changes import confidence_together
from offdiag.reports.snapshot import FlagFigures, RunFigures, Snapshot

CHANGING_CLASS_METRICS = ("recall", "precision")
"""F1 follows from these two, so a change in it would be reported twice."""
_CONFIDENCE = 0.95
"""Confidence of the intervals in snapshots."""
_ROUNDING = 1e-12


class Origin(StrEnum):
    """Why there are two values to compare."""

    RESCORED = "rescored"
    """The same run was re-evaluated."""
    SUCCEEDED = "succeeded"
    """A newer run of the same name took its place."""


@dataclass(frozen=True, slots=True)
class Change:
    """A value that left its interval.

    `low` and `high` bound the difference, new minus old, if chance can explain it: that of
    two runs, or of other samples. They hold together for all such differences of the report.
    """

    origin: Origin
    run_id: str
    run_name: str
    slice: str | None
    metric: str
    class_label: str | None
    before: MetricValue
    after: MetricValue
    low: float | None = None
    high: float | None = None

    @property
    def difference(self) -> float | None:
        """New minus old value, None if either is undefined."""
        if self.before.value is None or self.after.value is None:
            return None
        return self.after.value - self.before.value


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes, furthest beyond their interval first, and how many values were compared."""

    beyond: tuple[Change, ...]
    n_compared: int


@dataclass(frozen=True, slots=True)
class _Pair:
    before: RunFigures
    after: RunFigures
    origin: Origin
    is_of_gone_run: bool = False

    @property
    def is_of_chance(self) -> bool:
        """Whether chance alone can change a value: another run, or other samples."""
        return self.origin is Origin.SUCCEEDED or self.before.n_scored != self.after.n_scored


def find_changes(
    before: Sequence[RunFigures],
    after: Sequence[RunFigures],
    metrics: Sequence[str],
    *,
    redefined: Collection[str] = (),
) -> Changes:
    """Compare the runs of two reports, including slices.

    A run with the same inputs as before is skipped: its values are the same. A run that is gone
    has values of metrics that were `redefined` by the old definition only, which are not compared
    with those of another run.
    """
    changes = [
        change
        for pair in _pairs(before, after)
        for change in _compared(pair, metrics, redefined if pair.is_of_gone_run else ())
    ]
    n_bounded = sum(change.low is not None for change in changes)
    wider = normal_quantile(confidence_together(_CONFIDENCE, n_bounded))
    factor = wider / normal_quantile(_CONFIDENCE)
    compared = [_widened(change, factor) for change in changes]
    beyond = [change for change in compared if _is_beyond(change)]
    beyond.sort(key=lambda change: -_half_widths(change))
    return Changes(tuple(beyond), len(compared))


def _pairs(before: Sequence[RunFigures], after: Sequence[RunFigures]) -> Iterator[_Pair]:
    known = {(run.id, run.slice): run for run in before}
    present = {(run.id, run.slice): run for run in after}
    ids = {run.id for run in before}
    weights = {run.id: run.weights for run in after if run.slice is None}
    newest_then = _newest_by_line(before, weights)
    newest_now = _newest_by_line(after, weights)
    for run in after:
        same = known.get((run.id, run.slice))
        if same is not None:
            if same.input_digest != run.input_digest:
                yield _Pair(same, run, Origin.RESCORED)
            continue
        line = (run.name, run.slice, weights.get(run.id))
        predecessor, is_newest = newest_then.get(line), newest_now.get(line) is run
        if predecessor is not None and is_newest and run.id not in ids:
            # As scored now: the effect of corrected labels is not a difference between the runs.
            place = predecessor.id, predecessor.slice
            predecessor = present.get(place, predecessor)
            if _measured_by(predecessor) == _measured_by(run):
                yield _Pair(predecessor, run, Origin.SUCCEEDED, place not in present)


def _measured_by(run: RunFigures) -> tuple[int | None, int]:
    """Labels and definitions; values by others do not compare two runs."""
    return run.truth_number, run.suite_version


def _newest_by_line(
    runs: Sequence[RunFigures], weights: Mapping[str, str | None]
) -> dict[tuple[str, str | None, str | None], RunFigures]:
    """Newest runs by name, slice and weights, without weighted runs whose weights are unknown."""
    oldest_first = sorted(runs, key=lambda run: (run.logged_at, run.id))
    return {
        (run.name, run.slice, weights.get(run.id)): run
        for run in oldest_first
        if not run.has_weights or weights.get(run.id)
    }


def _compared(pair: _Pair, metrics: Sequence[str], redefined: Collection[str]) -> Iterator[Change]:
    for key in metrics:
        if key in redefined:
            continue
        if key in pair.before.metrics and key in pair.after.metrics:
            yield from _change(pair, key, None, pair.before.metrics[key], pair.after.metrics[key])
    before = {figures.label: figures for figures in pair.before.classes}
    for figures in pair.after.classes:
        if figures.label in before:
            then = before[figures.label].values
            for key in CHANGING_CLASS_METRICS:
                yield from _change(pair, key, figures.label, then[key], figures.values[key])


def _change(
    pair: _Pair, metric: str, class_label: str | None, before: MetricValue, after: MetricValue
) -> Iterator[Change]:
    if pair.is_of_chance and not (before.is_defined and after.is_defined):
        # No interval tells whether a class was never predicted by chance.
        return
    low, high = _bounds(pair, before, after) or (None, None)
    yield Change(
        origin=pair.origin,
        run_id=pair.after.id,
        run_name=pair.after.name,
        slice=pair.after.slice,
        metric=metric,
        class_label=class_label,
        before=before,
        after=after,
        low=low,
        high=high,
    )


def _bounds(pair: _Pair, before: MetricValue, after: MetricValue) -> tuple[float, float] | None:
    if not pair.is_of_chance:
        return None
    if pair.origin is Origin.SUCCEEDED:
        return difference_bounds(before, after)
    if after.value is None or before.ci_low is None or before.ci_high is None:
        return None
    # The old samples are among the new ones, which the interval of the old value allows for.
    return after.value - before.ci_high, after.value - before.ci_low


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
    if change.low is not None and change.high is not None:
        return change.low > 0 or change.high < 0
    if change.origin is Origin.SUCCEEDED or before.ci_low is None or before.ci_high is None:
        return False
    return not before.ci_low <= after.value <= before.ci_high


def _half_widths(change: Change) -> float:
    """How far a change is beyond its interval, in half-widths, since costs have other units."""
    difference, before = change.difference, change.before
    if difference is None:
        return math.inf  # A change to undefined has no size, and is too odd to come last.
    if change.origin is Origin.SUCCEEDED:
        near = change.low if difference > 0 else change.high
        margin = difference - (near or 0.0)
    else:
        near = before.ci_high if difference > 0 else before.ci_low
        margin = (near or 0.0) - (before.value or 0.0)
    return abs(difference / margin) if margin else math.inf


@dataclass(frozen=True, slots=True)
class RankChange:
    """A run whose place among the runs in both reports has changed."""

    run_id: str
    run_name: str
    metric: str
    before: int
    after: int


def ranked(runs: Sequence[RunFigures], metric: str) -> tuple[RunFigures, ...]:
    """Runs from best to worst; those with an undefined metric come last, newest first.

    Runs with weights come after all others: their values are of other quantities.
    """
    newest_first = sorted(runs, key=lambda run: (run.logged_at, run.id), reverse=True)
    return tuple(sorted(newest_first, key=lambda run: (run.has_weights, _badness(run, metric))))


def ranks(runs: Sequence[RunFigures], metric: str) -> dict[str, int]:
    """Place of each run by id, 1 being best; values that are equal up to rounding share a place.

    Runs with undefined values have no place, nor do runs with weights, whose values are of other
    quantities.
    """
    values = {
        run.id: _badness(run, metric)
        for run in runs
        if _value(run, metric) is not None and not run.has_weights
    }
    return {
        run_id: 1 + sum(other < badness for other in values.values() if not is_tie(other, badness))
        for run_id, badness in values.items()
    }


def is_tie(one: float, other: float) -> bool:
    """Whether values are equal but for rounding: a mean depends on the order of its terms."""
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def rank_changes(
    before: Sequence[RunFigures], after: Sequence[RunFigures], metrics: Sequence[str]
) -> tuple[RankChange, ...]:
    """Places that changed among the runs in both reports, by metric and then by new place.

    A new run moves all runs below it down by one. That is not news about them, so places are
    counted only among the runs that are in both reports.
    """
    known = {run.id for run in before} & {run.id for run in after}
    names = {run.id: run.name for run in after}
    then = [run for run in before if run.id in known]
    now = [run for run in after if run.id in known]
    found = []
    for metric in metrics:
        old, new = ranks(then, metric), ranks(now, metric)
        moved = sorted((new[run_id], run_id) for run_id in new if run_id in old)
        found += [
            RankChange(run_id, names[run_id], metric, old[run_id], place)
            for place, run_id in moved
            if place != old[run_id]
        ]
    return tuple(found)


def _value(run: RunFigures, metric: str) -> float | None:
    found = run.metrics.get(metric)
    return None if found is None else found.value


def _badness(run: RunFigures, metric: str) -> float:
    """Smaller is better, whatever the direction of the metric."""
    value = _value(run, metric)
    if value is None:
        return float("inf")
    return value if spec_of(metric, of_class=False).direction is Direction.LOWER else -value


@dataclass(frozen=True, slots=True)
class FlagChanges:
    """What happened to flags between two editions, most severe first.

    `opened` flags were not there before, `reopened` ones were and had been triaged. `closed` holds
    the flags as they were when they were last raised.
    """

    opened: tuple[FlagFigures, ...]
    closed: tuple[FlagFigures, ...]
    reopened: tuple[ReopenedFlag, ...] = ()

    @property
    def is_none(self) -> bool:
        return not (self.opened or self.closed or self.reopened)


@dataclass(frozen=True, slots=True)
class ReopenedFlag:
    """A flag that is open, and was acknowledged, snoozed or dismissed in the previous edition."""

    flag: FlagFigures
    why: str
    """ "snooze ended", "more severe", or "reopened" by a person or by its rule."""


def find_flag_changes(before: Snapshot, now: Snapshot) -> FlagChanges | None:
    """Compare the flags of two editions about the same samples.

    None if one of them does not hold all its flags. A flag of a run without figures in the
    present edition does not count as closed, because its state is unknown.
    """
    if not (_holds_all(before) and _holds_all(now)):
        return None
    then = {flag.key: flag for flag in before.flags or ()}
    present = {flag.key for flag in now.flags or ()}
    scored = {run.id for run in now.runs}
    is_open = [flag for flag in now.flags or () if flag.state is FlagState.OPEN]
    return FlagChanges(
        opened=tuple(flag for flag in is_open if flag.key not in then),
        closed=tuple(
            flag for key, flag in then.items() if key not in present and flag.run_id in scored
        ),
        reopened=tuple(
            ReopenedFlag(flag, _why_open(then[flag.key], flag))
            for flag in is_open
            if flag.key in then and then[flag.key].state is not FlagState.OPEN
        ),
    )


def _holds_all(snapshot: Snapshot) -> bool:
    return snapshot.flags is not None and len(snapshot.flags) == snapshot.n_flags


def _why_open(before: FlagFigures, flag: FlagFigures) -> str:
    if flag.snoozed_until is not None:
        return "snooze ended"
    return "more severe" if flag.severity.rank > before.severity.rank else "reopened"
