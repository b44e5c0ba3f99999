"""Searching runs, datasets, costs, reports, classes and models by words of their names."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Text, and_, cast, func, or_, select, true
from sqlalchemy.orm import Session

from offdiag.store.models import (
    CostMatrixRow,
    DatasetRow,
    LabelSetRow,
    ProjectRow,
    RunRow,
    ScheduleRow,
)


@dataclass(frozen=True, slots=True)
class FoundName:
    """A search result; `detail` distinguishes it from others of the same name."""

    id: str
    name: str
    detail: str


OF_EACH_KIND = 8
MOST_LABEL_SETS = 20
"""Of the datasets with the words in their class names, how many have their classes searched."""


def _runs(session: Session, text: str) -> list[FoundName]:
    """Runs by words of their name or tags, newest first; or by the beginning of their id.

    Words that are in neither may be in the name of the dataset or of the model.
    """
    own = RunRow.name.expression + " " + cast(RunRow.tags, Text)
    whole = own + " " + func.coalesce(RunRow.model, "") + " " + DatasetRow.name
    terms = text.split()
    statement = (
        select(RunRow.id, RunRow.name, DatasetRow.name)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .where(RunRow.deleted_at.is_(None))
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        .limit(OF_EACH_KIND)
    )
    if terms:
        by_words = and_(
            or_(*(_holds(session, own, term) for term in terms)),
            *(_holds(session, whole, term) for term in terms),
        )
        statement = statement.where(or_(by_words, RunRow.id.startswith(text, autoescape=True)))
    return [FoundName(*row) for row in session.execute(statement)]


def _of_projects(
    session: Session, kind: type[DatasetRow | CostMatrixRow | ScheduleRow], text: str
) -> list[FoundName]:
    """Datasets, costs or reports by words of their name; the id is the project."""
    statement = (
        select(ProjectRow.name, kind.name)
        .distinct()
        .join(ProjectRow, ProjectRow.id == kind.project_id)
        .where(*(_holds(session, kind.name.expression, term) for term in text.split()))
        .order_by(kind.name, ProjectRow.name)
        .limit(OF_EACH_KIND)
    )
    rows = session.execute(statement)
    return [FoundName(project, found, f"project {project}") for project, found in rows]


def _classes(session: Session, text: str) -> list[tuple[str, FoundName]]:
    """Project, and dataset with a class, by words of the name of the class."""
    terms = text.split()
    if not terms:
        return []
    names = cast(LabelSetRow.names, Text)
    statement = (
        select(ProjectRow.name, DatasetRow.name, LabelSetRow.names)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .join(LabelSetRow, LabelSetRow.id == DatasetRow.label_set_id)
        .where(*(_holds(session, names, _as_in_json(term)) for term in terms))
        .order_by(DatasetRow.name, ProjectRow.name)
        .limit(MOST_LABEL_SETS)
    )
    found = [
        (project, FoundName(dataset, name, f"class of {dataset}"))
        for project, dataset, names in session.execute(statement)
        for name in names
        if all(term.lower() in name.lower() for term in terms)
    ]
    return found[:OF_EACH_KIND]


def _as_in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _models(session: Session, text: str) -> list[FoundName]:
    """Models by a part of their name, with the number of their runs."""
    model = RunRow.model.expression
    statement = (
        select(model, func.count())
        .where(RunRow.deleted_at.is_(None), model.is_not(None))
        .group_by(model)
        # Evaluated once per model. On the column itself SQLite would evaluate it for every run.
        .having(and_(true(), *(_holds(session, func.min(model), term) for term in text.split())))
        .order_by(model)
        .limit(OF_EACH_KIND)
    )
    return [
        FoundName(str(name), str(name), "1 run" if count == 1 else f"{count} runs")
        for name, count in session.execute(statement)
    ]


def _holds(
    session: Session, column: ColumnElement[str] | ColumnElement[str | None], text: str
) -> ColumnElement[bool]:
    if session.get_bind().dialect.name == "sqlite":
        # It compares without case by itself; lowering each name first takes twice as long.
        return column.contains(text, autoescape=True)
    return column.icontains(text, autoescape=True)


@dataclass(frozen=True, slots=True)
class Findings:
    """Search results of each kind, at most eight of each."""

    runs: tuple[FoundName, ...] = ()
    datasets: tuple[FoundName, ...] = ()
    models: tuple[FoundName, ...] = ()
    costs: tuple[FoundName, ...] = ()
    schedules: tuple[FoundName, ...] = ()
    classes: tuple[tuple[str, FoundName], ...] = ()


def find(session: Session, text: str) -> Findings:
    """Everything with all words of the text in its name; without text the newest runs."""
    return Findings(
        tuple(_runs(session, text)),
        tuple(_of_projects(session, DatasetRow, text)),
        tuple(_models(session, text)),
        tuple(_of_projects(session, CostMatrixRow, text)),
        tuple(_of_projects(session, ScheduleRow, text)),
        tuple(_classes(session, text)),
    )
