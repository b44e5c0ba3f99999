"""Statements on projects, label sets and datasets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Select, bindparam, exists, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.hierarchy import Hierarchy
from offdiag.domain.labels import LabelSet
from offdiag.domain.look_alikes import NearMiss, names_alike, shown
from offdiag.domain.runs import RunState, Task
from offdiag.domain.suggestions import did_you_mean
from offdiag.errors import DamagedData, InvalidInput, NotFound
from offdiag.store.codec import damage_of, damaged
from offdiag.store.models import (
    DatasetRow,
    LabelSetRow,
    PredictionChunkRow,
    ProjectRow,
    RunRow,
    ScoreChunkRow,
    TruthVersionRow,
    UploadedMatrixRow,
)
from offdiag.store.models.base import record_as
from offdiag.store.project_access import elsewhere, projects_with_dataset, require_project
from offdiag.store.truths import lock_truths

# Every chunk that arrives looks up its dataset. Building the statement again, and finding that it
# was compiled before, takes three times as long as executing it.
_RECORDS = (
    select(DatasetRow, LabelSetRow, ProjectRow)
    .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
    .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
)
_BY_ID = _RECORDS.where(DatasetRow.id == bindparam("dataset_id"))
_BY_NAME = _RECORDS.where(
    ProjectRow.name == bindparam("project"), DatasetRow.name == bindparam("name")
)


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A dataset as the rest of the program sees it.

    `notes` say what may not be meant, if it was just created.
    """

    id: int
    project_id: int
    project: str
    name: str
    task: Task
    labels: LabelSet
    labels_inferred: bool
    positive_label: str | None
    hierarchy: Hierarchy | None = None
    positive_by_convention: bool = False
    primary_metric: str | None = None
    default_cost_matrix_id: int | None = None
    notes: tuple[str, ...] = ()


def project_id(session: Session, name: str) -> int | None:
    return session.scalar(select(ProjectRow.id).where(ProjectRow.name == name))


def create_project(session: Session, name: str, now: datetime) -> int:
    """Insert a project and return its id. Raises `Forbidden` if this session may not see it."""
    require_project(session, name)
    row = ProjectRow(name=name, created_at=now)
    session.add(row)
    session.flush()  # Rows that are inserted later need the id.
    return row.id


def find_dataset(session: Session, *, project: str, name: str) -> DatasetRecord | None:
    """A dataset by its project and name, in one statement."""
    return _one(session, _BY_NAME, {"project": project, "name": name})


def dataset_named(session: Session, *, project: str, name: str) -> DatasetRecord:
    """A dataset by project and name. Raises `NotFound`."""
    dataset = find_dataset(session, project=project, name=name)
    if dataset is None:
        known = session.scalars(
            select(DatasetRow.name)
            .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
            .where(ProjectRow.name == project)
        )
        raise NotFound(
            f"project {project!r} has no dataset {name!r}.",
            field="dataset",
            hint=elsewhere(projects_with_dataset(session, name))
            or did_you_mean(name, known)
            or "A dataset is made by the first run that is logged on it.",
        )
    return dataset


def get_dataset(session: Session, dataset_id: int) -> DatasetRecord:
    """A dataset by id, which must exist."""
    record = _one(session, _BY_ID, {"dataset_id": dataset_id})
    if record is None:
        raise LookupError(dataset_id)
    return record


def create_dataset(
    session: Session,
    *,
    project_id: int,
    name: str,
    labels: LabelSet,
    positive: str | None,
    by_convention: bool,
    now: datetime,
) -> DatasetRecord:
    """Insert a dataset with its label set; equal label sets are shared by digest."""
    others = session.scalars(select(DatasetRow.name).where(DatasetRow.project_id == project_id))
    notes = tuple(map(_note_on_name, names_alike(name, others)))
    row = DatasetRow(
        project_id=project_id,
        name=name,
        task=single_label_task(labels),
        label_set_id=label_set_id(session, labels),
        labels_inferred=labels.inferred,
        positive_label=positive,
        positive_by_convention=by_convention,
        created_at=now,
    )
    session.add(row)
    session.flush()  # Rows that are inserted later need the id.
    return replace(get_dataset(session, row.id), notes=notes)


def _note_on_name(found: NearMiss) -> str:
    return (
        f"Dataset {shown(found.other)} is new, and {shown(found.one)} exists, which differs by "
        f"{found.difference}. Only runs of one dataset are compared: if both are the same, use "
        "one name."
    )


def single_label_task(labels: LabelSet) -> Task:
    """The task of a dataset whose samples each have one of these classes."""
    return Task.BINARY if len(labels) == 2 else Task.MULTICLASS


def holds_samples(session: Session, dataset_id: int) -> bool:
    """Whether anything was logged to a dataset: labels, predictions or a matrix.

    Locks the dataset, so no other transaction adds labels to it until this one ends.
    """
    lock_truths(session, dataset_id)
    of_dataset = RunRow.dataset_id == dataset_id
    found = session.scalar(
        select(
            or_(
                exists().where(TruthVersionRow.dataset_id == dataset_id),
                exists().where(PredictionChunkRow.run_id == RunRow.id, of_dataset),
                exists().where(UploadedMatrixRow.run_id == RunRow.id, of_dataset),
            )
        )
    )
    return bool(found)


def set_task(session: Session, dataset_id: int, task: Task) -> None:
    """Record what the labels of a dataset mean."""
    row = session.get_one(DatasetRow, dataset_id)
    row.task = task
    session.flush()  # Later reads in this transaction must see it.


def may_have_scores_of_one_class(session: Session, dataset_id: int) -> bool:
    """Whether a run of a dataset has scores of one class only, or is open and may get some."""
    of_dataset = RunRow.dataset_id == dataset_id
    has_scores = exists().where(
        of_dataset, ScoreChunkRow.run_id == RunRow.id, ScoreChunkRow.n_columns == 1
    )
    is_open = exists().where(
        of_dataset, RunRow.state == RunState.OPEN, RunRow.deleted_at.is_(None)
    )
    return bool(session.scalar(select(or_(has_scores, is_open))))


def set_positive_label(
    session: Session, dataset_id: int, label: str | None, *, by_convention: bool = False
) -> None:
    """Record which class of a binary dataset is positive, and whether by convention."""
    row = session.get_one(DatasetRow, dataset_id)
    row.positive_label = label
    row.positive_by_convention = by_convention
    session.flush()  # Later reads in this transaction must see it.


def set_hierarchy(session: Session, dataset_id: int, hierarchy: Hierarchy | None) -> None:
    """Record how the classes of a dataset are grouped, None for not at all."""
    row = session.get_one(DatasetRow, dataset_id)
    row.hierarchy = None if hierarchy is None else hierarchy.to_list()
    session.flush()  # Later reads in this transaction must see it.


def set_primary_metric(session: Session, dataset_id: int, key: str | None) -> None:
    """Record the aggregate metric that runs are ranked by; None for the default of the task."""
    row = session.get_one(DatasetRow, dataset_id)
    row.primary_metric = key
    session.flush()  # Later reads in this transaction must see it.


def hierarchy_of(dataset: DatasetRow) -> Hierarchy | None:
    """The groups of classes that a dataset was given, if any."""
    return None if dataset.hierarchy is None else Hierarchy.restored(dataset.hierarchy)


def label_set_id(session: Session, labels: LabelSet) -> int:
    """Id of the stored label set with this digest; inserts a new one."""
    known = session.scalar(select(LabelSetRow.id).where(LabelSetRow.digest == labels.digest))
    if known is not None:
        return known
    row = LabelSetRow(
        digest=labels.digest,
        names=list(labels.names),
        n_classes=len(labels),
        ordinal=labels.ordinal,
    )
    session.add(row)
    session.flush()  # The id is needed by the dataset.
    return row.id


def dataset_names(session: Session) -> list[str]:
    return list(session.scalars(select(DatasetRow.name).order_by(DatasetRow.id)))


def stored_labels(row: LabelSetRow, *, inferred: bool = False) -> LabelSet:
    """The label set of a row. Raises `DamagedData` if it is not the one that was logged."""
    with damage_of(f"label set {row.digest[:12]}"):
        try:
            labels = LabelSet(tuple(row.names), row.ordinal, inferred)
        except (InvalidInput, TypeError) as error:
            raise damaged(str(error)) from error
        if labels.digest != row.digest or len(labels) != row.n_classes:
            raise damaged("its names are not those that were logged.")
    return labels


def damaged_label_sets(session: Session) -> Iterator[tuple[str, str]]:
    """The digest of every label set that is damaged, and what is wrong with it."""
    for row in session.scalars(select(LabelSetRow).order_by(LabelSetRow.id)):
        try:
            stored_labels(row)
        except DamagedData as error:
            yield row.digest, error.message


def _one(
    session: Session,
    statement: Select[DatasetRow, LabelSetRow, ProjectRow],
    values: Mapping[str, object],
) -> DatasetRecord | None:
    found = session.execute(statement, values).one_or_none()
    if found is None:
        return None
    dataset, label_set, project = found
    return record_as(
        DatasetRecord,
        dataset,
        project_id=project.id,
        project=project.name,
        task=Task(dataset.task),
        labels=stored_labels(label_set, inferred=dataset.labels_inferred),
        hierarchy=hierarchy_of(dataset),
        notes=(),
    )
