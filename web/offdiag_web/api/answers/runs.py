"""Runs as they travel."""

from __future__ import annotations

from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import look_alikes
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import FoundRun
from offdiag.records import run as wire
from offdiag.records.base import Value
from offdiag.store.evaluations import EvaluationWork
from offdiag.store.run_page import RunDetail, RunHeader, RunResults


def run_summary(run: FoundRun) -> wire.RunSummary:
    return wire.RunSummary(
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


def whole_run(detail: RunDetail) -> wire.Run:
    run, outdated = detail.run, detail.outdated
    return wire.Run(
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
        else wire.Derived(run=run.derivation.run_id, recipe=dict(run.derivation.recipe)),
        decision_rule=None if run.decision is None else dict(run.decision),
        evaluation=None if detail.results is None else _made(detail.results),
        outdated=None
        if outdated is None
        else wire.Outdated(
            reasons=[reason.value for reason in outdated.reasons], work=_work(outdated.work)
        ),
        work=_work(detail.work),
    )


def labels(known: LabelSet) -> wire.Labels:
    return wire.Labels(
        names=list(known.names),
        ordinal=known.ordinal,
        inferred=known.inferred,
        digest=known.digest,
        look_alikes=[list(group) for group in look_alikes(known)],
    )


def _truth(run: RunHeader) -> wire.RunTruth | None:
    if run.truth is None:
        return None
    return wire.RunTruth(
        version=run.truth.number,
        digest=run.truth.digest,
        n_samples=run.truth.n_samples,
        class_counts=list(run.truth.class_counts),
    )


def _orientation(run: RunHeader) -> wire.RunOrientation:
    evidence = run.orientation_evidence
    return wire.RunOrientation(
        stored=SourceOrientation.ACTUAL_ROWS,
        source=run.source,
        verdict=run.orientation_verdict,
        evidence=None if evidence is None else dict(evidence),
    )


def _made(results: RunResults) -> wire.EvaluationMade:
    facts = results.facts
    return wire.EvaluationMade(
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


def _work(work: EvaluationWork | None) -> wire.Work | None:
    if work is None:
        return None
    return wire.Work(id=work.id, state=work.state, attempts=work.attempts, error=work.error)
