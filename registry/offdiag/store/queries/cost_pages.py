"""Cost matrices as their pages show them: versions without weights, and who uses which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, select
from sqlalchemy.orm import Session

from offdiag.store.models import (
    CostMatrixRow,
    DatasetRow,
    LabelSetRow,
    ProjectRow,
    ScheduleRow,
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
    """A dataset and the costs its runs are judged by, if any."""

    dataset_id: int
    project: str
    dataset: str
    label_set_id: int
    cost_matrix_id: int | None


@dataclass(frozen=True, slots=True)
class ReportUse:
    """A report that names costs: `visits`, or `visits@2` for a version of them."""

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


def newest_versions(session: Session) -> tuple[CostVersion, ...]:
    """The newest version of each cost matrix, by project and name."""
    newest = (
        select(
            CostMatrixRow.project_id,
            CostMatrixRow.name,
            func.max(CostMatrixRow.version).label("v"),
        )
        .group_by(CostMatrixRow.project_id, CostMatrixRow.name)
        .subquery()
    )
    is_newest = (
        (newest.c.project_id == CostMatrixRow.project_id)
        & (newest.c.name == CostMatrixRow.name)
        & (newest.c.v == CostMatrixRow.version)
    )
    rows = session.execute(
        select(*_COLUMNS)
        .join(ProjectRow, ProjectRow.id == CostMatrixRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == CostMatrixRow.label_set_id)
        .join(newest, is_newest)
        .order_by(ProjectRow.name, CostMatrixRow.name)
    )
    return tuple(_version(row) for row in rows)


def versions_of(session: Session, *, project: str, name: str) -> tuple[CostVersion, ...]:
    """All versions of a cost matrix, the newest first; none where there is no such matrix."""
    rows = session.execute(
        select(*_COLUMNS)
        .join(ProjectRow, ProjectRow.id == CostMatrixRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == CostMatrixRow.label_set_id)
        .where(ProjectRow.name == project, CostMatrixRow.name == name)
        .order_by(CostMatrixRow.version.desc())
    )
    return tuple(_version(row) for row in rows)


def _version(row: Row[*tuple[Any, ...]]) -> CostVersion:
    return CostVersion(*row)


def dataset_uses(session: Session, *, project: str | None = None) -> tuple[DatasetUse, ...]:
    """Datasets with what their runs are judged by: all, or those of a project."""
    rows = session.execute(
        select(
            DatasetRow.id,
            ProjectRow.name,
            DatasetRow.name,
            DatasetRow.label_set_id,
            DatasetRow.default_cost_matrix_id,
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
