"""Search runs, datasets and models by a part of their name."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from offdiag.store.models import DatasetRow, ProjectRow, RunRow


@dataclass(frozen=True, slots=True)
class FoundName:
    """A thing with a name; `detail` tells it from others of the same name."""

    id: str
    name: str
    detail: str


def find_runs(session: Session, text: str, *, limit: int) -> list[FoundName]:
    """Runs by a part of their name or the beginning of their id, newest first."""
    statement = (
        select(RunRow.id, RunRow.name, DatasetRow.name)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .where(RunRow.deleted_at.is_(None))
        .where(
            or_(
                _holds(session, RunRow.name.expression, text),
                RunRow.id.startswith(text, autoescape=True),
            )
        )
        .order_by(RunRow.created_at.desc(), RunRow.id.desc())
        .limit(limit)
    )
    return [FoundName(*row) for row in session.execute(statement)]


def find_datasets(session: Session, text: str, *, limit: int) -> list[FoundName]:
    """Datasets by a part of their name, with their project."""
    statement = (
        select(ProjectRow.name, DatasetRow.name)
        .join(ProjectRow, ProjectRow.id == DatasetRow.project_id)
        .where(_holds(session, DatasetRow.name.expression, text))
        .order_by(DatasetRow.name, ProjectRow.name)
        .limit(limit)
    )
    rows = session.execute(statement)
    return [FoundName(project, name, f"project {project}") for project, name in rows]


def find_models(session: Session, text: str, *, limit: int) -> list[FoundName]:
    """Models by a part of their name, with the number of their runs."""
    model = RunRow.model.expression
    statement = (
        select(model, func.count())
        .where(RunRow.deleted_at.is_(None), model.is_not(None))
        .group_by(model)
        # Asked of each model once. Of the column itself SQLite would ask it for every run.
        .having(_holds(session, func.min(model), text))
        .order_by(model)
        .limit(limit)
    )
    return [
        FoundName(str(name), str(name), "1 run" if count == 1 else f"{count} runs")
        for name, count in session.execute(statement)
    ]


def _holds(
    session: Session, column: ColumnElement[str] | ColumnElement[str | None], text: str
) -> ColumnElement[bool]:
    if session.get_bind().dialect.name == "sqlite":
        # It compares without case by itself; to lower each name first takes twice as long.
        return column.contains(text, autoescape=True)
    return column.icontains(text, autoescape=True)


OF_EACH_KIND = 8


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of each kind, at most eight of each."""

    runs: tuple[FoundName, ...] = ()
    datasets: tuple[FoundName, ...] = ()
    models: tuple[FoundName, ...] = ()


def find(session: Session, text: str) -> Findings:
    """Runs, datasets and models whose name holds the text; without text the newest runs."""
    return Findings(
        tuple(find_runs(session, text, limit=OF_EACH_KIND)),
        tuple(find_datasets(session, text, limit=OF_EACH_KIND)),
        tuple(find_models(session, text, limit=OF_EACH_KIND)),
    )
