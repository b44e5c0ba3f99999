"""One metric under two runs, and what may be said about the difference."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import Direction
from offdiag.reports.scope import spec_of

HEADLINE = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa")
"""Aggregates that a comparison is about."""
OF_CLASSES = ("recall", "precision", "f1")
"""Values of single classes that a comparison is about."""


class Outcome(StrEnum):
    """What a difference says, second run against first."""

    BETTER = "better"
    WORSE = "worse"
    OTHER = "different"
    """It differs, but the metric judges nobody."""
    NOT_SEPARABLE = "not separable"
    """The interval holds 0."""
    BORDERLINE = "borderline"
    """The interval and the exact test contradict each other."""
    NO_INTERVAL = "no interval"
    UNDEFINED = "undefined"

    @property
    def is_separable(self) -> bool:
        return self in {Outcome.BETTER, Outcome.WORSE, Outcome.OTHER}


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A metric of two runs; `difference` is second minus first with its interval.

    `class_label` is None for metrics of all classes together. `p` is that of a test of the
    same difference, None where there is none.
    """

    key: str
    class_label: str | None
    first: MetricValue
    second: MetricValue
    difference: MetricValue
    outcome: Outcome
    p: float | None = None

    @property
    def is_gain(self) -> bool:
        """Whether the value is larger in the second run by more than its interval allows."""
        low = self.difference.ci_low
        return self.outcome.is_separable and low is not None and low > 0

    @property
    def is_loss(self) -> bool:
        """Whether it is smaller by more than its interval allows."""
        high = self.difference.ci_high
        return self.outcome.is_separable and high is not None and high < 0


def judged(
    key: str,
    class_label: str | None,
    first: MetricValue,
    second: MetricValue,
    difference: MetricValue,
    *,
    p: float | None = None,
    exact_below: float | None = None,
) -> MetricDifference:
    """The difference with its outcome.

    With `exact_below` the test that gives `p` must agree with the interval: it finds a
    difference where `p` is smaller.
    """
    outcome = _outcome(key, class_label, difference)
    if p is not None and exact_below is not None and outcome is not Outcome.NO_INTERVAL:
        found_by_test = p < exact_below
        if difference.value is not None and found_by_test != outcome.is_separable:
            outcome = Outcome.BORDERLINE
    return MetricDifference(key, class_label, first, second, difference, outcome, p)


def _outcome(key: str, class_label: str | None, difference: MetricValue) -> Outcome:
    if difference.value is None:
        return Outcome.UNDEFINED
    low, high = difference.ci_low, difference.ci_high
    if low is None or high is None:
        return Outcome.NO_INTERVAL
    if low <= 0 <= high:
        return Outcome.NOT_SEPARABLE
    match spec_of(key, of_class=class_label is not None).direction:
        case Direction.HIGHER:
            return Outcome.BETTER if low > 0 else Outcome.WORSE
        case Direction.LOWER:
            return Outcome.WORSE if low > 0 else Outcome.BETTER
        case Direction.NEITHER:
            return Outcome.OTHER
