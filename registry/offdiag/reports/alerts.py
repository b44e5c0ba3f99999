"""Warnings: a condition is met only when the whole interval lies beyond its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.values import MetricValue
from offdiag.reports.scope import Condition, Side
from offdiag.reports.snapshot import RunFigures


@dataclass(frozen=True, slots=True)
class Alert:
    """A run that meets a condition. `is_new` if the report before did not warn of it."""

    condition: Condition
    run_id: str
    run_name: str
    value: MetricValue
    is_new: bool


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A condition that a run's value cannot answer, with the reason in words."""

    condition: Condition
    run_id: str
    run_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Alerts:
    """What was warned of, and what could not be judged."""

    raised: tuple[Alert, ...]
    unjudged: tuple[Unjudged, ...]


def find_alerts(
    runs: Sequence[RunFigures], conditions: Sequence[Condition], before: Sequence[Alert]
) -> Alerts:
    """Hold every run against every condition, in their order."""
    known = {(alert.condition, alert.run_id) for alert in before}
    raised, unjudged = [], []
    for condition in conditions:
        for run in runs:
            value = _value(run, condition)
            reason = _why_not_judged(value)
            if value is None or reason is not None:
                text = reason or "the report does not hold this value"
                unjudged.append(Unjudged(condition, run.id, run.name, text))
            elif is_met(condition, value):
                is_new = (condition, run.id) not in known
                raised.append(Alert(condition, run.id, run.name, value, is_new))
    return Alerts(tuple(raised), tuple(unjudged))


def is_met(condition: Condition, value: MetricValue) -> bool:
    """Whether the interval of a value excludes the limit on the bad side."""
    if value.ci_low is None or value.ci_high is None:
        return False
    if condition.side is Side.BELOW:
        return value.ci_high < condition.limit
    return value.ci_low > condition.limit


def _value(run: RunFigures, condition: Condition) -> MetricValue | None:
    if condition.class_label is None:
        return run.metrics.get(condition.metric)
    found = [each for each in run.classes if each.label == condition.class_label]
    return found[0].values[condition.metric] if found else None


def _why_not_judged(value: MetricValue | None) -> str | None:
    if value is None:
        return None
    if value.value is None:
        return f"it is undefined ({(value.reason or 'unknown reason').replace('_', ' ')})"
    if value.ci_low is None or value.ci_high is None:
        return "it has no interval"
    return None
