"""Statements that remove data permanently, or results that can be computed again.

Removing a row removes everything that belongs to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, exists, func, select, update
from sqlalchemy.orm import Session, aliased

from offdiag.domain.runs import RunState
from offdiag.store import paired_counts
from offdiag.store.models import (
    CostMatrixRow,
    DatasetRow,
    EvaluationRow,
    PredictionChunkRow,
    ProjectRow,
    ReportEditionRow,
    RunRow,
    ScheduleRow,
    TruthChunkRow,
    TruthVersionRow,
    WorkRow,
)
from offdiag.store.models.jobs import EVALUATION_KEY
from offdiag.store.reports import EditionState


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
    """Remove runs with everything that belongs to them, and their jobs."""
    keys = [f"{EVALUATION_KEY}{run_id}" for run_id in run_ids]
    session.execute(delete(WorkRow).where(WorkRow.key.in_(keys)))
    session.execute(delete(RunRow).where(RunRow.id.in_(run_ids)))
    paired_counts.remove_unused(session)


def unfinished_work(session: Session, project_id: int) -> int:
    """How many runs of a project are open, and how many of its reports are still to be made."""
    counted = (
        select(func.count())
        .select_from(RunRow)
        .where(
            RunRow.project_id == project_id,
            RunRow.state == RunState.OPEN,
            RunRow.deleted_at.is_(None),
        ),
        select(func.count())
        .select_from(ReportEditionRow)
        .where(
            ReportEditionRow.project_id == project_id,
            ReportEditionRow.state == EditionState.PENDING,
        ),
    )
    return sum(session.scalar(each) or 0 for each in counted)


def remove_project(session: Session, project_id: int) -> None:
    """Remove a project with its runs, datasets, costs, schedules and reports.

    Label sets stay: other projects may use them.
    """
    datasets = select(DatasetRow.id).where(DatasetRow.project_id == project_id)
    truths = select(TruthVersionRow.id).where(TruthVersionRow.dataset_id.in_(datasets))
    run_ids = select(RunRow.id).where(RunRow.project_id == project_id)
    remove_runs(session, list(session.scalars(run_ids)))
    session.execute(
        update(DatasetRow)
        .where(DatasetRow.project_id == project_id)
        .values(default_cost_matrix_id=None)
    )
    # First the tables that are not emptied by cascades.
    for table, belongs in (
        (ReportEditionRow, ReportEditionRow.project_id == project_id),
        (ScheduleRow, ScheduleRow.project_id == project_id),
        (TruthChunkRow, TruthChunkRow.truth_version_id.in_(truths)),
        (TruthVersionRow, TruthVersionRow.dataset_id.in_(datasets)),
        (DatasetRow, DatasetRow.project_id == project_id),
        (CostMatrixRow, CostMatrixRow.project_id == project_id),
        (ProjectRow, ProjectRow.id == project_id),
    ):
        session.execute(delete(table).where(belongs).execution_options(synchronize_session=False))


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
    session.execute(delete(EvaluationRow).where(EvaluationRow.id.in_(evaluation_ids)))


def complete_runs(session: Session) -> list[str]:
    """Ids of all runs that are finished and not deleted, oldest first."""
    return list(
        session.scalars(
            select(RunRow.id)
            .where(RunRow.state != RunState.OPEN, RunRow.deleted_at.is_(None))
            .order_by(RunRow.created_at, RunRow.id)
        )
    )


def failed_among(session: Session, run_ids: Sequence[str]) -> list[str]:
    """Those of the given runs whose evaluation failed for good."""
    return list(
        session.scalars(
            select(RunRow.id).where(RunRow.id.in_(run_ids), RunRow.state == RunState.FAILED)
        )
    )


def drop_current_results(session: Session, run_ids: Sequence[str]) -> None:
    """Let complete runs wait for their evaluation, as if they had just been finished.

    This removes their current evaluations, including those of slices, and the counts of their
    chunks, unless the labels these were counted with have been corrected: then no one uses them.
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
    """Let complete runs wait for their evaluation, keeping the counts of their chunks."""
    session.execute(
        delete(EvaluationRow).where(EvaluationRow.is_current, EvaluationRow.run_id.in_(run_ids))
    )
    session.execute(
        update(RunRow)
        .where(RunRow.id.in_(run_ids), RunRow.state != RunState.OPEN)
        .values(state=RunState.FINISHED)
    )
