"""Two runs beside each other, case by case where that is possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from offdiag.comparison.cells import CellDifferences, paired_cells, unpaired_cells
from offdiag.comparison.churn import Churn, churn_of, churn_of_classes
from offdiag.comparison.differences import HEADLINE, OF_CLASSES, MetricDifference, judged
from offdiag.domain.values import MetricValue
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.intervals.independent import difference_bounds
from offdiag.metrics.intervals.suite import suite_intervals
from offdiag.metrics.paired.difference import Compared, paired_differences
from offdiag.metrics.paired.joint import JointCounts
from offdiag.metrics.paired.mcnemar import McNemar, mcnemar
from offdiag.metrics.paired.scores import ScoreDifference
from offdiag.metrics.paired.symmetry import Bowker, StuartMaxwell, bowker, stuart_maxwell
from offdiag.metrics.suite import Suite, evaluate_stack

COMPARED = Compared(HEADLINE, OF_CLASSES)
SQUARE_AND_ADD = "square and add, unpaired"


@dataclass(frozen=True, slots=True)
class PairedFacts:
    """What only runs on the same cases tell: which cases changed, and tests on them.

    `churn_of_classes` is in label order. `margins` and `symmetry` are tests of the answers
    alone: do both runs use the classes equally often, and exchange them evenly?
    """

    churn: Churn
    churn_of_classes: tuple[Churn, ...]
    mcnemar: McNemar
    margins: StuartMaxwell
    symmetry: Bowker
    n_same_answer: int


@dataclass(frozen=True)
class PairComparison:
    """Everything about two runs; differences are second minus first.

    `metrics` are those of all classes together, `classes` by key, each in label order.
    `paired` is None where the runs cannot be paired. With `replicates` 0 nothing was resampled.
    """

    first: ConfusionMatrix
    second: ConfusionMatrix
    metrics: tuple[MetricDifference, ...]
    classes: Mapping[str, tuple[MetricDifference, ...]]
    cells: CellDifferences
    paired: PairedFacts | None
    confidence: float
    seed: int
    replicates: int

    @property
    def labels(self) -> tuple[str, ...]:
        return self.first.labels.names

    @property
    def is_same_everywhere(self) -> bool:
        """Whether the runs give the same answer to every case."""
        return self.paired is not None and self.paired.n_same_answer == self.first.total

    def metric(self, key: str) -> MetricDifference:
        """The difference of one metric of all classes together."""
        return next(each for each in self.metrics if each.key == key)


def compare_paired(
    joint: JointCounts,
    *,
    scores: tuple[ScoreDifference, ...] = (),
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> PairComparison:
    """Compare two runs on the same cases, of which there is at least one.

    Accuracy is separable where both its interval and the exact test of McNemar say so.
    """
    found = paired_differences(
        joint, compared=COMPARED, seed=seed, confidence=confidence, replicates=replicates
    )
    first, second = (_suite(matrix) for matrix in (joint.first_matrix, joint.second_matrix))
    rates = joint.accuracy
    test = mcnemar(int(rates.only_first), int(rates.only_second))
    metrics = [
        judged(
            key,
            None,
            first.aggregate[key].at(),
            second.aggregate[key].at(),
            found.aggregate_intervals[key].at().around(found.aggregate[key].at()),
            p=test.exact_p if key == "overall_accuracy" else None,
            exact_below=1 - confidence,
        )
        for key in HEADLINE
    ]
    metrics += [
        judged(each.key, None, each.first, each.second, each.difference, p=each.p)
        for each in scores
    ]
    classes = {
        key: tuple(
            judged(
                key,
                name,
                first.per_class[key].at(code),
                second.per_class[key].at(code),
                found.per_class_intervals[key].at(code).around(found.per_class[key].at(code)),
            )
            for code, name in enumerate(joint.labels.names)
        )
        for key in OF_CLASSES
    }
    return PairComparison(
        joint.first_matrix,
        joint.second_matrix,
        tuple(metrics),
        classes,
        paired_cells(joint, confidence=confidence),
        PairedFacts(
            churn_of(joint),
            churn_of_classes(joint),
            test,
            stuart_maxwell(joint.answers),
            bowker(joint.answers),
            int(np.trace(joint.answers)),
        ),
        confidence,
        seed,
        found.replicates,
    )


def compare_unpaired(
    first: ConfusionMatrix,
    second: ConfusionMatrix,
    *,
    seed: int,
    confidence: float = 0.95,
    replicates: int = 2_000,
) -> PairComparison:
    """Compare two matrices with the same labels as if of different cases.

    Each difference takes the intervals of both values, squared and added. Where the cases are
    the same these intervals are too wide, so what they separate is different all the more.
    """
    sides = [
        _with_intervals(matrix, seed=seed, confidence=confidence, replicates=replicates)
        for matrix in (first, second)
    ]
    metrics = tuple(
        _unpaired(key, None, sides[0].aggregate[key], sides[1].aggregate[key]) for key in HEADLINE
    )
    classes = {
        key: tuple(
            _unpaired(key, name, before, after)
            for name, before, after in zip(
                first.labels.names, sides[0].per_class[key], sides[1].per_class[key], strict=True
            )
        )
        for key in OF_CLASSES
    }
    cells = unpaired_cells(first, second, confidence=confidence)
    used = max(side.replicates for side in sides)
    return PairComparison(first, second, metrics, classes, cells, None, confidence, seed, used)


@dataclass(frozen=True, slots=True)
class _Side:
    """The values of one matrix, each with its own interval."""

    aggregate: Mapping[str, MetricValue]
    per_class: Mapping[str, tuple[MetricValue, ...]]
    replicates: int


def _with_intervals(
    matrix: ConfusionMatrix, *, seed: int, confidence: float, replicates: int
) -> _Side:
    suite = _suite(matrix)
    found = suite_intervals(matrix, seed=seed, confidence=confidence, replicates=replicates)
    return _Side(
        {key: found.aggregate[key].at().around(suite.aggregate[key].at()) for key in HEADLINE},
        {
            key: tuple(
                found.per_class[key].at(code).around(suite.per_class[key].at(code))
                for code in range(matrix.n_classes)
            )
            for key in OF_CLASSES
        },
        found.replicates,
    )


def _unpaired(
    key: str, class_label: str | None, first: MetricValue, second: MetricValue
) -> MetricDifference:
    if first.value is None or second.value is None:
        nothing = MetricValue(None, first.reason or second.reason)
        return judged(key, class_label, first, second, nothing)
    low, high = difference_bounds(first, second) or (None, None)
    gap = MetricValue(second.value - first.value, None, None, low, high, SQUARE_AND_ADD)
    return judged(key, class_label, first, second, gap)


def _suite(matrix: ConfusionMatrix) -> Suite:
    return evaluate_stack(matrix.counts, ordinal=matrix.labels.has_declared_order)
