"""Deciding the cases of a run anew from its scores, and what that changes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.values import MetricValue
from offdiag.inputs.labels import Codes
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.decisions import Rule
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.costs.summary import evaluate_costs
from offdiag.metrics.intervals.bounds import Interval
from offdiag.metrics.intervals.costs import mean_cost_interval
from offdiag.metrics.paired.class_changes import recall_changes
from offdiag.metrics.paired.costs import mean_cost_difference
from offdiag.metrics.paired.joint import JointCounts, joint_counts
from offdiag.metrics.suite import evaluate_stack
from offdiag.services.evaluation.compute import INTERVAL_SEED
from offdiag.store import predictions
from offdiag.store.predictions_read import PredictionChunk, TruthOfRun, read_beside_truth
from offdiag.store.priced_runs import PricedRun
from offdiag.store.session import Session

Floats = NDArray[np.float64]
_RECALL = "recall"
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class ClassChange:
    """The recall of one class before and after; `difference` has the paired interval.

    `simultaneous` is the interval that holds for all classes together, `is_significant` says
    that the class changes by McNemar's mid-p, adjusted after Holm over the classes.
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
        """The ends for JSON."""
        return {"ci_low": self.simultaneous.low, "ci_high": self.simultaneous.high}


@dataclass(frozen=True)
class Change:
    """What other answers to the same cases change.

    `before` and `after` are costs per case with their intervals, `difference` is after minus
    before with the interval of the paired difference.
    """

    joint: JointCounts
    before: MetricValue
    after: MetricValue
    difference: MetricValue
    classes: tuple[ClassChange, ...]


def redecided(session: Session, run: PricedRun, rule: Rule) -> JointCounts:
    """Cases of a run by what is right, what was answered and what the rule answers.

    Only those with a label. Raises `InvalidInput` for scores that the rule cannot use.
    """
    assert run.truth is not None  # noqa: S101  # Runs with scores are counted against a truth.
    labels = run.matrix.labels
    positive = None if run.positive_label is None else labels.index[run.positive_label]
    truth, predicted = read_beside_truth(
        session, run.id, TruthOfRun(run.truth.id, run.truth.root_id, "position")
    )
    actual: list[Codes] = []
    before: list[Codes] = []
    after: list[Codes] = []
    start = 0
    with closing(predictions.read_score_chunks(session, run.id)) as scores:
        for chunk, values in zip(list(predicted), scores, strict=True):
            known = _actual_of(chunk, truth.codes, start)
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


def change_of(joint: JointCounts, costs: CostMatrix, *, prevalence: Floats | None) -> Change:
    """What the second answers change in cost and in the recall of each class."""
    gap, interval = mean_cost_difference(joint, costs, prevalence=prevalence, seed=INTERVAL_SEED)
    difference = MetricValue(gap, None if gap is not None else "component_undefined")
    return Change(
        joint=joint,
        before=mean_cost(joint.first_matrix, costs, prevalence=prevalence),
        after=mean_cost(joint.second_matrix, costs, prevalence=prevalence),
        difference=interval.around(difference),
        classes=_recalls(joint),
    )


def mean_cost(
    matrix: ConfusionMatrix, costs: CostMatrix, *, prevalence: Floats | None
) -> MetricValue:
    """The cost per case with its interval."""
    found = evaluate_costs(matrix.counts, costs.weights, prevalence=prevalence)
    interval = mean_cost_interval(matrix, costs, prevalence=prevalence, seed=INTERVAL_SEED)
    return interval.around(found["mean_cost"].at())


def _actual_of(chunk: PredictionChunk, truth: Codes, start: int) -> Codes:
    places = slice(start, start + len(chunk)) if chunk.positions is None else chunk.positions
    return truth[places]


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
