"""A run, or a matrix, as conditions see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from offdiag.domain.orientation import OrientationEvidence
from offdiag.errors import InvalidInput
from offdiag.flags.costs import PricedRun, rank_flip_verdict
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Certainty, Verdict
from offdiag.gate.conditions import MetricValues, RaisedFlag, Subject
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.paired.joint import JointCounts
from offdiag.services.evaluation.compute import EvaluatedValues
from offdiag.services.flags.verdicts import (
    AgainstBaseline,
    Circumstances,
    RunVerdicts,
    judge_run,
)
from offdiag.services.gating.measuring import differences, values_with_costs
from offdiag.services.pairing import NotPaired
from offdiag.store.evaluations import StoredEvaluation
from offdiag.store.flags import FlagContent
from offdiag.store.runs import RunRecord


@dataclass(frozen=True)
class StoredRun:
    """A run with the evaluation that counts, and what its errors cost, if that is known."""

    run: RunRecord
    evaluation: StoredEvaluation
    costs: CostMatrix | None

    @property
    def matrix(self) -> ConfusionMatrix:
        return self.evaluation.matrix

    @cached_property
    def values(self) -> MetricValues:
        stored = EvaluatedValues(self.evaluation.aggregate, self.evaluation.per_class)
        return values_with_costs(self.matrix, stored, self.costs)


def subject_of_matrix(
    matrix: ConfusionMatrix, values: MetricValues, found: RunVerdicts
) -> Subject:
    """What there is to judge of a matrix about which nothing else is known."""
    return Subject(
        labels=matrix.labels,
        values=values,
        asked=found.asked,
        flags=tuple(map(_raised, found.verdicts)),
        hides_minority=bool(found.hides_minority),
        may_hide_minority=found.may_hide_minority,
        not_assessable=found.not_assessable,
    )


def subject_of_run(
    judged: StoredRun,
    baseline: StoredRun | None,
    *,
    pair: JointCounts | NotPaired | None,
    dismissed: Sequence[FlagContent],
    thresholds: Thresholds,
) -> Subject:
    """What there is to judge of a run, beside a baseline if there is one.

    `pair` counts the baseline first. `dismissed` are the flags that do not matter. Raises
    `InvalidInput` for a baseline with other classes.
    """
    if baseline is not None:
        _require_same_classes(judged, baseline)
    found = _verdicts(judged, baseline, pair, thresholds)
    settled = {(content.rule, content.class_label) for content in dismissed}
    kept = [v for v in found.verdicts if (v.rule, v.class_label) not in settled]
    accepted = [v for v in found.verdicts if (v.rule, v.class_label) in settled]
    subject = replace(
        subject_of_matrix(judged.matrix, judged.values, replace(found, verdicts=tuple(kept))),
        accepted=tuple(map(_raised, accepted)),
    )
    if baseline is None:
        return subject
    return replace(
        subject,
        differences=differences(
            judged.values,
            baseline.values,
            joint=pair if isinstance(pair, JointCounts) else None,
            not_paired=pair.why if isinstance(pair, NotPaired) else None,
            costs=judged.costs,
        ),
    )


def _require_same_classes(judged: StoredRun, baseline: StoredRun) -> None:
    labels, others = judged.matrix.labels, baseline.matrix.labels
    if labels.digest != others.digest:
        raise InvalidInput(
            f"run {baseline.run.id} tells {others.preview()} apart, run {judged.run.id} "
            f"{labels.preview()}.",
            field="baseline",
            hint="Compare runs over the same classes in the same order.",
        )


def _verdicts(
    judged: StoredRun,
    baseline: StoredRun | None,
    pair: JointCounts | NotPaired | None,
    thresholds: Thresholds,
) -> RunVerdicts:
    evidence = judged.run.orientation_evidence
    against = None
    if baseline is not None and isinstance(pair, JointCounts):
        against = AgainstBaseline(baseline.run.name, pair)
    found = judge_run(
        judged.matrix,
        Circumstances(
            thresholds=thresholds,
            costs=judged.costs,
            orientation=None if evidence is None else OrientationEvidence.from_dict(evidence),
            baseline=against,
        ),
    )
    if baseline is None or judged.costs is None:
        return found
    flip = rank_flip_verdict(_priced(judged), [_priced(baseline)], thresholds)
    verdicts: Iterable[Verdict] = () if flip is None else (flip,)
    return replace(found, verdicts=(*found.verdicts, *verdicts), asked=found.asked | {"F15"})


def _priced(stored: StoredRun) -> PricedRun:
    costs = stored.values.costs or {}
    return PricedRun(
        stored.run.name,
        stored.values.aggregate["overall_accuracy"].value or 0.0,
        costs["mean_cost"].value or 0.0,
    )


def _raised(verdict: Verdict) -> RaisedFlag:
    return RaisedFlag(
        verdict.rule,
        verdict.class_label,
        verdict.message,
        is_proved=verdict.certainty is Certainty.PROVED,
    )
