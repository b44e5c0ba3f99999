"""Checking a stored run, or a matrix that is not stored, against the conditions of a gate.

Conditions refer to metrics of evaluations and to costs: stated ones, named ones, or the default
ones of the dataset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import OrientationEvidence
from offdiag.domain.runs import PromotionRole
from offdiag.domain.texts import CostName
from offdiag.errors import InvalidInput
from offdiag.flags.assessment import NOT_OF_WEIGHTS, WEIGHTED
from offdiag.flags.rules.costs import RunWithCosts, rank_flip_verdict
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Certainty, Verdict
from offdiag.gate.conditions import (
    Condition,
    MetricCondition,
    MetricValues,
    NoFlag,
    NotMeasured,
    RaisedFlag,
    Subject,
)
from offdiag.gate.evaluate_conditions import Finding, judge
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix, cost_matrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.custom import custom_versions
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.slices.finder import SliceFindings
from offdiag.services.cost_matrices import costs_named
from offdiag.services.evaluation.compute import of_predictions
from offdiag.services.evaluation.results import evaluation_of
from offdiag.services.evaluation.slice_counts import slice_findings
from offdiag.services.flags.rules import thresholds_in
from offdiag.services.flags.verdicts import AgainstBaseline, RuleInputs, RunVerdicts, judge_run
from offdiag.services.gates.slices import SlicedPredictions, with_columns, with_slices
from offdiag.services.gates.values import StoredRun, differences, values_with_costs
from offdiag.services.paired_runs import NotPaired, Paired, pair_evaluations
from offdiag.services.small_groups import SUPPRESSED, suppressed_below
from offdiag.settings import Settings
from offdiag.store import cost_matrices, datasets, flags, runs
from offdiag.store.database import Database, Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.flags import FlagContent
from offdiag.store.promotions import promotions_in_force


@dataclass(frozen=True, slots=True)
class StatedCosts:
    """Costs of errors as stated by a user: `weights[actual][predicted]` by label."""

    weights: Mapping[str, Mapping[str, float]]
    currency: str | None = None

    def on(self, labels: LabelSet) -> CostMatrix:
        """The costs in label order. Raises `InvalidInput` if the labels differ."""
        return cost_matrix(self.weights, labels=labels, currency=self.currency)


def costs_of(
    session: Session, dataset: DatasetRecord, wanted: StatedCosts | CostName | None
) -> CostMatrix | None:
    """The wanted costs, or else the default ones of the dataset, if it has any.

    Raises `NotFound` for an unknown name, and `InvalidInput` for costs of other classes.
    """
    if isinstance(wanted, StatedCosts):
        return wanted.on(dataset.labels)
    if wanted is None:
        default = cost_matrices.default_costs(session, dataset.id)
        return None if default is None else default.costs
    costs = costs_named(session, project=dataset.project, wanted=wanted).costs
    if costs.labels.digest != dataset.labels.digest:
        raise InvalidInput(
            f"cost matrix {wanted} is for the classes {costs.labels.preview()}, the run has "
            f"{dataset.labels.preview()}.",
            field="cost_matrix",
            hint="Name costs for the classes of the run.",
        )
    return costs


def subject_of_matrix(matrix: Counted, values: MetricValues, found: RunVerdicts) -> Subject:
    """The subject of a gate for a matrix, or sets of labels, without a run."""
    return Subject(
        labels=matrix.labels,
        values=values,
        asked=found.asked,
        flags=tuple(map(_raised, found.verdicts)),
        hides_minority=bool(found.hides_minority),
        may_hide_minority=found.may_hide_minority,
        not_assessable=found.not_assessable,
        unchecked={rule: NotMeasured(WEIGHTED, why) for rule, why in found.unchecked.items()},
        counted=matrix,
        positive_label=None
        if isinstance(matrix, CountedSets)
        else matrix.labels.conventional_positive,
    )


def subject_of_run(
    judged: StoredRun,
    baseline: StoredRun | None,
    *,
    pair: Paired | NotPaired | None,
    dismissed: Sequence[FlagContent],
    thresholds: Thresholds,
    positive_label: str | None = None,
    slices: SliceFindings | None = None,
) -> Subject:
    """The subject of a gate for a run, with a baseline if there is one.

    In `pair` the baseline comes first. `dismissed` are flags that are ignored. Raises
    `InvalidInput` for a baseline with other classes.
    """
    if baseline is not None:
        _require_same_classes(judged, baseline)
    found = _verdicts(judged, baseline, pair, thresholds, slices)
    ignored = {(content.rule, content.class_label, content.slice) for content in dismissed}
    kept = [v for v in found.verdicts if (v.rule, v.class_label, v.slice) not in ignored]
    accepted = [v for v in found.verdicts if (v.rule, v.class_label, v.slice) in ignored]
    subject = replace(
        subject_of_matrix(judged.counted, judged.values, replace(found, verdicts=tuple(kept))),
        accepted=tuple(map(_raised, accepted)),
        positive_label=positive_label,
    )
    if baseline is None:
        return subject
    return replace(subject, differences=differences(judged, baseline, pair))


def _require_same_classes(judged: StoredRun, baseline: StoredRun) -> None:
    labels, others = judged.counted.labels, baseline.counted.labels
    if labels.digest != others.digest:
        raise InvalidInput(
            f"run {baseline.run.id} has the classes {others.preview()}, run {judged.run.id} "
            f"{labels.preview()}.",
            field="baseline",
            hint="Compare runs over the same classes in the same order.",
        )


def _verdicts(
    judged: StoredRun,
    baseline: StoredRun | None,
    pair: Paired | NotPaired | None,
    thresholds: Thresholds,
    slices: SliceFindings | None,
) -> RunVerdicts:
    evidence = judged.run.orientation_evidence
    against = None
    if baseline is not None and pair is not None and not isinstance(pair, NotPaired):
        against = AgainstBaseline(baseline.run.name, pair)
    found = judge_run(
        judged.counted,
        RuleInputs(
            thresholds=thresholds,
            costs=judged.costs,
            orientation=None if evidence is None else OrientationEvidence.from_dict(evidence),
            baseline=against,
            slices=slices,
        ),
    )
    if baseline is None or judged.run.is_weighted:
        return found
    if baseline.run.is_weighted:
        compared = {rule: NOT_OF_WEIGHTS[rule] for rule in ("F14", "F15")}
        return replace(found, unchecked={**found.unchecked, **compared})
    if judged.costs is None or (isinstance(pair, NotPaired) and pair.undefined is not None):
        return found
    flip = rank_flip_verdict(_with_costs(judged), [_with_costs(baseline)], thresholds)
    verdicts: Iterable[Verdict] = () if flip is None else (flip,)
    return replace(found, verdicts=(*found.verdicts, *verdicts), asked=found.asked | {"F15"})


def _with_costs(stored: StoredRun) -> RunWithCosts:
    costs = stored.values.costs or {}
    return RunWithCosts(
        stored.run.name,
        stored.values.aggregate["overall_accuracy"].value or 0.0,
        costs["mean_cost"].value or 0.0,
        None if stored.costs is None else stored.costs.currency,
    )


def _raised(verdict: Verdict) -> RaisedFlag:
    return RaisedFlag(
        verdict.rule,
        verdict.class_label,
        verdict.message,
        is_proved=verdict.certainty is Certainty.PROVED,
    )


@dataclass(frozen=True)
class GateResult:
    """The result of a gate. `run`, `baseline` and `champion` are ids, all None for a file.

    `champion` is that of the dataset, whether or not it was used for comparison. `not_paired` says
    why the run was not compared with its baseline sample by sample, else None.
    """

    findings: tuple[Finding, ...]
    run: str | None = None
    baseline: str | None = None
    not_paired: str | None = None
    champion: str | None = None

    @property
    def passed(self) -> bool:
        return all(finding.passed for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for `json.dumps(..., allow_nan=False)`."""
        return {
            "passed": self.passed,
            "run": self.run,
            "baseline": self.baseline,
            "champion": self.champion,
            "not_paired": self.not_paired,
            "conditions": [finding.to_dict() for finding in self.findings],
        }


CHAMPION: Final = "champion"
"""Stands for the champion of the run's dataset in place of the id of a baseline."""


_NO_FLAGS_ON_SLICES = NotMeasured(
    SUPPRESSED,
    "no slice is flagged while small groups are hidden (slices.suppress_below); name larger ones "
    "in conditions, such as recall[CLASS]@COLUMN=VALUE>=0.8",
)


def gate_run(
    database: Database,
    run_id: str,
    conditions: Sequence[Condition],
    *,
    baseline_id: str | None = None,
    costs: StatedCosts | CostName | None = None,
    settings: Settings,
    timeout_s: float,
) -> GateResult:
    """Check a stored run against conditions, first evaluating it or waiting for that if needed.

    `baseline_id` and `costs` default to those of the dataset, if it has any; "champion" is the
    champion of the dataset. Differences are paired sample by sample if run and baseline were
    evaluated on the same ground truth, and undefined if they were evaluated on different ones.
    Dismissed flags do not fail the gate, unless they are about another baseline or other costs.

    Raises `NotFound`, `InvalidInput` for conditions that make no sense for the run, for a run with
    other classes than its baseline and for a champion that does not exist, and what
    `evaluation_of` raises.
    """
    pinned, champion = _usual_baselines(database, run_id)
    if baseline_id == CHAMPION and champion is None:
        raise InvalidInput(
            "the dataset has no champion to compare with.",
            field="baseline",
            hint="Approve a run of it, or name the run to compare with.",
        )
    compared = champion if baseline_id == CHAMPION else baseline_id or pinned
    if compared == run_id and baseline_id in (None, CHAMPION):
        compared = None
    wanted = [run_id] if compared is None else [run_id, compared]
    declared = custom_versions()
    needs_declared = any(
        isinstance(each, MetricCondition) and each.key in declared for each in conditions
    )
    evaluations = [
        evaluation_of(
            database,
            each,
            timeout_s=timeout_s,
            settings=settings.jobs,
            needs_declared=needs_declared,
        )
        for each in wanted
    ]
    by_slice = None
    asks_slices = any(isinstance(each, NoFlag) and each.rule == "F16" for each in conditions)
    if asks_slices:
        by_slice = slice_findings(database, run_id, evaluations[0].counted)
    with database.read() as session:
        records = [runs.get_run(session, each) for each in wanted]
        dataset = datasets.get_dataset(session, records[0].dataset_id)
        cost_matrix = costs_of(session, dataset, costs)
        dismissed = [
            flag.content
            for flag in flags.flags_of_run(session, run_id)
            if flag.status.is_dismissed
            and not (flag.content.rule == "F11" and costs is not None)
            and not (flag.content.rule == "F14" and compared != pinned)
        ]
        stored = [
            StoredRun(record, evaluation, cost_matrix)
            for record, evaluation in zip(records, evaluations, strict=True)
        ]
        pair = None if compared is None else pair_evaluations(session, *evaluations[::-1])
    subject = subject_of_run(
        stored[0],
        stored[1] if compared is not None else None,
        pair=pair,
        dismissed=dismissed,
        thresholds=thresholds_in(settings.flags),
        positive_label=dataset.positive_label,
        slices=None if by_slice is None else by_slice.found,
    )
    if asks_slices and suppressed_below():
        subject = replace(subject, unchecked={**subject.unchecked, "F16": _NO_FLAGS_ON_SLICES})
    subject = with_slices(database, subject, conditions, run_ids=wanted, costs=cost_matrix)
    gaps = subject.differences
    return GateResult(
        judge(conditions, subject),
        run=run_id,
        baseline=compared,
        not_paired=None if gaps is None else gaps.not_paired,
        champion=champion,
    )


def gate_matrix(
    matrix: ConfusionMatrix,
    conditions: Sequence[Condition],
    *,
    costs: StatedCosts | None = None,
    thresholds: Thresholds,
    samples: SlicedPredictions | None = None,
    forecasts: Forecasts | None = None,
) -> GateResult:
    """Check a matrix that is not stored. Raises `InvalidInput` like `gate_run`.

    `samples` are the predictions that the matrix counts, for conditions on slices; `forecasts` are
    the scores of the same samples, for conditions on metrics of scores.
    """
    cost_matrix = None if costs is None else costs.on(matrix.labels)
    values = values_with_costs(matrix, of_predictions(matrix, forecasts), cost_matrix)
    found = judge_run(matrix, RuleInputs(thresholds=thresholds, costs=cost_matrix))
    subject = subject_of_matrix(matrix, values, found)
    if forecasts is not None and forecasts.positive is not None:
        subject = replace(subject, positive_label=matrix.labels.names[forecasts.positive])
    if samples is not None:
        subject = with_columns(subject, conditions, samples, cost_matrix)
    return GateResult(judge(conditions, subject))


def _usual_baselines(database: Database, run_id: str) -> tuple[str | None, str | None]:
    """The ids of the baseline and of the champion of the run's dataset."""
    with database.read() as session:
        run = runs.get_run(session, run_id)
        baseline = runs.find_baseline(session, run.dataset_id)
        roles = promotions_in_force(session, [run.dataset_id]).get(run.dataset_id, {})
    champion = roles.get(PromotionRole.CHAMPION)
    return (
        None if baseline is None else baseline.run_id,
        None if champion is None else champion.run_id,
    )
