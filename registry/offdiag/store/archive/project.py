"""What of a registry belongs to one project, table by table."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, Table, or_, select

from offdiag.domain.runs import RunState
from offdiag.store.archive.dump import dump_table
from offdiag.store.archive.file import ArchiveWriter
from offdiag.store.models import (
    Base,
    ClassValuesRow,
    ConfusionMatrixRow,
    DatasetRow,
    EvaluationRow,
    LabelSetRow,
    MetricValueRow,
    PredictionChunkRow,
    ProjectRow,
    RunRow,
    ScoreChunkRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
    UploadedMatrixRow,
)


def dump_project(connection: Connection, project_id: int, archive: ArchiveWriter) -> None:
    """Write the complete runs of a project with their datasets, truth and evaluations.

    Left out are runs that are open or deleted, and what belongs to a registry rather than to
    the runs: work, schedules, reports.
    """
    for model, statement in _statements(project_id).items():
        table = table_of(model)
        dump_table(connection, table, statement.order_by(*table.primary_key.columns), archive)


def table_of(model: type[Base]) -> Table:
    """The table behind a model."""
    return Base.metadata.tables[model.__tablename__]


def _statements(project_id: int) -> dict[type[Base], Select[Any]]:
    datasets = select(DatasetRow.id).where(DatasetRow.project_id == project_id)
    truths = select(TruthVersionRow.id).where(TruthVersionRow.dataset_id.in_(datasets))
    runs = select(RunRow.id).where(
        RunRow.project_id == project_id,
        RunRow.state != RunState.OPEN,
        RunRow.deleted_at.is_(None),
    )
    evaluations = select(EvaluationRow.id).where(EvaluationRow.run_id.in_(runs))
    used_labels = or_(
        LabelSetRow.id.in_(
            select(DatasetRow.label_set_id).where(DatasetRow.project_id == project_id)
        ),
        LabelSetRow.id.in_(
            select(ConfusionMatrixRow.label_set_id).where(
                ConfusionMatrixRow.evaluation_id.in_(evaluations)
            )
        ),
    )
    conditions = {
        ProjectRow: ProjectRow.id == project_id,
        LabelSetRow: used_labels,
        DatasetRow: DatasetRow.project_id == project_id,
        TruthVersionRow: TruthVersionRow.dataset_id.in_(datasets),
        TruthChunkRow: TruthChunkRow.truth_version_id.in_(truths),
        TruthSliceRow: TruthSliceRow.truth_version_id.in_(truths),
        RunRow: RunRow.id.in_(runs),
        PredictionChunkRow: PredictionChunkRow.run_id.in_(runs),
        ScoreChunkRow: ScoreChunkRow.run_id.in_(runs),
        UploadedMatrixRow: UploadedMatrixRow.run_id.in_(runs),
        EvaluationRow: EvaluationRow.run_id.in_(runs),
        ConfusionMatrixRow: ConfusionMatrixRow.evaluation_id.in_(evaluations),
        MetricValueRow: MetricValueRow.evaluation_id.in_(evaluations),
        ClassValuesRow: ClassValuesRow.evaluation_id.in_(evaluations),
    }
    return {
        model: select(table_of(model)).where(condition) for model, condition in conditions.items()
    }
