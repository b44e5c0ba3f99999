"""Statements that drop what can be computed again."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, exists, select, update
from sqlalchemy.orm import Session, aliased

from offdiag.domain.runs import RunState
from offdiag.store.models import EvaluationRow, PredictionChunkRow, RunRow, TruthVersionRow


def complete_runs(session: Session) -> list[str]:
    """Ids of all runs that are finished and not deleted, oldest first."""
    return list(
        session.scalars(
            select(RunRow.id)
            .where(RunRow.state != RunState.OPEN, RunRow.deleted_at.is_(None))
            .order_by(RunRow.created_at, RunRow.id)
        )
    )


def complete_runs_with_scores(session: Session, dataset_id: int) -> list[str]:
    """Ids of the runs of a dataset that are finished, not deleted, and have scores."""
    return list(
        session.scalars(
            select(RunRow.id)
            .where(
                RunRow.dataset_id == dataset_id,
                RunRow.state.in_([RunState.FINISHED, RunState.EVALUATED]),
                RunRow.deleted_at.is_(None),
                RunRow.score_columns > 0,
            )
            .order_by(RunRow.created_at, RunRow.id)
        )
    )


def failed_among(session: Session, run_ids: Sequence[str]) -> list[str]:
    """Those of some runs whose evaluation was given up."""
    return list(
        session.scalars(
            select(RunRow.id).where(RunRow.id.in_(run_ids), RunRow.state == RunState.FAILED)
        )
    )


def drop_current_results(session: Session, run_ids: Sequence[str]) -> None:
    """Let complete runs wait for their evaluation, as if they had just been finished.

    What goes are their current evaluations, those of slices too, and the counts of their
    chunks, unless the truth these are of was corrected: then nobody uses them.
    """
    newer = aliased(TruthVersionRow)
    counted = select(RunRow.id).where(
        RunRow.id.in_(run_ids), ~exists().where(newer.parent_id == RunRow.truth_version_id)
    )
    session.execute(
        update(PredictionChunkRow)
        .where(PredictionChunkRow.run_id.in_(counted))
        .values(counts=None)
    )
    drop_current_evaluations(session, run_ids)


def drop_current_evaluations(session: Session, run_ids: Sequence[str]) -> None:
    """Let complete runs wait for their evaluation with the counts that their chunks have."""
    session.execute(
        delete(EvaluationRow).where(EvaluationRow.is_current, EvaluationRow.run_id.in_(run_ids))
    )
    session.execute(
        update(RunRow)
        .where(RunRow.id.in_(run_ids), RunRow.state != RunState.OPEN)
        .values(state=RunState.FINISHED)
    )
