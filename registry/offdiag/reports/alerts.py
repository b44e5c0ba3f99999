"""Warnings: of one run where its whole interval lies beyond a limit, of a share that each edition
measures on new samples where the evidence of all of them is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from offdiag.domain.values import MetricValue
from offdiag.reports.evidence import Evidence
from offdiag.reports.scope import Condition, Side
from offdiag.reports.snapshot import RunFigures


@dataclass(frozen=True, slots=True)
class Alert:
    """A run that meets a condition. `is_new` if the report before did not warn of it.

    `evidence` is what all editions together say, None where the interval of the run decided.
    """

    condition: Condition
    run_id: str
    run_name: str
    value: MetricValue
    is_new: bool
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A condition that a run's value cannot answer, with the reason in words."""

    condition: Condition
    run_id: str
    run_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Alerts:
    """What was warned of, what could not be judged, and the evidence that goes on growing."""

    raised: tuple[Alert, ...]
    unjudged: tuple[Unjudged, ...]
    evidence: tuple[Evidence, ...] = ()


def find_alerts(
    runs: Sequence[RunFigures],
    conditions: Sequence[Condition],
    before: Sequence[Alert],
    evidence: Sequence[Evidence] = (),
) -> Alerts:
    """Check every run against every condition, in their order.

    Where editions bring new samples, `evidence` decides about a share in place of the interval:
    it is that of each condition and model up to now.
    """
    known = {(alert.condition, alert.run_id) for alert in before}
    known_models = {
        (each.condition, each.evidence.model) for each in before if each.evidence is not None
    }
    gathered = {(each.condition, each.model): each for each in evidence if each.is_of_new_samples}
    raised, unjudged = [], []
    for condition in conditions:
        for run in runs:
            value = _value(run, condition)
            over_editions = gathered.get((condition, run.model))
            reason = _why_not_judged(value)
            if value is None or reason is not None:
                text = reason or "the report does not hold this value"
                unjudged.append(Unjudged(condition, run.id, run.name, text))
            elif over_editions is not None:
                if over_editions.is_raised:
                    is_new = (condition, run.model) not in known_models
                    raised.append(Alert(condition, run.id, run.name, value, is_new, over_editions))
            elif is_met(condition, value):
                is_new = (condition, run.id) not in known
                raised.append(Alert(condition, run.id, run.name, value, is_new))
    return Alerts(tuple(raised), tuple(unjudged), tuple(evidence))


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
