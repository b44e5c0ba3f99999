"""The relation `runs`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from offdiag.store.current_evaluations import counts_for_its_run
from offdiag.store.engines import to_json
from offdiag.store.models import DatasetRow, EvaluationRow, ProjectRow, RunRow, TruthVersionRow
from offdiag.store.queries.flag_filter import may_hide_minority
from offdiag.store.relations.batches import batch_of_rows
from offdiag.store.relations.columns import schema_of
from offdiag.store.relations.wanted import Wanted

_DOCUMENTS = 2
"""The last columns are documents, and documents are text here."""


def run_rows(session: Session, run_ids: Sequence[str], wanted: Wanted) -> pa.Table:
    """The named runs; one statement."""
    statement = (
        select(
            RunRow.id,
            ProjectRow.name,
            DatasetRow.name,
            DatasetRow.task,
            RunRow.name,
            RunRow.model,
            RunRow.state,
            RunRow.author,
            RunRow.git_sha,
            RunRow.source_orientation,
            RunRow.created_at,
            RunRow.finished_at,
            RunRow.n_predictions,
            TruthVersionRow.number,
            EvaluationRow.hides_minority,
            may_hide_minority(),
            RunRow.params,
            RunRow.tags,
        )
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .outerjoin(EvaluationRow, and_(EvaluationRow.run_id == RunRow.id, counts_for_its_run()))
        .outerjoin(
            TruthVersionRow,
            TruthVersionRow.id
            == func.coalesce(EvaluationRow.truth_version_id, RunRow.truth_version_id),
        )
        .where(RunRow.id.in_(run_ids))
        .order_by(RunRow.created_at, RunRow.id)
    )
    rows = (
        (*row[:-_DOCUMENTS], *map(to_json, row[-_DOCUMENTS:]))
        for row in session.execute(statement)
    )
    return batch_of_rows(rows, schema_of("runs"), wanted)
