"""Statements on lineages: truth versions that descend from one another, and their runs."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import RunState
from offdiag.store.models import RunRow, TruthVersionRow


def runs_scored_with(session: Session, root_id: int) -> list[str]:
    """Ids of the finished runs whose predictions are counted against a lineage, oldest first.

    Uploaded matrices are not among them: nobody can count those again.
    """
    return list(
        session.scalars(
            select(RunRow.id)
            .join(TruthVersionRow, TruthVersionRow.id == RunRow.truth_version_id)
            .where(
                TruthVersionRow.root_id == root_id,
                RunRow.state != RunState.OPEN,
                RunRow.deleted_at.is_(None),
                RunRow.source_orientation == SourceOrientation.PREDICTIONS,
            )
            .order_by(RunRow.created_at, RunRow.id)
        )
    )
