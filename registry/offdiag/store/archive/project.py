"""Which rows of a registry belong to one project, and their ids in another registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, Table, insert, or_, select, union
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState
from offdiag.store.deliveries import DeliveryState
from offdiag.store.models import (
    Base,
    BaselineRow,
    ClassValuesRow,
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
    MetricValueRow,
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
    ScoreCurveRow,
    SliceCountsRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
    UploadedMatrixRow,
)
from offdiag.store.reports import EditionState

_REFERENCES = {
    "project_id": "projects",
    "label_set_id": "label_sets",
    "cost_matrix_id": "costs",
    "default_cost_matrix_id": "costs",
    "dataset_id": "datasets",
    "truth_version_id": "truths",
    "parent_id": "truths",
    "root_id": "truths",
    "run_id": "runs",
    "derived_from": "runs",
    "baseline_run_id": "runs",
    "evaluation_id": "evaluations",
    "flag_id": "flags",
    "schedule_id": "schedules",
    "issue_id": "editions",
}
"""What a column refers to: a field of `Merge`."""


@dataclass
class Merge:
    """A project on its way to another registry: ids there by those in the source, and what is new.

    `judged_otherwise` are datasets of the source that the target describes differently from what
    the source used to evaluate their runs; `renumbered` are corrections of labels with another
    number in the target. In both cases results of the source are not what the target would
    compute. `paused` are names of schedules.
    """

    source: Session
    target: Session
    project: str
    projects: dict[int, int] = field(default_factory=dict)
    label_sets: dict[int, int] = field(default_factory=dict)
    costs: dict[int, int] = field(default_factory=dict)
    datasets: dict[int, int] = field(default_factory=dict)
    truths: dict[int, int] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    evaluations: dict[int, int] = field(default_factory=dict)
    flags: dict[int, int] = field(default_factory=dict)
    schedules: dict[int, int] = field(default_factory=dict)
    editions: dict[int, int] = field(default_factory=dict)
    new_runs: list[str] = field(default_factory=list)
    judged_otherwise: set[int] = field(default_factory=set)
    renumbered: set[int] = field(default_factory=set)
    paused: list[str] = field(default_factory=list)
    added: Counter[str] = field(default_factory=Counter)

    def rows(self, model: type[Base], **equal: Any) -> list[RowMapping]:
        """The rows of the source with these values, by primary key."""
        return _rows_of(self.source, table_of(model), equal)

    def each_row(self, model: type[Base], **equal: Any) -> Iterator[RowMapping]:
        """The same as `rows`, one at a time: their blobs may be larger than memory."""
        table = table_of(model)
        keys = select(*table.primary_key.columns).where(*_conditions(table, equal))
        for key in self.source.execute(keys.order_by(*table.primary_key.columns)).all():
            yield from _rows_of(self.source, table, key._asdict())

    def there(self, model: type[Base], **equal: Any) -> list[RowMapping]:
        """The rows of the target with these values, by primary key."""
        return _rows_of(self.target, table_of(model), equal)

    def moved(self, row: RowMapping) -> dict[str, Any]:
        """A row of the source with the ids of the target.

        Runs that are not in the archive keep their ids; nothing takes the place of other objects.
        """
        return {name: self._moved(name, value) for name, value in row.items()}

    def insert(self, model: type[Base], row: RowMapping, **changes: Any) -> int:
        """Insert a row of the source under a new id, which is returned."""
        table, values = table_of(model), self.moved(row) | changes
        del values["id"]
        self.added[table.name] += 1
        return int(self.target.execute(insert(table).returning(table.c.id), values).scalar_one())

    def copy(self, model: type[Base], *rows: RowMapping, **changes: Any) -> None:
        """Insert rows of the source that have no numbers as ids."""
        table = table_of(model)
        if rows:
            self.added[table.name] += len(rows)
            self.target.execute(insert(table), [self.moved(row) | changes for row in rows])

    def _moved(self, column: str, value: Any) -> Any:
        if column not in _REFERENCES:
            return value
        ids = getattr(self, _REFERENCES[column])
        return ids.get(value, value if ids is self.runs else None)


def _rows_of(session: Session, table: Table, equal: Mapping[str, Any]) -> list[RowMapping]:
    found = select(table).where(*_conditions(table, equal))
    return list(session.execute(found.order_by(*table.primary_key.columns)).mappings())


def _conditions(table: Table, equal: Mapping[str, Any]) -> list[Any]:
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


OF_RUN = (
    PredictionChunkRow,
    ScoreChunkRow,
    UploadedMatrixRow,
    CountedSamplesRow,
    CountedSliceRow,
)
"""Tables of what was logged with a run alone."""
OF_EVALUATION = (
    ConfusionMatrixRow,
    MetricValueRow,
    ClassValuesRow,
    ScoreCurveRow,
    SliceCountsRow,
)
"""Tables of the results of evaluations, which have no key of their own."""


def rows_of_project(project_id: int) -> dict[Table, Select[Any]]:
    """The rows of each table that belong to a project, referenced tables first.

    Runs that are open or deleted are left out, and so are reports and deliveries that are still to
    be made: otherwise both registries would make them.
    """
    datasets = select(DatasetRow.id).where(DatasetRow.project_id == project_id)
    truths = select(TruthVersionRow.id).where(TruthVersionRow.dataset_id.in_(datasets))
    runs = select(RunRow.id).where(
        RunRow.project_id == project_id,
        RunRow.state != RunState.OPEN,
        RunRow.deleted_at.is_(None),
    )
    evaluations = select(EvaluationRow.id).where(EvaluationRow.run_id.in_(runs))
    flags = select(FlagRow.id).where(FlagRow.run_id.in_(runs))
    is_made = (ReportEditionRow.project_id == project_id) & (
        ReportEditionRow.state != EditionState.PENDING
    )
    made = select(ReportEditionRow.id).where(is_made)
    # Matrices of runs may have older labels than their datasets.
    label_sets = union(
        select(DatasetRow.label_set_id).where(DatasetRow.project_id == project_id),
        select(CostMatrixRow.label_set_id).where(CostMatrixRow.project_id == project_id),
        select(ConfusionMatrixRow.label_set_id).where(
            ConfusionMatrixRow.evaluation_id.in_(evaluations)
        ),
    )
    pairs = select(PairedRunRow.paired_id).where(PairedRunRow.run_id.in_(runs))
    belongs: dict[type[Base], ColumnElement[bool]] = {
        ProjectRow: ProjectRow.id == project_id,
        LabelSetRow: LabelSetRow.id.in_(label_sets),
        CostMatrixRow: CostMatrixRow.project_id == project_id,
        DatasetRow: DatasetRow.project_id == project_id,
        **_with("dataset_id", datasets, TruthVersionRow),
        **_with("truth_version_id", truths, TruthChunkRow, TruthSliceRow),
        **_with("dataset_id", datasets, *_OF_DATASET),
        RunRow: RunRow.id.in_(runs),
        **_with("run_id", runs, *OF_RUN),
        PairedSamplesRow: PairedSamplesRow.id.in_(pairs),
        **_with("run_id", runs, PairedRunRow, BaselineRow, EvaluationRow),
        **_with("evaluation_id", evaluations, *OF_EVALUATION),
        **_with("run_id", runs, FlagRow),
        **_with("flag_id", flags, FlagEventRow),
        ScheduleRow: ScheduleRow.project_id == project_id,
        ReportEditionRow: is_made,
        **_with("issue_id", made, ReportFileRow),
        DeliveryRow: DeliveryRow.edition_id.in_(made)
        & (DeliveryRow.state != DeliveryState.PENDING),
        CommentRow: or_(
            CommentRow.run_id.in_(runs),
            CommentRow.dataset_id.in_(datasets),
            CommentRow.flag_id.in_(flags),
        ),
    }
    return {table_of(model): select(table_of(model)).where(it) for model, it in belongs.items()}


_OF_DATASET = (PromotionRow, ProblemRow, SampleContentRow, LabelAnswerRow)


def _with(
    column: str, ids: Select[Any], *models: type[Base]
) -> dict[type[Base], ColumnElement[bool]]:
    return {model: table_of(model).c[column].in_(ids) for model in models}


def table_of(model: type[Base]) -> Table:
    return Base.metadata.tables[model.__tablename__]
