"""Statements that remove for good. What belongs to a removed row goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState
from offdiag.store.models import EvaluationRow, RunRow, WorkRow


def runs_deleted_before(session: Session, moment: datetime, limit: int) -> list[str]:
    """Ids of runs that were deleted before this moment, the longest deleted first."""
    return list(
        session.scalars(
            select(RunRow.id)
            .where(RunRow.deleted_at < moment)
            .order_by(RunRow.deleted_at, RunRow.id)
            .limit(limit)
        )
    )


def runs_open_since_before(session: Session, moment: datetime, limit: int) -> list[str]:
    """Ids of runs that were opened before this moment and are still open, oldest first."""
    return list(
        session.scalars(
            select(RunRow.id)
            .where(RunRow.state == RunState.OPEN, RunRow.created_at < moment)
            .order_by(RunRow.created_at, RunRow.id)
            .limit(limit)
        )
    )


def remove_runs(session: Session, run_ids: Sequence[str]) -> None:
    """Remove runs with everything of theirs, and the work that was asked for them."""
    keys = [f"evaluate:{run_id}" for run_id in run_ids]
    session.execute(delete(WorkRow).where(WorkRow.key.in_(keys)))
    session.execute(delete(RunRow).where(RunRow.id.in_(run_ids)))


def superseded_evaluations(session: Session, keep: int, limit: int) -> list[int]:
    """Ids of evaluations that are not current, beyond the newest `keep` of each run and slice."""
    age = (
        func.row_number()
        .over(
            partition_by=(EvaluationRow.run_id, EvaluationRow.slice),
            order_by=EvaluationRow.id.desc(),
        )
        .label("age")
    )
    old = select(EvaluationRow.id, age).where(~EvaluationRow.is_current).subquery()
    return list(
        session.scalars(select(old.c.id).where(old.c.age > keep).order_by(old.c.id).limit(limit))
    )


def remove_evaluations(session: Session, evaluation_ids: Sequence[int]) -> None:
    """Remove evaluations with all their values."""
    session.execute(delete(EvaluationRow).where(EvaluationRow.id.in_(evaluation_ids)))
