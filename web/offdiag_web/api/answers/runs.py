"""Runs and label versions as records."""

from __future__ import annotations

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import look_alikes
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import FoundRun
from offdiag.records import run as records
from offdiag.records.base import Value
from offdiag.records.truth import ChangedSample, Difference, Move, TruthVersion
from offdiag.services.truth.versions import TruthComparison
from offdiag.store.evaluations import EvaluationWork
from offdiag.store.run_page import RunDetail, RunHeader, RunResults
from offdiag.store.truths import TruthSummary


def run_summary(run: FoundRun) -> records.RunSummary:
    return records.RunSummary(
        id=run.id,
        name=run.name,
        project=run.project,
        dataset=run.dataset,
        model=run.model,
        state=run.state,
        author=run.author,
        git_sha=run.git_sha,
        created_at=run.created_at,
        n_predictions=run.n_predictions,
        truth_version=run.truth_version,
        hides_minority=run.hides_minority,
        may_hide_minority=run.may_hide_minority,
        params=dict(run.params),
        tags=dict(run.tags),
        metrics={key: Value.of(value) for key, value in run.metrics.items()},
    )


def whole_run(detail: RunDetail) -> records.Run:
    run, outdated = detail.run, detail.outdated
    return records.Run(
        id=run.id,
        name=run.name,
        project=run.project,
        dataset=run.dataset,
        task=run.task,
        state=run.state,
        model=run.model,
        params=dict(run.params),
        tags=dict(run.tags),
        author=run.author,
        git_sha=run.git_sha,
        created_at=run.created_at,
        finished_at=run.finished_at,
        n_predictions=run.n_predictions,
        score_columns=run.score_columns,
        content_digest=run.content_digest,
        labels=labels(run.labels),
        positive_label=run.positive_label,
        positive_by_convention=run.positive_by_convention,
        truth=_truth(run),
        orientation=_orientation(run),
        derived_from=None
        if run.derivation is None
        else records.Derived(run=run.derivation.run_id, recipe=dict(run.derivation.recipe)),
        decision_rule=None if run.decision is None else dict(run.decision),
        evaluation=None if detail.results is None else _made(detail.results),
        outdated=None
        if outdated is None
        else records.Outdated(
            reasons=[reason.value for reason in outdated.reasons], work=_work(outdated.work)
        ),
        work=_work(detail.work),
    )


def labels(known: LabelSet) -> records.Labels:
    return records.Labels(
        names=list(known.names),
        ordinal=known.ordinal,
        inferred=known.inferred,
        digest=known.digest,
        look_alikes=[list(group) for group in look_alikes(known)],
    )


def _truth(run: RunHeader) -> records.RunTruth | None:
    if run.truth is None:
        return None
    return records.RunTruth(
        version=run.truth.number,
        digest=run.truth.digest,
        n_samples=run.truth.n_samples,
        class_counts=list(run.truth.class_counts),
    )


def _orientation(run: RunHeader) -> records.RunOrientation:
    evidence = run.orientation_evidence
    return records.RunOrientation(
        stored=SourceOrientation.ACTUAL_ROWS,
        source=run.source,
        verdict=run.orientation_verdict,
        evidence=None if evidence is None else dict(evidence),
    )


def _made(results: RunResults) -> records.EvaluationMade:
    facts = results.facts
    return records.EvaluationMade(
        truth_version=facts.truth_number,
        newest_truth_version=facts.newest_truth_number,
        n_cases=facts.n_cases,
        n_unlabelled=facts.n_unlabelled,
        suite_version=facts.suite_version,
        engine_version=facts.engine_version,
        input_digest=facts.input_digest,
        matrix_digest=facts.matrix_digest,
        computed_at=facts.computed_at,
        duration_s=facts.duration_s,
    )


def _work(work: EvaluationWork | None) -> records.Work | None:
    if work is None:
        return None
    return records.Work(id=work.id, state=work.state, attempts=work.attempts, error=work.error)


def truth_version(found: TruthSummary) -> TruthVersion:
    return TruthVersion(
        version=found.number,
        root=found.root,
        parent=found.parent,
        is_head=found.is_head,
        digest=found.digest,
        n_samples=found.n_samples,
        n_labelled=found.n_labelled,
        sample_ids=found.id_kind,
        class_counts=list(found.class_counts),
        reason=found.reason,
        author=found.author,
        created_at=found.created_at,
        n_runs=found.n_runs,
        slices=list(found.slices),
    )


def difference(found: TruthComparison, *, start: int, limit: int) -> Difference:
    between = found.difference
    return Difference(
        before=found.before.number,
        after=found.after.number,
        n_changed=len(between),
        n_corrected=between.n_corrected,
        n_newly_labelled=between.n_newly_labelled,
        n_unlabelled=between.n_unlabelled,
        moves=[Move(before=move.before, after=move.after, n=move.n) for move in between.moves],
        start=start,
        samples=[
            ChangedSample(sample=each.sample, before=each.before, after=each.after)
            for each in between.samples(start, start + limit)
        ],
    )
