"""Things found by a part of their name, and names that begin with some letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, func, null, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from offdiag.store.models import CostMatrixRow, DatasetRow, ProjectRow, RunRow


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


_MOST = 100

Column = InstrumentedAttribute[str]


def known_names(session: Session, kind: str, prefix: str) -> list[tuple[str, str | None]]:
    """At most a hundred names of a kind with a word about each; runs come newest first.

    Kinds are `run`, `dataset`, `cost` and `project`.
    """
    statement: Select[*tuple[Any, ...]]
    match kind:
        case "run":
            statement = (
                select(RunRow.id, RunRow.name)
                .where(RunRow.deleted_at.is_(None), _begins(RunRow.id, prefix))
                .order_by(RunRow.created_at.desc())
            )
        case "dataset":
            statement = _each(DatasetRow.name, func.min(DatasetRow.task), prefix)
        case "cost":
            statement = _each(CostMatrixRow.name, func.max(CostMatrixRow.note), prefix)
        case _:
            statement = _each(ProjectRow.name, null(), prefix)
    return [(name, about) for name, about in session.execute(statement.limit(_MOST))]


def _each(name: Column, about: Any, prefix: str) -> Select[*tuple[Any, ...]]:
    """Each name once: projects have datasets of the same name, and costs have versions."""
    return select(name, about).where(_begins(name, prefix)).group_by(name).order_by(name)


def _begins(name: Column, prefix: str) -> ColumnElement[bool]:
    return name.startswith(prefix, autoescape=True)


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
