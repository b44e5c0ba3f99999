"""Claiming jobs under a lease, and the heartbeats of the processes that do.

All times are judged by the database's clock.

A job can be claimed when it waits and is due, or when its lease has run out. Idle workers poll for
jobs all the time, so each statement is built once, with parameters for what changes: building it
takes longer than executing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    ScalarSelect,
    Select,
    Update,
    and_,
    bindparam,
    delete,
    func,
    null,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import Session

from offdiag.store.database import database_now
from offdiag.store.jobs import EXECUTING, WAITING, Lease
from offdiag.store.models import HeartbeatRow, ProjectRow, WorkRow
from offdiag.store.models.base import insert_into, record_as


def next_of_each_project(
    session: Session, *, max_attempts: int, at_most: int | None = None
) -> dict[int | None, int]:
    """The id of the job that has been claimable for longest, for each project that has one.

    A job is claimable when it is due or its lease has run out. None stands for jobs of no
    particular project. If `at_most` is given, larger jobs are ignored.
    """
    given = {"max_attempts": max_attempts, "at_most": at_most}
    rows = session.connection().execute(_oldest_of_each(has_limit=at_most is not None), given)
    return {project_id: work_id for project_id, work_id in rows if work_id is not None}


def due_ids(session: Session, *, max_attempts: int, limit: int) -> list[int]:
    """Ids of claimable jobs, oldest first."""
    return list(session.scalars(_due().limit(limit), {"max_attempts": max_attempts}))


def claim(
    session: Session,
    work_id: int,
    *,
    token: str,
    lease_s: float,
    max_attempts: int,
    at_most: int | None = None,
) -> Lease | None:
    """Claim a job. None if another process was faster, or if the job is larger than `at_most`.

    A row that another transaction is changing counts as claimed: waiting for it could end in a
    deadlock, because this transaction may have written before.
    """
    found = (
        session.connection()
        .execute(
            _claim(has_limit=at_most is not None),
            {
                "work_id": work_id,
                "token": token,
                "held_for_s": lease_s,
                "max_attempts": max_attempts,
                "at_most": at_most,
            },
        )
        .one_or_none()
    )
    return None if found is None else Lease(work_id, token, *found)


@cache
def _oldest_of_each(*, has_limit: bool) -> CompoundSelect[int | None, int | None]:
    parts = _free_parts(has_limit=has_limit)
    of_projects = select(ProjectRow.id, _oldest(WorkRow.project_id == ProjectRow.id, parts))
    of_none = select(null(), _oldest(WorkRow.project_id.is_(None), parts))
    return union_all(of_projects, of_none)


def _oldest(
    whose: ColumnElement[bool], parts: Sequence[ColumnElement[bool]]
) -> ScalarSelect[int | None]:
    """The oldest of all parts: each has its own index, which a single search would not use."""
    oldest = [
        select(WorkRow.due, WorkRow.id)
        .where(whose, part)
        .order_by(WorkRow.due, WorkRow.id)
        .limit(1)
        .correlate(ProjectRow)
        .subquery()
        for part in parts
    ]
    either = union_all(*(select(part.c.due, part.c.id) for part in oldest)).subquery()
    first = select(either.c.id).order_by(either.c.due, either.c.id).limit(1)
    return first.scalar_subquery()


@cache
def _due() -> Select[int]:
    return (
        select(WorkRow.id)
        .where(or_(*_free_parts(has_limit=False)))
        .order_by(WorkRow.due, WorkRow.id)
    )


@cache
def _claim(*, has_limit: bool) -> Update:
    is_free = or_(*_free_parts(has_limit=has_limit))
    found = select(WorkRow.id).where(WorkRow.id == bindparam("work_id"), is_free)
    return (
        update(WorkRow)
        .where(WorkRow.id == found.with_for_update(skip_locked=True).scalar_subquery())
        .values(
            state="doing",
            attempts=WorkRow.attempts + 1,
            lease=bindparam("token"),
            lease_until=database_now() + bindparam("held_for_s"),
        )
        .returning(WorkRow.task, WorkRow.args, WorkRow.key, WorkRow.attempts, WorkRow.request_id)
    )


def _free_parts(*, has_limit: bool) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    fits = [WorkRow.size <= bindparam("at_most")] if has_limit else []
    waiting = and_(WAITING, WorkRow.due <= database_now(), *fits)
    expired = and_(EXECUTING, WorkRow.lease_until < database_now(), *fits)
    return waiting, and_(expired, WorkRow.attempts < bindparam("max_attempts"))


@dataclass(frozen=True, slots=True)
class Heart:
    """The identity of a process as a worker or scheduler."""

    kind: str
    host: str
    pid: int
    started_at: datetime

    @property
    def name(self) -> str:
        return f"{self.kind} {self.pid}@{self.host}"


@dataclass(frozen=True, slots=True)
class Heartbeat(Heart):
    """A process and how many seconds ago it last gave a sign of life.

    If that is ahead, the clock was set back and the process has been silent since: those that are
    alive report every few seconds. `age_s` is then how far ahead.
    """

    age_s: float


def beat(session: Session, heart: Heart) -> None:
    """Record that a process is alive."""
    facts = {**asdict(heart), "seen_at": database_now()}
    session.execute(
        insert_into(session, HeartbeatRow)
        .values(name=heart.name, **facts)
        .on_conflict_do_update(index_elements=["name"], set_=facts)
    )


def forget(session: Session, name: str) -> None:
    """Remove the heartbeat of a process that ends normally."""
    session.execute(delete(HeartbeatRow).where(HeartbeatRow.name == name))


def forget_silent(session: Session, *, older_than_s: float) -> None:
    """Remove the heartbeats of processes that were killed long ago."""
    age = func.abs(database_now() - HeartbeatRow.seen_at)
    session.execute(delete(HeartbeatRow).where(age > older_than_s))


def list_heartbeats(session: Session, kind: str | None = None) -> tuple[Heartbeat, ...]:
    """All known processes, or those of one kind, most recent sign of life first."""
    age = func.abs(database_now() - HeartbeatRow.seen_at).label("age")
    known = select(HeartbeatRow, age).order_by(age, HeartbeatRow.name)
    rows = session.execute(known if kind is None else known.where(HeartbeatRow.kind == kind))
    return tuple(record_as(Heartbeat, row, age_s=age_s) for row, age_s in rows)
