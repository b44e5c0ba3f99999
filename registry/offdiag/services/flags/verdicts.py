"""The verdicts of all rules on one run, and storing them as flags with its evaluation.

Besides the matrix of a run, the rules look at costs, orientation, slices and the baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from offdiag.domain.orientation import OrientationEvidence
from offdiag.flags.assessment import (
    assess,
    counts_in_badge,
    hides_minority,
    may_hide_minority,
    rules_for,
    unchecked_rules,
)
from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState, first_raised, gone, raised_again
from offdiag.flags.rules.costs import cost_verdict
from offdiag.flags.rules.reference import PairedRecall, orientation_verdict, regression_verdicts
from offdiag.flags.rules.slices import slice_verdicts
from offdiag.flags.thresholds import Thresholds
from offdiag.flags.verdict import Verdict
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.metrics.slices.finder import SliceFindings
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.services.flags.rules import RulesInForce
from offdiag.services.flags.triage import events_of, events_of_step, take
from offdiag.services.paired_runs import NotPaired, Paired, pair_runs
from offdiag.store import cost_matrices, flags, problems, runs
from offdiag.store.database import Session
from offdiag.store.flags import FlagContent, FlagRecord
from offdiag.store.runs import RunRecord


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """The baseline's predictions (first) and the run's (second) on the same samples."""

    name: str
    pair: Paired


@dataclass(frozen=True)
class RuleInputs:
    """What is known about a run besides its matrix. Rules whose input is missing are skipped."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    costs: CostMatrix | None = None
    orientation: OrientationEvidence | None = None
    baseline: AgainstBaseline | None = None
    slices: SliceFindings | None = None


@dataclass(frozen=True)
class RunVerdicts:
    """The verdicts on one run, and the rules that were applied.

    `not_assessable` is None, or why the rules about the matrix could not be applied. `unchecked`
    are rules that are never applied to such a run, with the reason.
    """

    verdicts: tuple[Verdict, ...]
    asked: frozenset[str]
    not_assessable: str | None = None
    unchecked: Mapping[str, str] = field(default_factory=dict)

    @property
    def hides_minority(self) -> bool | None:
        """Whether the main badge is shown; None if nothing can be said."""
        return None if self.not_assessable is not None else hides_minority(self.verdicts)

    @property
    def may_hide_minority(self) -> bool:
        """Whether the milder badge is shown, for a gap that is not proved."""
        return may_hide_minority(self.verdicts)


def judge_run(counted: Counted, rule_inputs: RuleInputs) -> RunVerdicts:
    """Apply every rule with enough input; to weighted runs none of `NOT_OF_WEIGHTS`."""
    limits, costs = rule_inputs.thresholds, rule_inputs.costs
    assessment = assess(counted, limits)
    of_sets, is_weighted = isinstance(counted, CountedSets), isinstance(counted, WeightedCounts)
    verdicts = list(assessment.verdicts)
    asked = set(rules_for(counted))
    if costs is not None and not isinstance(counted, CountedSets):
        asked.add("F11")
        found = cost_verdict(counted, costs, limits)
        if found is not None and isinstance(counted, WeightedCounts):
            message, size = f"{found.message} Weighted.", counted.n_effective
            evidence = {**found.evidence, "weighted": True, "effective_size": size}
            found = replace(found, message=message, evidence=evidence)
        if found is not None:
            verdicts.append(found)
    if rule_inputs.orientation is not None and not (of_sets or is_weighted):
        asked.add("F13")
        reversed_by = orientation_verdict(rule_inputs.orientation)
        verdicts += [] if reversed_by is None else [reversed_by]
    if rule_inputs.baseline is not None and not is_weighted:
        asked.add("F14")
        recalls, name = PairedRecall.of(rule_inputs.baseline.pair), rule_inputs.baseline.name
        verdicts += regression_verdicts(recalls, baseline=name, thresholds=limits)
    if rule_inputs.slices is not None and not is_weighted:
        asked.add("F16")
        names = counted.labels.names
        verdicts += slice_verdicts(rule_inputs.slices, names, tuple(verdicts), limits)
    return RunVerdicts(
        tuple(verdicts), frozenset(asked), assessment.not_assessable, unchecked_rules(counted)
    )


@dataclass(frozen=True)
class JudgedBy:
    """The rule inputs of a run, and the ids under which they are recorded.

    `baseline_run_id` is the pinned run of the dataset, None for that run itself, whether or not
    the two could be compared sample by sample.
    """

    rule_inputs: RuleInputs
    rules_digest: str
    cost_matrix_id: int | None
    baseline_run_id: str | None


def read_rule_inputs(
    session: Session, run: RunRecord, *, truth_id: int | None, rules: RulesInForce
) -> JudgedBy:
    """Read everything that the rules need about a run scored with a version of the truth."""
    costs = cost_matrices.default_costs(session, run.dataset_id)
    baseline = runs.find_baseline(session, run.dataset_id)
    against = None
    if baseline is not None and baseline.run_id != run.id:
        pinned = runs.get_run(session, baseline.run_id)
        pair = pair_runs(session, pinned, run, truth_id=truth_id)
        if not isinstance(pair, NotPaired):
            against = AgainstBaseline(baseline.run_name, pair)
    evidence = run.orientation_evidence
    return JudgedBy(
        RuleInputs(
            thresholds=rules.thresholds,
            costs=None if costs is None else costs.costs,
            orientation=None if evidence is None else OrientationEvidence.from_dict(evidence),
            baseline=against,
        ),
        rules_digest=rules.evaluated_by,
        cost_matrix_id=None if costs is None else costs.id,
        baseline_run_id=None if baseline is None or baseline.run_id == run.id else baseline.run_id,
    )


def record_verdicts(
    session: Session,
    *,
    run_id: str,
    evaluation_id: int,
    found: RunVerdicts,
    judged_by: JudgedBy,
    now: datetime,
) -> None:
    """Update the flags of a run: raise new ones, renew those that still fire, close the others.

    A flag is identified by rule, class and slice, so evaluating a run again never raises it twice.
    """
    known = {
        (flag.content.rule, flag.content.class_label, flag.content.slice): flag
        for flag in flags.flags_of_run(session, run_id, for_update=True)
    }
    firing = {
        (verdict.rule, verdict.class_label, verdict.slice): verdict for verdict in found.verdicts
    }
    raised = [verdict for key, verdict in firing.items() if key not in known]
    renewed = [
        (
            verdict,
            take(
                known[key],
                partial(raised_again, severity=verdict.severity, why=_other_version(known[key])),
                now,
            ),
        )
        for key, verdict in firing.items()
        if key in known
    ]
    closed = [
        take(flag, partial(gone, why=_other_version(flag)), now)
        for key, flag in known.items()
        if key not in firing and flag.status.state is not FlagState.CLOSED
    ]
    first = [first_raised(verdict.severity) for verdict in raised]
    ids = flags.insert_flags(
        session,
        run_id,
        [(content_of(verdict), step.after) for verdict, step in zip(raised, first, strict=True)],
        evaluation_id=evaluation_id,
        now=now,
    )
    problems.number_problems(session, run_id=run_id)
    flags.update_raised_flags(
        session,
        [(taken.flag.id, content_of(verdict), taken.after) for verdict, taken in renewed],
        evaluation_id=evaluation_id,
        now=now,
    )
    flags.update_statuses(session, [(taken.flag.id, taken.after) for taken in closed], now=now)
    opened = [
        event
        for flag_id, step in zip(ids, first, strict=True)
        for event in events_of_step(flag_id, step, author=None, now=now)
    ]
    changed = [*(taken for _, taken in renewed), *closed]
    flags.insert_events(session, [*opened, *events_of(changed, author=None, now=now)])
    flags.record_rule_results(
        session,
        evaluation_id,
        rules_digest=judged_by.rules_digest,
        cost_matrix_id=judged_by.cost_matrix_id,
        baseline_run_id=judged_by.baseline_run_id,
        hides_minority=found.hides_minority,
    )


def _other_version(flag: FlagRecord) -> str | None:
    """A history text if the rule's version differs from the one that raised the flag."""
    rule, before = RULES.get(flag.content.rule), flag.content.rule_version
    if rule is None or rule.version == before:
        return None
    return f"version {before} of {rule.id} before, version {rule.version} now"


def content_of(verdict: Verdict) -> FlagContent:
    """What a verdict says, as it is stored with its flag."""
    plain = verdict.to_dict()
    return FlagContent(
        rule=verdict.rule,
        rule_version=verdict.version,
        class_label=verdict.class_label,
        message=verdict.message,
        evidence=plain["evidence"],
        fired=plain["fired"],
        thresholds=plain["thresholds"],
        in_badge=counts_in_badge(verdict),
        slice=verdict.slice,
    )
