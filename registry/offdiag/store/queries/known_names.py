"""Names that begin with some letters, for whoever completes what somebody types."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, func, null, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from offdiag.store.models import CostMatrixRow, DatasetRow, ProjectRow, RunRow

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
