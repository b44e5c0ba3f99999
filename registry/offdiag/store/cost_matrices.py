"""Statements on cost matrices, which have names and versions that never change.

Their pages list versions without weights, and which datasets and reports use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Row, Select, func, select, update
from sqlalchemy.orm import Session

from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.store.codec import damaged
from offdiag.store.datasets import label_set_id, stored_labels
from offdiag.store.models import CostMatrixRow, DatasetRow, LabelSetRow, ProjectRow, ScheduleRow
from offdiag.store.models.base import lock_row, record_as

_LITTLE_ENDIAN = np.dtype("<f8")


@dataclass(frozen=True)
class CostMatrixRecord:
    """A version of a cost matrix as the rest of the program sees it."""

    id: int
    project: str
    name: str
    version: int
    costs: CostMatrix
    author: str | None
    note: str | None
    created_at: datetime

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values, with weights as {actual: {predicted: cost}}."""
        return {
            "name": self.name,
            "version": self.version,
            "project": self.project,
            "currency": self.costs.currency,
            "note": self.note,
            "author": self.author,
            "created_at": self.created_at.isoformat(timespec="seconds"),
            "labels": list(self.costs.labels.names),
            "weights": self.costs.by_class,
        }


def lock_costs(session: Session, project_id: int) -> None:
    """Serialise additions to the costs of a project, whose versions are numbered consecutively."""
    lock_row(session, ProjectRow, project_id)


def insert_costs(
    session: Session,
    *,
    project_id: int,
    name: str,
    version: int,
    costs: CostMatrix,
    author: str | None,
    note: str | None,
    now: datetime,
) -> int:
    """Store a version of a cost matrix; returns its id.

    The caller has called `lock_costs` before it looked for the version before it.
    """
    row = CostMatrixRow(
        project_id=project_id,
        name=name,
        version=version,
        label_set_id=label_set_id(session, costs.labels),
        weights=costs.weights.astype(_LITTLE_ENDIAN).tobytes(),
        currency=costs.currency,
        author=author,
        note=note,
        created_at=now,
    )
    session.add(row)
    session.flush()  # The id is needed.
    return row.id


def find_costs(
    session: Session, *, project: str, name: str, version: int | None = None
) -> CostMatrixRecord | None:
    """A version of a cost matrix; without a number the newest one."""
    found = _select(ProjectRow.name == project, CostMatrixRow.name == name)
    if version is not None:
        found = found.where(CostMatrixRow.version == version)
    row = session.execute(found.order_by(CostMatrixRow.version.desc()).limit(1)).one_or_none()
    return None if row is None else _record(row)


def get_costs(session: Session, costs_id: int) -> CostMatrixRecord:
    """A cost matrix by id, which must exist."""
    return _record(session.execute(_select(CostMatrixRow.id == costs_id)).one())


def all_versions(session: Session) -> list[tuple[int, str, int]]:
    """Id, name and version of every cost matrix."""
    rows = session.execute(
        select(CostMatrixRow.id, CostMatrixRow.name, CostMatrixRow.version).order_by(
            CostMatrixRow.id
        )
    )
    return [(costs_id, name, version) for costs_id, name, version in rows]


def default_costs(session: Session, dataset_id: int) -> CostMatrixRecord | None:
    """The cost matrix that the runs of a dataset are judged by."""
    default = select(DatasetRow.default_cost_matrix_id).where(DatasetRow.id == dataset_id)
    row = session.execute(_select(CostMatrixRow.id == default.scalar_subquery())).one_or_none()
    return None if row is None else _record(row)


def set_default_costs(session: Session, dataset_id: int, costs_id: int | None) -> None:
    """Judge the runs of a dataset by these costs from now on, or by none."""
    session.execute(
        update(DatasetRow)
        .where(DatasetRow.id == dataset_id)
        .values(default_cost_matrix_id=costs_id)
    )


def list_costs(session: Session, *, project: str | None = None) -> list[CostMatrixRecord]:
    """The newest version of each cost matrix, by project and name."""
    found = _newest(_select(*_in_project(project)))
    return [_record(row) for row in session.execute(found)]


def _newest(versions: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Of versions with their projects the newest of each name, by project and name."""
    key = CostMatrixRow.project_id, CostMatrixRow.name
    newest = select(*key, func.max(CostMatrixRow.version).label("v")).group_by(*key).subquery()
    is_newest = (
        (newest.c.project_id == CostMatrixRow.project_id)
        & (newest.c.name == CostMatrixRow.name)
        & (newest.c.v == CostMatrixRow.version)
    )
    return versions.join(newest, is_newest).order_by(ProjectRow.name, CostMatrixRow.name)


def _select(
    *conditions: ColumnElement[bool],
) -> Select[CostMatrixRow, LabelSetRow, str]:
    return (
        select(CostMatrixRow, LabelSetRow, ProjectRow.name)
        .join(LabelSetRow, LabelSetRow.id == CostMatrixRow.label_set_id)
        .join(ProjectRow, ProjectRow.id == CostMatrixRow.project_id)
        .where(*conditions)
    )


def _record(found: Row[CostMatrixRow, LabelSetRow, str]) -> CostMatrixRecord:
    row, label_set, project = found
    labels = stored_labels(label_set)
    size = len(labels)
    if len(row.weights) != size * size * _LITTLE_ENDIAN.itemsize:
        raise damaged(f"cost matrix {row.name} version {row.version} has other classes.")
    weights = np.frombuffer(row.weights, _LITTLE_ENDIAN).reshape(size, size).astype(np.float64)
    return record_as(
        CostMatrixRecord, row, project=project, costs=CostMatrix(weights, labels, row.currency)
    )


@dataclass(frozen=True, slots=True)
class CostVersion:
    """One version of a cost matrix without its weights."""

    id: int
    project: str
    name: str
    version: int
    label_set_id: int
    n_classes: int
    currency: str | None
    author: str | None
    note: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DatasetUse:
    """A dataset and the costs that its runs are judged by, if any."""

    dataset_id: int
    project: str
    dataset: str
    label_set_id: int
    cost_matrix_id: int | None
    task: str


@dataclass(frozen=True, slots=True)
class ReportUse:
    """A report that names costs, as `visits`, or `visits@2` for one version of them."""

    project: str
    report: str
    costs: str


_COLUMNS = (
    CostMatrixRow.id,
    ProjectRow.name,
    CostMatrixRow.name,
    CostMatrixRow.version,
    CostMatrixRow.label_set_id,
    LabelSetRow.n_classes,
    CostMatrixRow.currency,
    CostMatrixRow.author,
    CostMatrixRow.note,
    CostMatrixRow.created_at,
)


def newest_versions(session: Session, *, dataset_id: int | None = None) -> tuple[CostVersion, ...]:
    """The newest version of each cost matrix, by project and name.

    With `dataset_id` only those for the classes of this dataset, in its project.
    """
    found = _newest(_versions())
    if dataset_id is not None:
        found = found.join(
            DatasetRow,
            (DatasetRow.project_id == CostMatrixRow.project_id)
            & (DatasetRow.label_set_id == CostMatrixRow.label_set_id),
        ).where(DatasetRow.id == dataset_id)
    return tuple(CostVersion(*row) for row in session.execute(found))


def versions_of(session: Session, *, project: str, name: str) -> tuple[CostVersion, ...]:
    """All versions of a cost matrix, newest first; empty if there is no such matrix."""
    named = _versions().where(ProjectRow.name == project, CostMatrixRow.name == name)
    rows = session.execute(named.order_by(CostMatrixRow.version.desc()))
    return tuple(CostVersion(*row) for row in rows)


def _versions() -> Select[*tuple[Any, ...]]:
    return (
        select(*_COLUMNS)
        .join(ProjectRow, ProjectRow.id == CostMatrixRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == CostMatrixRow.label_set_id)
    )


def dataset_uses(session: Session, *, project: str | None = None) -> tuple[DatasetUse, ...]:
    """Datasets with the costs their runs are judged by: all datasets, or those of a project."""
    rows = session.execute(
        select(
            DatasetRow.id,
            ProjectRow.name,
            DatasetRow.name,
            DatasetRow.label_set_id,
            DatasetRow.default_cost_matrix_id,
            DatasetRow.task,
        )
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .where(*_in_project(project))
        .order_by(ProjectRow.name, DatasetRow.name)
    )
    return tuple(DatasetUse(*row) for row in rows)


def report_uses(session: Session, *, project: str | None = None) -> tuple[ReportUse, ...]:
    """Reports that name costs, by project and name."""
    rows = session.execute(
        select(ProjectRow.name, ScheduleRow.name, ScheduleRow.scope)
        .join(ProjectRow, ProjectRow.id == ScheduleRow.project_id)
        .where(*_in_project(project))
        .order_by(ProjectRow.name, ScheduleRow.name)
    )
    return tuple(
        ReportUse(project_name, report, scope["cost_matrix"])
        for project_name, report, scope in rows
        if scope.get("cost_matrix")
    )


def _in_project(project: str | None) -> list[ColumnElement[bool]]:
    return [] if project is None else [ProjectRow.name == project]


@dataclass(frozen=True)
class CostOverview:
    """All cost matrices in their newest versions, with all datasets and reports."""

    newest: tuple[CostVersion, ...]
    datasets: tuple[DatasetUse, ...]
    reports: tuple[ReportUse, ...]


def cost_overview(session: Session) -> CostOverview:
    """All cost matrices in their newest versions, and who uses them."""
    return CostOverview(newest_versions(session), dataset_uses(session), report_uses(session))
