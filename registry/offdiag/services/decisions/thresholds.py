"""Applying a decision rule to the scores of a run: what it changes, and what it would cost.

Every threshold of a score has a cost; this finds the cheapest one and the one that costs imply.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.inputs.labels import Codes
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.decisions import Rule, at_deployment, cost_threshold
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.costs.threshold import (
    Crossfitted,
    SideCosts,
    cheapest_point,
    cost_at_each,
    crossfitted,
    matrix_at,
    side_costs,
)
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.costs import cost_intervals
from offdiag.metrics.paired.class_changes import recall_changes
from offdiag.metrics.paired.difference import paired_cost_differences
from offdiag.metrics.paired.joint_counts import JointCounts, joint_counts, joint_of_points
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.metrics.scores.score_curves import ScoreCurve
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.store import predictions
from offdiag.store.database import Session
from offdiag.store.predictions_beside_truth import TruthOfRun, read_beside_truth
from offdiag.store.run_costs import RunWithCosts

Floats = NDArray[np.float64]
_RECALL = "recall"
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ClassChange:
    """The recall of one class before and after; `difference` has the paired interval.

    `simultaneous` is the interval that holds for all classes together, `is_significant` says that
    the class changes by McNemar's mid-p, adjusted after Holm over the classes.
    """

    label: str
    support: int
    before: MetricValue
    after: MetricValue
    difference: MetricValue
    simultaneous: Interval
    is_significant: bool

    @property
    def simultaneous_record(self) -> dict[str, float | None]:
        return {"ci_low": self.simultaneous.low, "ci_high": self.simultaneous.high}


@dataclass(frozen=True)
class Change:
    """What other predictions for the same samples change.

    `before` and `after` are costs per sample with their intervals, `difference` is after minus
    before with the interval of the paired difference. If the predictions were chosen by their cost
    on these samples, no difference has an interval, and none is significant.
    """

    joint: JointCounts
    before: MetricValue
    after: MetricValue
    difference: MetricValue
    classes: tuple[ClassChange, ...]


def redecided(session: Session, run: RunWithCosts, rule: Rule) -> JointCounts:
    """Counts of a run's samples by actual class, logged prediction, and prediction of the rule.

    Only samples with a label count. Raises `InvalidInput` for scores that the rule cannot use.
    """
    assert run.truth is not None  # noqa: S101  # Runs with scores are counted against a truth.
    labels = run.matrix.labels
    positive = None if run.positive_label is None else labels.index[run.positive_label]
    truth, predicted = read_beside_truth(
        session,
        run.id,
        TruthOfRun(run.truth.id, run.truth.root_id, "position"),
        n_classes=len(labels),
    )
    actual: list[Codes] = []
    before: list[Codes] = []
    after: list[Codes] = []
    start = 0
    with closing(predictions.read_score_chunks(session, run.id)) as scores:
        for chunk, values in zip(list(predicted), scores, strict=True):
            places = (
                slice(start, start + len(chunk)) if chunk.positions is None else chunk.positions
            )
            known = truth.codes[places]
            has_label = known < len(labels)
            actual.append(known[has_label])
            before.append(chunk.predicted[has_label])
            after.append(rule.decide(values, positive=positive)[has_label])
            start += len(chunk)
    return joint_counts(
        actual=np.concatenate(actual),
        first=np.concatenate(before),
        second=np.concatenate(after),
        labels=labels,
    )


def change_of(
    joint: JointCounts,
    costs: CostMatrix,
    *,
    prevalence: Floats | None,
    are_chosen_here: bool = False,
) -> Change:
    """How the second predictions change the cost and the recall of each class.

    `are_chosen_here` says that they were chosen by their cost on these very samples: then no
    interval of a difference is valid.
    """
    gap, interval = paired_cost_differences(
        joint, costs, prevalence=prevalence, keys=("mean_cost",)
    )["mean_cost"]
    difference = MetricValue(gap, None if gap is not None else "component_undefined")
    classes = _recalls(joint)
    return Change(
        joint=joint,
        before=mean_cost(joint.first_matrix, costs, prevalence=prevalence),
        after=mean_cost(joint.second_matrix, costs, prevalence=prevalence),
        difference=difference if are_chosen_here else interval.around(difference),
        classes=tuple(map(_untested, classes)) if are_chosen_here else classes,
    )


def _untested(each: ClassChange) -> ClassChange:
    return replace(
        each,
        difference=MetricValue(each.difference.value, each.difference.reason),
        simultaneous=Interval(None, None, "not tested"),
        is_significant=False,
    )


def mean_cost(
    matrix: ConfusionMatrix, costs: CostMatrix, *, prevalence: Floats | None
) -> MetricValue:
    """The cost per sample with its interval."""
    found = evaluate_costs(matrix.counts, costs.weights, prevalence=prevalence)
    interval = cost_intervals(
        matrix, costs, prevalence=prevalence, seed=INTERVAL_SEED, keys=("mean_cost",)
    )["mean_cost"]
    return interval.around(found["mean_cost"].at())


def _recalls(joint: JointCounts) -> tuple[ClassChange, ...]:
    ordinal = joint.labels.has_declared_order
    first = evaluate_stack(joint.first_matrix.counts, ordinal=ordinal).per_class[_RECALL]
    second = evaluate_stack(joint.second_matrix.counts, ordinal=ordinal).per_class[_RECALL]
    changes = recall_changes(joint.hits, confidence=_CONFIDENCE)
    found = []
    for code, label in enumerate(joint.labels.names):
        before, after = first.at(code), second.at(code)
        gap = MetricValue(None, before.reason)
        if before.value is not None and after.value is not None:
            gap = changes.alone.at(code).around(MetricValue(after.value - before.value))
        found.append(
            ClassChange(
                label,
                int(joint.first_matrix.actual[code]),
                before,
                after,
                gap,
                changes.together.at(code),
                bool(changes.is_changed[code]),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CostPoint:
    """A threshold by its place among the points, and its cost per sample with the interval.

    The interval reflects the choice of samples, with the threshold fixed.
    """

    place: int
    cost: MetricValue


@dataclass(frozen=True)
class ThresholdCosts:
    """Thresholds on the score of class `positive`, strictest first, and their costs per sample.

    `sides` has the cost of each kind of answer, from which `means` (n,) follow.
    `best` is the cheapest, None if no cost is defined; `crossfitted` is what choosing it costs on
    samples that were not used for the choice. `in_use` is the cost of the predictions of the run,
    and `in_use_place` the threshold that gives their counts, None if no single one does; `change`
    is then from that threshold to the cheapest. `implied` is the threshold above which flagging
    has the lower expected cost, if the score is the probability of the class: below 0 or above 1,
    one prediction is always cheaper, and if it is None, no threshold follows from the costs.
    """

    positive: int
    points: OperatingPoints
    sides: SideCosts
    are_probabilities: bool
    means: Floats
    best: CostPoint | None
    crossfitted: Crossfitted | None
    in_use: MetricValue
    in_use_place: int | None
    change: Change | None
    implied: float | None
    at_implied: CostPoint | None

    @property
    def nothing(self) -> float:
        """Cost per sample of flagging nothing."""
        return float(self.means[0])

    @property
    def everything(self) -> float:
        """Cost per sample of flagging everything."""
        return float(self.means[-1])

    @property
    def best_threshold(self) -> float | None:
        """The threshold from which the cheapest choice flags, None if it flags nothing."""
        if self.best is None or self.best.place == 0:
            return None
        return float(self.points.float64_thresholds[self.best.place])

    @property
    def has_all(self) -> bool:
        """Whether the stored curve has all thresholds that occur in the scores."""
        return len(self.points) == self.points.n_thresholds


def threshold_costs_of(
    curve: ScoreCurve,
    matrix: ConfusionMatrix,
    costs: CostMatrix,
    *,
    prevalence: Floats | None,
) -> ThresholdCosts:
    """The costs of the thresholds of a curve; `matrix` is that of the predictions in use."""
    points, positive, labels = curve.points, curve.code, matrix.labels
    sides = side_costs(costs, positive, prevalence)

    def point_at(place: int) -> CostPoint:
        at = matrix_at(points, place, positive=positive, labels=labels)
        return CostPoint(place, mean_cost(at, costs, prevalence=prevalence))

    hits = int(matrix.counts[positive, positive])
    in_use = points.of_counts(hits, int(matrix.predicted[positive]) - hits)
    cheapest = cheapest_point(points, sides)
    change = None
    if in_use is not None and cheapest is not None:
        joint = joint_of_points(points, in_use, cheapest, positive=positive, labels=labels)
        change = change_of(joint, costs, prevalence=prevalence, are_chosen_here=True)
    implied = implied_threshold(costs, matrix, positive, prevalence)
    is_usable = curve.bins is not None and implied is not None
    return ThresholdCosts(
        positive=positive,
        points=points,
        sides=sides,
        are_probabilities=curve.bins is not None,
        means=cost_at_each(points, sides),
        best=None if cheapest is None else point_at(cheapest),
        crossfitted=crossfitted(points, sides, seed=INTERVAL_SEED),
        in_use=mean_cost(matrix, costs, prevalence=prevalence),
        in_use_place=in_use,
        change=change,
        implied=implied,
        at_implied=point_at(points.at(implied)) if is_usable and implied is not None else None,
    )


def implied_threshold(
    costs: CostMatrix, matrix: ConfusionMatrix, positive: int, prevalence: Floats | None
) -> float | None:
    """The probability of class `positive` above which flagging it has the lower expected cost."""
    found = cost_threshold(at_deployment(costs, matrix, prevalence))
    if found is None:
        return None
    return found if positive == 1 else 1.0 - found
