"""What tells whether a registry is well: its database, its runs by state, its queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from offdiag.domain.runs import RunState
from offdiag.store.clock import database_now, database_time
from offdiag.store.models import RunRow, WorkRow

_TAKEN_OVER_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class QueueState:
    """Pieces of work by state; `oldest_waiting_s` is how long the oldest has been due.

    `abandoned` are those of `doing` whose lease ran out a minute ago, and nobody took them over.
    """

    waiting: int
    doing: int
    dead: int
    oldest_waiting_s: float | None
    abandoned: int = 0


@dataclass(frozen=True, slots=True)
class RegistryHealth:
    """`journal_mode` is SQLite's, None elsewhere."""

    server_version: str
    journal_mode: str | None
    runs_by_state: Mapping[RunState, int]
    queue: QueueState
    database_time: datetime


def registry_health(session: Session) -> RegistryHealth:
    """All of it, in a handful of statements."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    version = "SELECT sqlite_version()" if is_sqlite else "SHOW server_version"
    states = session.execute(
        select(RunRow.state, func.count())
        .where(RunRow.deleted_at.is_(None))
        .group_by(RunRow.state)
    )
    return RegistryHealth(
        server_version=str(session.scalar(text(version))),
        journal_mode=str(session.scalar(text("PRAGMA journal_mode"))) if is_sqlite else None,
        runs_by_state={RunState(state): count for state, count in states},
        queue=_queue(session),
        database_time=database_time(session),
    )


def _queue(session: Session) -> QueueState:
    rows = session.execute(select(WorkRow.state, func.count()).group_by(WorkRow.state))
    counts = {row.state: row[1] for row in rows}
    waited = session.scalar(
        select(func.max(database_now() - WorkRow.due)).where(
            WorkRow.state == "todo", WorkRow.due <= database_now()
        )
    )
    abandoned = session.scalar(
        select(func.count()).where(
            WorkRow.state == "doing", WorkRow.lease_until < database_now() - _TAKEN_OVER_WITHIN_S
        )
    )
    return QueueState(
        waiting=counts.get("todo", 0),
        doing=counts.get("doing", 0),
        dead=counts.get("dead", 0),
        oldest_waiting_s=waited,
        abandoned=abandoned or 0,
    )
