"""Runs and label versions as records."""

from __future__ import annotations

from offdiag.domain.runs import FoundRun
from offdiag.records import run as records
from offdiag.records.base import Value
from offdiag.records.truth import ChangedSample, Difference, Move, TruthVersion
from offdiag.services.truth.versions import TruthComparison
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
