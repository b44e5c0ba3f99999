"""One metric under two runs, and what may be said about the difference."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.intervals.bounds import Interval
from offdiag.reports.scope import spec_of

HEADLINE = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")
"""Aggregates that a comparison is about."""
DIFFERENCE_THAT_MATTERS = 0.01
"""In accuracy, where nothing else is said: one point."""
OF_CLASSES = ("recall", "precision", "f1")
"""Values of single classes that a comparison is about."""


class Outcome(StrEnum):
    """What a difference says, second run against first."""

    BETTER = "better"
    WORSE = "worse"
    OTHER = "different"
    """It differs, but neither direction of the metric is better."""
    NOT_SEPARABLE = "not separable"
    """Tested, and no significant difference."""
    NO_INTERVAL = "no interval"
    """Not tested: no sample on which the runs differ counts for it."""
    UNDEFINED = "undefined"

    @property
    def is_separable(self) -> bool:
        return self in {Outcome.BETTER, Outcome.WORSE, Outcome.OTHER}


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A metric of two runs; `difference` is second minus first with its interval.

    `class_label` is None for metrics of all classes together. The interval of `difference` is
    that of the metric alone; `simultaneous` holds together with those of the other metrics, or
    the other classes, that the comparison looks at, and decides the outcome. `p` is that of a
    test of the metric alone, `p_adjusted` that over all classes; None where there is none.
    """

    key: str
    class_label: str | None
    first: MetricValue
    second: MetricValue
    difference: MetricValue
    simultaneous: Interval | None
    outcome: Outcome
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def is_gain(self) -> bool:
        """Whether the value is significantly larger in the second run."""
        return self.outcome.is_separable and (self.difference.value or 0.0) > 0

    @property
    def is_loss(self) -> bool:
        """Whether it is significantly smaller."""
        return self.outcome.is_separable and (self.difference.value or 0.0) < 0

    @property
    def would_pass_alone(self) -> bool:
        """Whether only the interval of the metric alone excludes 0."""
        alone = self.difference.ci_low, self.difference.ci_high
        return self.outcome is Outcome.NOT_SEPARABLE and excludes_0(*alone)


def judged(
    key: str,
    class_label: str | None,
    first: MetricValue,
    second: MetricValue,
    difference: MetricValue,
    *,
    simultaneous: Interval | None = None,
    is_changed: bool | None = None,
    p: float | None = None,
    p_adjusted: float | None = None,
) -> MetricDifference:
    """The difference with its outcome: what the test says, None where there was none.

    Without `is_changed` the simultaneous interval is the test.
    """
    if simultaneous is not None and simultaneous.low is None:
        simultaneous = None
    if is_changed is None and simultaneous is not None:
        is_changed = excludes_0(simultaneous.low, simultaneous.high)
    outcome = _outcome(key, class_label, difference, is_changed)
    return MetricDifference(
        key, class_label, first, second, difference, simultaneous, outcome, p, p_adjusted
    )


def excludes_0(low: float | None, high: float | None) -> bool:
    """Whether an interval, if there is one, lies on one side of 0."""
    return (low is not None and low > 0) or (high is not None and high < 0)


def _outcome(
    key: str, class_label: str | None, difference: MetricValue, is_changed: bool | None
) -> Outcome:
    if difference.value is None:
        return Outcome.UNDEFINED
    if is_changed is None:
        return Outcome.NO_INTERVAL
    if not is_changed:
        return Outcome.NOT_SEPARABLE
    match spec_of(key, of_class=class_label is not None).direction:
        case Direction.HIGHER:
            return Outcome.BETTER if difference.value > 0 else Outcome.WORSE
        case Direction.LOWER:
            return Outcome.WORSE if difference.value > 0 else Outcome.BETTER
        case Direction.NEITHER:
            return Outcome.OTHER
