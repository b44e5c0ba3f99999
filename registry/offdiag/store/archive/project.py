"""What of a registry belongs to one project, table by table."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, Table, or_, select

from offdiag.domain.runs import RunState
from offdiag.store.deliveries import DeliveryState
from offdiag.store.models import (
    Base,
    BaselineRow,
    ConfusionMatrixRow,
    CostMatrixRow,
    CountedCasesRow,
    CountedSliceRow,
    DatasetRow,
    DeliveryRow,
    EvaluationRow,
    FlagEventRow,
    FlagRow,
    LabelSetRow,
    PredictionChunkRow,
    ProjectRow,
    ReportFileRow,
    ReportIssueRow,
    RunRow,
    ScheduleRow,
    ScoreChunkRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
    UploadedMatrixRow,
)
from offdiag.store.report_issues import IssueState

LEFT_OUT = {
    "heartbeat": "it tells which processes there are",
    "work": "what has to be done is told by the data, wherever they are",
    "pending_slice": "it is part of an open run",
    "pending_truth": "it is part of an open run",
    "user_account": "people belong to a registry",
    "membership": "a role in a project of that name elsewhere would be given to somebody else",
    "user_session": "it is somebody who is signed in here",
    "api_token": "it opens this registry and no other",
    "audit_event": "it tells what was done here",
    "kept_answer": "it answers requests that are sent to this server again",
    "saved_view": "it is a page of a registry, and may show several projects",
}
"""Tables of which an archive of a project holds nothing, and why."""


def rows_of_project(project_id: int) -> dict[Table, Select[Any]]:
    """The rows of each table that belong to a project, those first that others refer to.

    Left out are runs that are open or deleted, and reports and deliveries that are still to be
    made: whoever has them to make would make them twice.
    """
    return {
        table: select(table).where(condition)
        for table, condition in {
            table_of(ProjectRow): ProjectRow.id == project_id,
            **_of_datasets(project_id),
            **_of_runs(project_id),
            **_of_reports(project_id),
        }.items()
    }


def table_of(model: type[Base]) -> Table:
    """The table behind a model."""
    return Base.metadata.tables[model.__tablename__]


def parts_of_evaluations() -> list[Table]:
    """The tables whose rows are what was computed for an evaluation, and have no other key."""
    return [
        table
        for table in Base.metadata.sorted_tables
        if "evaluation_id" in table.primary_key.columns
    ]


Conditions = dict[Table, ColumnElement[bool]]


def _of_datasets(project_id: int) -> Conditions:
    datasets = select(DatasetRow.id).where(DatasetRow.project_id == project_id)
    truths = select(TruthVersionRow.id).where(TruthVersionRow.dataset_id.in_(datasets))
    return {
        table_of(LabelSetRow): _used_labels(project_id),
        table_of(CostMatrixRow): CostMatrixRow.project_id == project_id,
        table_of(DatasetRow): DatasetRow.project_id == project_id,
        table_of(TruthVersionRow): TruthVersionRow.dataset_id.in_(datasets),
        table_of(TruthChunkRow): TruthChunkRow.truth_version_id.in_(truths),
        table_of(TruthSliceRow): TruthSliceRow.truth_version_id.in_(truths),
    }


def _of_runs(project_id: int) -> Conditions:
    runs = _complete_runs(project_id)
    evaluations = select(EvaluationRow.id).where(EvaluationRow.run_id.in_(runs))
    flags = select(FlagRow.id).where(FlagRow.run_id.in_(runs))
    return {
        table_of(RunRow): RunRow.id.in_(runs),
        table_of(PredictionChunkRow): PredictionChunkRow.run_id.in_(runs),
        table_of(ScoreChunkRow): ScoreChunkRow.run_id.in_(runs),
        table_of(UploadedMatrixRow): UploadedMatrixRow.run_id.in_(runs),
        table_of(CountedCasesRow): CountedCasesRow.run_id.in_(runs),
        table_of(CountedSliceRow): CountedSliceRow.run_id.in_(runs),
        table_of(BaselineRow): BaselineRow.run_id.in_(runs),
        table_of(EvaluationRow): EvaluationRow.run_id.in_(runs),
        **{table: table.c.evaluation_id.in_(evaluations) for table in parts_of_evaluations()},
        table_of(FlagRow): FlagRow.run_id.in_(runs),
        table_of(FlagEventRow): FlagEventRow.flag_id.in_(flags),
    }


def _of_reports(project_id: int) -> Conditions:
    is_made = (ReportIssueRow.project_id == project_id) & (
        ReportIssueRow.state != IssueState.PENDING
    )
    made = select(ReportIssueRow.id).where(is_made)
    return {
        table_of(ScheduleRow): ScheduleRow.project_id == project_id,
        table_of(ReportIssueRow): is_made,
        table_of(ReportFileRow): ReportFileRow.issue_id.in_(made),
        table_of(DeliveryRow): DeliveryRow.issue_id.in_(made)
        & (DeliveryRow.state != DeliveryState.PENDING),
    }


def _complete_runs(project_id: int) -> Select[str]:
    return select(RunRow.id).where(
        RunRow.project_id == project_id,
        RunRow.state != RunState.OPEN,
        RunRow.deleted_at.is_(None),
    )


def _used_labels(project_id: int) -> ColumnElement[bool]:
    """Those of datasets and costs, and of the matrices of runs, which may have been others."""
    evaluations = select(EvaluationRow.id).where(
        EvaluationRow.run_id.in_(_complete_runs(project_id))
    )
    return or_(
        LabelSetRow.id.in_(
            select(DatasetRow.label_set_id).where(DatasetRow.project_id == project_id)
        ),
        LabelSetRow.id.in_(
            select(CostMatrixRow.label_set_id).where(CostMatrixRow.project_id == project_id)
        ),
        LabelSetRow.id.in_(
            select(ConfusionMatrixRow.label_set_id).where(
                ConfusionMatrixRow.evaluation_id.in_(evaluations)
            )
        ),
    )
