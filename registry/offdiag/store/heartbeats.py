"""Statements on heartbeats, judged by the database's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from offdiag.store.clock import database_now
from offdiag.store.models import HeartbeatRow


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A process and how many seconds ago it last gave a sign of life."""

    name: str
    kind: str
    host: str
    pid: int
    started_at: datetime
    age_s: float


def beat(
    session: Session, *, name: str, kind: str, host: str, pid: int, started_at: datetime
) -> None:
    """Say that a process lives."""
    facts = {"kind": kind, "host": host, "pid": pid, "started_at": started_at}
    insert = (
        postgresql.insert(HeartbeatRow)
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert(HeartbeatRow)
    )
    seen = {"seen_at": database_now()}
    session.execute(
        insert.values(name=name, **facts, **seen).on_conflict_do_update(
            index_elements=["name"], set_={**facts, **seen}
        )
    )


def forget(session: Session, name: str) -> None:
    """Say that a process ends as it should."""
    session.execute(delete(HeartbeatRow).where(HeartbeatRow.name == name))


def forget_silent(session: Session, *, older_than_s: float) -> None:
    """Remove what processes left behind that were killed long ago."""
    session.execute(
        delete(HeartbeatRow).where(HeartbeatRow.seen_at < database_now() - older_than_s)
    )


def list_heartbeats(session: Session) -> tuple[Heartbeat, ...]:
    """All known processes, the liveliest first."""
    age = (database_now() - HeartbeatRow.seen_at).label("age")
    rows = session.execute(select(HeartbeatRow, age).order_by(age, HeartbeatRow.name))
    return tuple(
        Heartbeat(row.name, row.kind, row.host, row.pid, row.started_at, max(0.0, age_s))
        for row, age_s in rows
    )
