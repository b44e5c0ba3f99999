"""Differences of metrics, single classes and matrix cells, and which are significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.metrics.aggregates import custom
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.intervals import proportions
from offdiag.metrics.intervals.bounds import Bounds, Interval
from offdiag.metrics.intervals.proportions import Outcomes, proportion_intervals, wilson
from offdiag.metrics.metric_text import spec_of
from offdiag.metrics.multilabel.suite import label_metrics, set_metrics
from offdiag.metrics.paired.class_changes import ClassChanges, confidence_together
from offdiag.metrics.paired.joint_counts import JointCounts, PairedRates
from offdiag.metrics.paired.proportions import paired_score_interval
from offdiag.metrics.suite import labelled_suite
from offdiag.metrics.weighted.counts import WeightedCounts, of_weights

HEADLINE = (
    *("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1", "cohen_kappa"),
    *(spec.key for spec in custom.SPECS if spec.direction is not Direction.NEITHER),
)
"""Aggregates that a comparison covers: the usual ones, and those that a team declared."""
HEADLINE_OF_SETS = ("subset_accuracy", "example_jaccard", "hamming_loss", "micro_f1", "macro_f1")
"""The aggregates for multi-label runs."""
ALL_HEADLINES = frozenset({*HEADLINE, *HEADLINE_OF_SETS})
DIFFERENCE_THAT_MATTERS = 0.01
"""Default difference in accuracy that matters: one point."""
OF_CLASSES = ("recall", "precision", "f1")
"""Per-class metrics that a comparison covers."""


class DifferenceStatus(StrEnum):
    """The outcome of a difference, second run against first."""

    BETTER = "better"
    WORSE = "worse"
    OTHER = "different"
    """It differs, but neither direction of the metric is better."""
    NOT_SEPARABLE = "not separable"
    """Tested, and no significant difference."""
    NO_INTERVAL = "no interval"
    """Not tested: no sample on which the runs differ matters to it."""
    UNDEFINED = "undefined"

    @property
    def is_separable(self) -> bool:
        return self in {DifferenceStatus.BETTER, DifferenceStatus.WORSE, DifferenceStatus.OTHER}


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A metric of two runs; `difference` is second minus first with its interval.

    `class_label` is None for metrics of all classes together. The interval of `difference` is
    that of the metric alone; `simultaneous` holds together with those of the other metrics, or
    the other classes, in the comparison, and decides the outcome. `p` is from a test of the
    metric alone, `p_adjusted` is adjusted over all classes; None if there is none.
    """

    key: str
    class_label: str | None
    first: MetricValue
    second: MetricValue
    difference: MetricValue
    simultaneous: Interval | None
    outcome: DifferenceStatus
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def is_gain(self) -> bool:
        """Whether the value is significantly larger in the second run."""
        return self.outcome.is_separable and (self.difference.value or 0.0) > 0

    @property
    def is_loss(self) -> bool:
        """Whether the value is significantly smaller in the second run."""
        return self.outcome.is_separable and (self.difference.value or 0.0) < 0

    @property
    def would_pass_alone(self) -> bool:
        """Whether only the interval of the metric alone excludes 0."""
        alone = self.difference.ci_low, self.difference.ci_high
        return self.outcome is DifferenceStatus.NOT_SEPARABLE and excludes_0(*alone)


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
    """The difference with its outcome: the result of the test, None if there was none.

    Without `is_changed`, the simultaneous interval is the test.
    """
    if simultaneous is not None and simultaneous.low is None:
        simultaneous = None
    if is_changed is None and simultaneous is not None:
        is_changed = excludes_0(simultaneous.low, simultaneous.high)
    outcome = _outcome(key, class_label, difference, is_changed)
    return MetricDifference(
        key, class_label, first, second, difference, simultaneous, outcome, p, p_adjusted
    )


def judged_change(
    key: str,
    class_label: str | None,
    values: tuple[MetricValue, MetricValue],
    difference: MetricValue,
    changes: ClassChanges,
    *,
    at: int,
) -> MetricDifference:
    """The difference whose test is at position `at` of the changes."""
    is_tested = not np.isnan(changes.p[at])
    return judged(
        key,
        class_label,
        *values,
        changes.alone.at(at).around(difference),
        simultaneous=changes.together.at(at),
        is_changed=bool(changes.is_changed[at]) if is_tested else None,
        p=float(changes.p[at]) if is_tested else None,
        p_adjusted=float(changes.p_adjusted[at]) if is_tested else None,
    )


def excludes_0(low: float | None, high: float | None) -> bool:
    """Whether an interval, if there is one, lies entirely on one side of 0."""
    return (low is not None and low > 0) or (high is not None and high < 0)


def _outcome(
    key: str, class_label: str | None, difference: MetricValue, is_changed: bool | None
) -> DifferenceStatus:
    if difference.value is None:
        return DifferenceStatus.UNDEFINED
    if is_changed is None:
        return DifferenceStatus.NO_INTERVAL
    if not is_changed:
        return DifferenceStatus.NOT_SEPARABLE
    match spec_of(key, of_class=class_label is not None).direction:
        case Direction.HIGHER:
            return DifferenceStatus.BETTER if difference.value > 0 else DifferenceStatus.WORSE
        case Direction.LOWER:
            return DifferenceStatus.WORSE if difference.value > 0 else DifferenceStatus.BETTER
        case Direction.NEITHER:
            return DifferenceStatus.OTHER


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CellDifferences:
    """The cells in which two runs differ, in label order; all arrays have shape (m,).

    `gained` counts samples of the second run minus those of the first; `share` is the difference
    of the shares of the actual class and lies between `low` and `high`, NaN if the class
    has no samples in a run. `is_certain` says that the interval that holds for all m cells
    together (Bonferroni) excludes 0.
    """

    actual: Ints
    predicted: Ints
    gained: Ints
    share: Floats
    low: Floats
    high: Floats
    is_certain: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.actual)

    @cached_property
    def is_better(self) -> NDArray[np.bool_]:
        """Whether there are more correct predictions, or fewer of this error."""
        return np.asarray(np.where(self.actual == self.predicted, self.share, -self.share) > 0)

    @cached_property
    def is_worse(self) -> NDArray[np.bool_]:
        """Whether there are fewer correct predictions, or more of this error."""
        return np.asarray(np.where(self.actual == self.predicted, self.share, -self.share) < 0)

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """Position of each cell (actual code, predicted code) in the arrays."""
        pairs = zip(self.actual.tolist(), self.predicted.tolist(), strict=True)
        return {pair: place for place, pair in enumerate(pairs)}


def paired_cells(joint: JointCounts, *, confidence: float) -> CellDifferences:
    """Cells with at least one sample under one run only, with the paired score interval."""
    moved = joint.first != joint.second
    counts = joint.counts[moved]
    touched, places = np.unique(
        np.concatenate([joint.first_cells[moved], joint.second_cells[moved]]),
        return_inverse=True,
    )
    left, entered = np.zeros((2, len(touched)), np.int64)
    np.add.at(left, places[: len(counts)], counts)
    np.add.at(entered, places[len(counts) :], counts)
    actual, predicted = np.divmod(touched, joint.n_classes)
    cases = joint.first_matrix.actual[actual]
    rates = PairedRates(left, entered, cases)
    alone, together = (
        paired_score_interval(rates, confidence=level)
        for level in (confidence, confidence_together(confidence, len(touched)))
    )
    gained = entered - left
    return CellDifferences(
        *(actual, predicted, gained, gained / cases, alone.low, alone.high),
        _excludes_0(together),
    )


def unpaired_cells(
    first: ConfusionMatrix, second: ConfusionMatrix, *, confidence: float
) -> CellDifferences:
    """Cells whose shares differ, by combining Wilson's intervals of both runs in squares.

    Newcombe 1998, Statistics in Medicine 17, 873-890, method 10.
    """
    occupied = np.flatnonzero((first.counts != 0) | (second.counts != 0))
    actual, predicted = np.divmod(occupied, first.n_classes)
    counts = [matrix.counts.ravel()[occupied] for matrix in (first, second)]
    cases = [matrix.actual[actual] for matrix in (first, second)]
    before, after = (_share(hits, of) for hits, of in zip(counts, cases, strict=True))
    share = after - before
    differs = (share != 0) | np.isnan(share)
    alone, together = (
        _squared_and_added(counts, cases, share, confidence=level)
        for level in (confidence, confidence_together(confidence, int(differs.sum())))
    )
    return CellDifferences(
        actual[differs],
        predicted[differs],
        (counts[1] - counts[0])[differs],
        share[differs],
        alone.low[differs],
        alone.high[differs],
        _excludes_0(together)[differs],
    )


def _squared_and_added(
    hits: list[Ints], cases: list[Ints], share: Floats, *, confidence: float
) -> Bounds:
    before, after = map(_share, hits, cases)
    old, new = (wilson(*side, confidence=confidence) for side in zip(hits, cases, strict=True))
    return Bounds(
        share - np.hypot(after - new.low, old.high - before),
        share + np.hypot(new.high - after, before - old.low),
    )


def _excludes_0(bounds: Bounds) -> NDArray[np.bool_]:
    return np.asarray((bounds.low > 0) | (bounds.high < 0))


def _share(hits: Ints, cases: Ints) -> Floats:
    return np.where(cases > 0, hits / np.maximum(cases, 1), np.nan)


_PROPORTIONS = {key: proportions.PER_CLASS[key] for key in OF_CLASSES}


def class_values(
    found: Counted, *, confidence: float = 0.95
) -> Mapping[str, tuple[MetricValue, ...]]:
    """Recall, precision and F1 by key, each in label order, with Wilson's intervals."""
    if isinstance(found, WeightedCounts):
        raise of_weights("A table of several runs")
    bounds = proportion_intervals(
        Outcomes(found.correct, found.actual, found.predicted, found.total),
        _PROPORTIONS,
        confidence=confidence,
    )
    plain = plain_class_values(found)
    return {
        key: tuple(bounds[key].at(code).around(value) for code, value in enumerate(plain[key]))
        for key in OF_CLASSES
    }


def plain_class_values(found: Counted) -> Mapping[str, Sequence[MetricValue]]:
    """Recall, precision and F1 by key, without intervals."""
    if isinstance(found, CountedSets):
        return label_metrics(found.tally.labels)
    per_class = labelled_suite(_cells(found), found.labels).per_class
    return {
        key: [per_class[key].at(code) for code in range(found.n_classes)] for key in OF_CLASSES
    }


def headline_values(found: Counted) -> dict[str, MetricValue]:
    """The primary metrics of classes or of sets."""
    if isinstance(found, CountedSets):
        of_sets = set_metrics(found.tally)
        return {key: of_sets[key] for key in HEADLINE_OF_SETS}
    suite = labelled_suite(_cells(found), found.labels)
    return {key: suite.aggregate[key].at() for key in HEADLINE}


def _cells(found: ConfusionMatrix | WeightedCounts) -> NDArray[Any]:
    return found.sums if isinstance(found, WeightedCounts) else found.counts


def difference_of(first: MetricValue, second: MetricValue) -> MetricValue:
    """The difference without an interval."""
    if first.value is None or second.value is None:
        return MetricValue(None, first.reason or second.reason)
    return MetricValue(second.value - first.value)
