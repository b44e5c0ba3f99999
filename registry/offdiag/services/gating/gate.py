"""Judging a stored run, or a matrix that is stored nowhere, by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from offdiag.flags.thresholds import Thresholds
from offdiag.gate.conditions import Condition
from offdiag.gate.evaluate_conditions import Finding, judge
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.services.cost_matrices import CostName
from offdiag.services.evaluation.compute import of_matrix
from offdiag.services.evaluation.reading import evaluation_of
from offdiag.services.flags.verdicts import Circumstances, judge_run
from offdiag.services.gating.costs import StatedCosts, costs_of
from offdiag.services.gating.measuring import values_with_costs
from offdiag.services.gating.subjects import StoredRun, subject_of_matrix, subject_of_run
from offdiag.services.pairing import pair_evaluations
from offdiag.services.work.attempts import RetryPolicy
from offdiag.store import datasets, flags, runs
from offdiag.store.database import Database


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


def gate_run(
    database: Database,
    run_id: str,
    conditions: Sequence[Condition],
    *,
    baseline_id: str | None = None,
    costs: StatedCosts | CostName | None = None,
    thresholds: Thresholds,
    timeout_s: float,
    lease_s: float,
    policy: RetryPolicy,
) -> GateResult:
    """Judge a stored run, evaluating it first or waiting for that if need be.

    Without `baseline_id` and `costs` those of the dataset are taken, if it has any. Differences
    are paired case by case where run and baseline were evaluated on the same ground truth.
    Flags that somebody dismissed do not close the gate, unless they are about another baseline
    or other costs.

    Raises `NotFound`, `InvalidInput` for conditions that make no sense for the run and for runs
    with other classes than their baseline, and what `evaluation_of` raises.
    """
    pinned = _pinned(database, run_id)
    compared = baseline_id or pinned
    wanted = [run_id] if compared is None else [run_id, compared]
    evaluations = [
        evaluation_of(database, each, timeout_s=timeout_s, lease_s=lease_s, policy=policy)
        for each in wanted
    ]
    with database.read() as session:
        records = [runs.get_run(session, each) for each in wanted]
        dataset = datasets.get_dataset(session, records[0].dataset_id)
        price = costs_of(session, dataset, costs)
        dismissed = [
            flag.content
            for flag in flags.flags_of_run(session, run_id)
            if flag.standing.is_dismissed
            and not (flag.content.rule == "F11" and costs is not None)
            and not (flag.content.rule == "F14" and compared != pinned)
        ]
        stored = [
            StoredRun(record, evaluation, price)
            for record, evaluation in zip(records, evaluations, strict=True)
        ]
        pair = None if compared is None else pair_evaluations(session, *evaluations[::-1])
    subject = subject_of_run(
        stored[0],
        stored[1] if compared is not None else None,
        pair=pair,
        dismissed=dismissed,
        thresholds=thresholds,
    )
    gaps = subject.differences
    return GateResult(
        judge(conditions, subject),
        run=run_id,
        baseline=compared,
        not_paired=None if gaps is None else gaps.not_paired,
    )


def gate_matrix(
    matrix: ConfusionMatrix,
    conditions: Sequence[Condition],
    *,
    costs: StatedCosts | None = None,
    thresholds: Thresholds,
) -> GateResult:
    """Judge a matrix that is stored nowhere. Raises `InvalidInput` as `gate_run` does."""
    price = None if costs is None else costs.on(matrix.labels)
    values = values_with_costs(matrix, of_matrix(matrix), price)
    found = judge_run(matrix, Circumstances(thresholds=thresholds, costs=price))
    return GateResult(judge(conditions, subject_of_matrix(matrix, values, found)))


def _pinned(database: Database, run_id: str) -> str | None:
    """The baseline of the run's dataset, unless that is the run itself."""
    with database.read() as session:
        run = runs.get_run(session, run_id)
        baseline = runs.find_baseline(session, run.dataset_id)
    return None if baseline is None or baseline.run_id == run_id else baseline.run_id
