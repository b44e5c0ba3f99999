"""Which rows of a registry belong to one project, and their ids in another registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, Table, insert, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState
from offdiag.store.deliveries import DeliveryState
from offdiag.store.models import (
    Base,
    BaselineRow,
    CommentRow,
    ConfusionMatrixRow,
    CostMatrixRow,
    CountedSamplesRow,
    CountedSliceRow,
    DatasetRow,
    DeliveryRow,
    EvaluationRow,
    FlagEventRow,
    FlagRow,
    LabelAnswerRow,
    LabelSetRow,
    PairedRunRow,
    PairedSamplesRow,
    PredictionChunkRow,
    ProblemRow,
    ProjectRow,
    PromotionRow,
    ReportEditionRow,
    ReportFileRow,
    RunRow,
    SampleContentRow,
    ScheduleRow,
    ScoreChunkRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
    UploadedMatrixRow,
)
from offdiag.store.reports import EditionState


@dataclass
class KnownAs:
    """Ids in the source and of the same objects in the target, and what was added to the target.

    `judged_otherwise` are datasets of the source that the target describes differently from what
    the source used to evaluate their runs; `renumbered` are corrections of labels with another
    number in the target. In both cases results of the source are not what the target would
    compute. `paused` are names of schedules.
    """

    projects: dict[int, int] = field(default_factory=dict)
    label_sets: dict[int, int] = field(default_factory=dict)
    costs: dict[int, int] = field(default_factory=dict)
    datasets: dict[int, int] = field(default_factory=dict)
    truths: dict[int, int] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    schedules: dict[int, int] = field(default_factory=dict)
    new_runs: list[str] = field(default_factory=list)
    judged_otherwise: set[int] = field(default_factory=set)
    renumbered: set[int] = field(default_factory=set)
    paused: list[str] = field(default_factory=list)
    added: Counter[str] = field(default_factory=Counter)


def rows_of(session: Session, table: Table, **equal: Any) -> list[RowMapping]:
    """The rows of a table with these values, by primary key."""
    found = select(table).where(*_conditions(table, equal))
    return list(session.execute(found.order_by(*table.primary_key.columns)).mappings())


def each_row_of(session: Session, table: Table, **equal: Any) -> Iterator[RowMapping]:
    """The same as `rows_of`, one at a time: their blobs may be larger than memory."""
    keys = select(*table.primary_key.columns).where(*_conditions(table, equal))
    for key in session.execute(keys.order_by(*table.primary_key.columns)).all():
        yield from rows_of(session, table, **key._asdict())


def insert_row(
    target: Session, table: Table, row: RowMapping, known: KnownAs, **changes: Any
) -> int:
    """Insert a row under a new id, which is returned."""
    values = {name: value for name, value in row.items() if name != "id"} | changes
    known.added[table.name] += 1
    return int(target.execute(insert(table).returning(table.c.id), values).scalar_one())


def copy_row(
    target: Session, table: Table, row: RowMapping, known: KnownAs, **changes: Any
) -> None:
    """Insert a row that has no id of its own."""
    known.added[table.name] += 1
    target.execute(insert(table), dict(row) | changes)


def _conditions(table: Table, equal: dict[str, Any]) -> list[Any]:
    return [table.c[name] == value for name, value in equal.items()]


LEFT_OUT = {
    "heartbeat": "it tells which processes there are",
    "work": "what has to be done is told by the data, wherever they are",
    "pending_slice": "it is part of an open run",
    "pending_truth": "it is part of an open run",
    "user_account": "people belong to a registry",
    "membership": "a role in a project of that name elsewhere would be given to somebody else",
    "user_session": "it is somebody who is signed in here",
    "api_token": "it opens this registry and no other",
    "share_link": "it opens a page of this server",
    "audit_event": "it tells what was done here",
    "kept_answer": "it answers requests that are sent to this server again",
    "saved_view": "it is a page of a registry, and may show several projects",
}
"""Tables of which an archive of a project holds nothing, with the reason."""


def rows_of_project(project_id: int) -> dict[Table, Select[Any]]:
    """The rows of each table that belong to a project, referenced tables first.

    Runs that are open or deleted are left out, and so are reports and deliveries that are still to
    be made: otherwise both registries would make them.
    """
    return {
        table: select(table).where(condition)
        for table, condition in {
            table_of(ProjectRow): ProjectRow.id == project_id,
            **_of_datasets(project_id),
            **_of_runs(project_id),
            **_of_reports(project_id),
            table_of(CommentRow): _comments(project_id),
        }.items()
    }


def table_of(model: type[Base]) -> Table:
    return Base.metadata.tables[model.__tablename__]


def parts_of_evaluations() -> list[Table]:
    """The tables that hold the results of evaluations and have no key of their own."""
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
        table_of(PromotionRow): PromotionRow.dataset_id.in_(datasets),
        table_of(ProblemRow): ProblemRow.dataset_id.in_(datasets),
        table_of(SampleContentRow): SampleContentRow.dataset_id.in_(datasets),
        table_of(LabelAnswerRow): LabelAnswerRow.dataset_id.in_(datasets),
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
        table_of(CountedSamplesRow): CountedSamplesRow.run_id.in_(runs),
        table_of(CountedSliceRow): CountedSliceRow.run_id.in_(runs),
        table_of(PairedSamplesRow): PairedSamplesRow.id.in_(
            select(PairedRunRow.paired_id).where(PairedRunRow.run_id.in_(runs))
        ),
        table_of(PairedRunRow): PairedRunRow.run_id.in_(runs),
        table_of(BaselineRow): BaselineRow.run_id.in_(runs),
        table_of(EvaluationRow): EvaluationRow.run_id.in_(runs),
        **{table: table.c.evaluation_id.in_(evaluations) for table in parts_of_evaluations()},
        table_of(FlagRow): FlagRow.run_id.in_(runs),
        table_of(FlagEventRow): FlagEventRow.flag_id.in_(flags),
    }


def _of_reports(project_id: int) -> Conditions:
    is_made = (ReportEditionRow.project_id == project_id) & (
        ReportEditionRow.state != EditionState.PENDING
    )
    made = select(ReportEditionRow.id).where(is_made)
    return {
        table_of(ScheduleRow): ScheduleRow.project_id == project_id,
        table_of(ReportEditionRow): is_made,
        table_of(ReportFileRow): ReportFileRow.edition_id.in_(made),
        table_of(DeliveryRow): DeliveryRow.edition_id.in_(made)
        & (DeliveryRow.state != DeliveryState.PENDING),
    }


def _comments(project_id: int) -> ColumnElement[bool]:
    runs = _complete_runs(project_id)
    datasets = select(DatasetRow.id).where(DatasetRow.project_id == project_id)
    return or_(
        CommentRow.run_id.in_(runs),
        CommentRow.dataset_id.in_(datasets),
        CommentRow.flag_id.in_(select(FlagRow.id).where(FlagRow.run_id.in_(runs))),
    )


def _complete_runs(project_id: int) -> Select[str]:
    return select(RunRow.id).where(
        RunRow.project_id == project_id,
        RunRow.state != RunState.OPEN,
        RunRow.deleted_at.is_(None),
    )


def _used_labels(project_id: int) -> ColumnElement[bool]:
    """Label sets of datasets, costs and the matrices of runs, which may have older labels."""
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
