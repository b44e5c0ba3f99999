"""Judging a stored run, or a matrix that is stored nowhere, by conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offdiag.domain.orientation import OrientationEvidence
from offdiag.errors import InvalidInput
from offdiag.flags.costs import PricedRun, rank_flip_verdict
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Verdict
from offdiag.gate.conditions import Condition
from offdiag.gate.judging import Finding, judge
from offdiag.gate.subject import Differences, MetricValues, RaisedFlag, Subject
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.paired.joint import JointCounts
from offdiag.services.evaluation.compute import EvaluatedValues, of_matrix
from offdiag.services.evaluation.reading import evaluation_of
from offdiag.services.flags.verdicts import (
    AgainstBaseline,
    Circumstances,
    RunVerdicts,
    judge_run,
)
from offdiag.services.gating.measuring import differences, values_with_costs
from offdiag.services.pairing import NotPaired, pair_evaluations
from offdiag.services.work.perform import RetryPolicy
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class StatedCosts:
    """What errors cost, as somebody stated it: `weights[actual][predicted]` by label."""

    weights: Mapping[str, Mapping[str, float]]
    currency: str | None = None

    def on(self, matrix: ConfusionMatrix) -> CostMatrix:
        """The costs in the label order of a matrix. Raises `InvalidInput` if labels differ."""
        return cost_matrix(self.weights, labels=matrix.labels, currency=self.currency)


@dataclass(frozen=True)
class GateResult:
    """What a gate found. `run` and `baseline` are ids; a file has neither.

    `not_paired` is None, or why the run was not compared with its baseline case by case.
    """

    findings: tuple[Finding, ...]
    run: str | None = None
    baseline: str | None = None
    not_paired: str | None = None

    @property
    def passed(self) -> bool:
        return all(finding.passed for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "passed": self.passed,
            "run": self.run,
            "baseline": self.baseline,
            "not_paired": self.not_paired,
            "conditions": [finding.to_dict() for finding in self.findings],
        }


@dataclass(frozen=True)
class _Judged:
    """A stored run with everything a gate compares."""

    run: RunRecord
    evaluation: StoredEvaluation
    values: MetricValues


def gate_run(
    database: Database,
    run_id: str,
    conditions: Sequence[Condition],
    *,
    baseline_id: str | None = None,
    costs: StatedCosts | None = None,
    thresholds: Thresholds,
    timeout_s: float,
    lease_s: float,
    policy: RetryPolicy,
) -> GateResult:
    """Judge a stored run, evaluating it first or waiting for that if need be.

    Differences are paired case by case where run and baseline were evaluated on the same
    ground truth. Raises `NotFound`, `InvalidInput` for conditions that make no sense for the
    run and for runs with other classes than their baseline, and what `evaluation_of` raises.
    """
    wanted = [run_id] if baseline_id is None else [run_id, baseline_id]
    evaluations = [
        evaluation_of(database, each, timeout_s=timeout_s, lease_s=lease_s, policy=policy)
        for each in wanted
    ]
    with database.read() as session:
        records = [runs.get_run(session, each) for each in wanted]
        pair = None if baseline_id is None else pair_evaluations(session, *evaluations[::-1])
    judged, *rest = (
        _with_values(run, evaluation, costs)
        for run, evaluation in zip(records, evaluations, strict=True)
    )
    baseline = rest[0] if rest else None
    joint = pair if isinstance(pair, JointCounts) else None
    not_paired = pair.why if isinstance(pair, NotPaired) else None
    gaps = None
    if baseline is not None:
        _require_same_classes(judged, baseline)
        stated = None if costs is None else costs.on(judged.evaluation.matrix)
        gaps = differences(
            judged.values, baseline.values, joint=joint, not_paired=not_paired, costs=stated
        )
    verdicts = _verdicts(judged, baseline, joint, costs, thresholds)
    return GateResult(
        judge(conditions, _subject(judged.evaluation.matrix, judged.values, verdicts, gaps)),
        run=run_id,
        baseline=baseline_id,
        not_paired=not_paired,
    )


def gate_matrix(
    matrix: ConfusionMatrix,
    conditions: Sequence[Condition],
    *,
    costs: StatedCosts | None = None,
    thresholds: Thresholds,
) -> GateResult:
    """Judge a matrix that is stored nowhere. Raises `InvalidInput` as `gate_run` does."""
    stated = None if costs is None else costs.on(matrix)
    values = values_with_costs(matrix, of_matrix(matrix), stated)
    verdicts = judge_run(matrix, Circumstances(thresholds=thresholds, costs=stated))
    return GateResult(judge(conditions, _subject(matrix, values, verdicts, None)))


def _with_values(
    run: RunRecord, evaluation: StoredEvaluation, costs: StatedCosts | None
) -> _Judged:
    stated = None if costs is None else costs.on(evaluation.matrix)
    stored = EvaluatedValues(evaluation.aggregate, evaluation.per_class)
    return _Judged(run, evaluation, values_with_costs(evaluation.matrix, stored, stated))


def _require_same_classes(judged: _Judged, baseline: _Judged) -> None:
    labels, others = judged.evaluation.matrix.labels, baseline.evaluation.matrix.labels
    if labels.digest != others.digest:
        raise InvalidInput(
            f"run {baseline.run.id} tells {others.preview()} apart, run {judged.run.id} "
            f"{labels.preview()}.",
            field="baseline",
            hint="Compare runs over the same classes in the same order.",
        )


def _verdicts(
    judged: _Judged,
    baseline: _Judged | None,
    joint: JointCounts | None,
    costs: StatedCosts | None,
    thresholds: Thresholds,
) -> RunVerdicts:
    evidence = judged.run.orientation_evidence
    found = judge_run(
        judged.evaluation.matrix,
        Circumstances(
            thresholds=thresholds,
            costs=None if costs is None else costs.on(judged.evaluation.matrix),
            orientation=None if evidence is None else OrientationEvidence.from_dict(evidence),
            baseline=None
            if baseline is None or joint is None
            else AgainstBaseline(baseline.run.name, joint),
        ),
    )
    if baseline is None or costs is None:
        return found
    flip = rank_flip_verdict(_priced(judged), [_priced(baseline)], thresholds)
    verdicts = found.verdicts if flip is None else (*found.verdicts, flip)
    return RunVerdicts(verdicts, found.asked | {"F15"}, found.not_assessable)


def _priced(judged: _Judged) -> PricedRun:
    accuracy = judged.values.aggregate["overall_accuracy"].value or 0.0
    mean_cost = None if judged.values.costs is None else judged.values.costs["mean_cost"].value
    return PricedRun(judged.run.name, accuracy, mean_cost or 0.0)


def _subject(
    matrix: ConfusionMatrix,
    values: MetricValues,
    found: RunVerdicts,
    gaps: Differences | None,
) -> Subject:
    return Subject(
        labels=matrix.labels,
        values=values,
        flags=tuple(_raised(verdict) for verdict in found.verdicts),
        asked=found.asked,
        hides_minority=bool(found.hides_minority),
        not_assessable=found.not_assessable,
        differences=gaps,
    )


def _raised(verdict: Verdict) -> RaisedFlag:
    return RaisedFlag(verdict.rule, verdict.class_label, verdict.message)
