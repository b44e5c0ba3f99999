"""Runs and label versions as records."""

from __future__ import annotations

from offdiag.records.truth import ChangedSample, Difference, Move, TruthVersion
from offdiag.services.truth.versions import TruthComparison
from offdiag.store.truths import TruthSummary


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
