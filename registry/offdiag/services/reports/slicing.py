"""The slices of a report, counted where nobody has asked for them before."""

from __future__ import annotations

from dataclasses import replace

from offdiag.domain.slices import parse_slice
from offdiag.reports.changes import ranked
from offdiag.reports.scope import ReportScope
from offdiag.reports.snapshot import MOST_SLICED, Snapshot
from offdiag.services.evaluation.slices import evaluation_of_slice
from offdiag.services.reports.costing import priced_slices
from offdiag.services.reports.reading import dataset_in_scope, figures_in_scope
from offdiag.store.database import Database
from offdiag.store.uploads import runs_that_know


def with_slices(database: Database, scope: ReportScope, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the slices in scope of its best runs.

    Counting a slice stores its evaluation, for whoever looks next. Uploaded matrices have no
    samples that could be told apart, and counts only those slices they were counted by. Raises
    `InvalidInput` for a slice that the dataset does not have.
    """
    if not scope.slices:
        return snapshot
    best = ranked(snapshot.runs, scope.ranking_metric)
    slices = [parse_slice(text) for text in scope.slices]
    names = sorted({term.name for part in slices for term in part.terms})
    with database.read() as session:
        known = runs_that_know(session, [run.id for run in best], names)
    run_ids = [run.id for run in best if run.id in known][:MOST_SLICED]
    for run_id in run_ids:
        for text in scope.slices:
            evaluation_of_slice(database, run_id, text)
    with database.read() as session:
        dataset = dataset_in_scope(session, scope)
        figures = figures_in_scope(session, scope, dataset, run_ids=run_ids, slices=scope.slices)
    return replace(snapshot, slices=priced_slices(database, scope, figures, snapshot.costs))
