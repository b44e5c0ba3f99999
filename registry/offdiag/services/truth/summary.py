"""A revision as the person who made it is told of it."""

from __future__ import annotations

from offdiag.domain.labels import TruthRevision
from offdiag.services.truth.revise import Revision


def summary_of(dataset: str, made: Revision) -> TruthRevision:
    """What a revision did, in numbers."""
    return TruthRevision(
        dataset=dataset,
        version=made.version.number,
        parent=made.parent.number,
        reason=made.version.reason or "",
        n_corrected=made.difference.n_corrected,
        n_newly_labelled=made.difference.n_newly_labelled,
        n_unlabelled=made.difference.n_unlabelled,
        n_labelled=made.version.n_labelled,
        n_samples=made.version.n_samples,
        n_runs=made.n_runs,
        was_there=made.was_there,
    )
