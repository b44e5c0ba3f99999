"""Statements on the job table: submit, extend, finish, release, fail permanently.

They also find which project a job is for and how large it is, so that no project waits for long,
and wait for PostgreSQL to notify of new jobs.

All times are by the database's clock, so hosts with skewed clocks agree on leases. A claim counts
as an attempt as soon as it is made, so that killed workers count too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Update,
    and_,
    bindparam,
    case,
    delete,
    event,
    exists,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningDelete

from offdiag.errors import DatabaseUnavailable
from offdiag.store.audit_log import request_of
from offdiag.store.database import Database, database_now
from offdiag.store.models import DeliveryRow, PredictionChunkRow, ReportEditionRow, RunRow, WorkRow
from offdiag.store.models.base import insert_into
from offdiag.store.models.jobs import EVALUATION_KEY

WAITING = text("state = 'todo'")
"""A literal, because a generic plan with a bound parameter cannot use the partial index."""
EXECUTING = text("state = 'doing'")
"""A literal for the same reason."""

NO_ERROR_REPORTED = (
    "every attempt ended without a word: its worker was killed or lost the database."
)
"""The error of a job whose lease was never released."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to do one job until the lease runs out.

    `request_id` is the request that submitted the job, None if no request did.
    """

    work_id: int
    token: str
    task: str
    args: Mapping[str, Any]
    key: str
    attempts: int
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """The state of a job. `error` is that of its latest failed attempt."""

    work_id: int
    task: str
    key: str
    state: str
    attempts: int
    error: str | None


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job to submit. `project_id` is the project it is for, None for no particular one.

    `size` is how many predicted classes and scores it reads, None if unknown.
    """

    key: str
    args: Mapping[str, Any]
    project_id: int | None = None
    size: int | None = None


def insert_pending(session: Session, task: str, wanted: JobRequest) -> int | None:
    """Submit a job, at most once per key. Returns its id, None if one was already waiting."""
    return next(iter(insert_many_pending(session, task, [wanted])), None)


def insert_many_pending(session: Session, task: str, wanted: Sequence[JobRequest]) -> list[int]:
    """Submit many jobs of one kind. Returns the ids of those that were not waiting yet."""
    if not wanted:
        return []
    insert = insert_into(session, WorkRow).on_conflict_do_nothing(
        index_elements=["key"], index_where=WAITING
    )
    insert = insert.values(
        task=task,
        state="todo",
        due=database_now(),
        attempts=0,
        created_at=database_now(),
        request_id=request_of(session),
    )
    rows = [
        {
            "args": dict(each.args),
            "key": each.key,
            "project_id": each.project_id,
            "size": each.size,
        }
        for each in wanted
    ]
    return list(session.connection().execute(insert.returning(WorkRow.id), rows).scalars())


def find_by_key(session: Session, key: str) -> WorkRecord | None:
    """The newest job with this key: waiting, running or failed."""
    row = session.scalar(
        select(WorkRow).where(WorkRow.key == key).order_by(WorkRow.id.desc()).limit(1)
    )
    if row is None:
        return None
    return WorkRecord(row.id, row.task, row.key, row.state, row.attempts, row.error)


def queued_evaluations(session: Session) -> list[str]:
    """Ids of the runs whose evaluation is queued, oldest first."""
    keys = session.scalars(
        select(WorkRow.key)
        .where(WorkRow.state == "todo", WorkRow.key.startswith(EVALUATION_KEY))
        .order_by(WorkRow.id)
    )
    return [key.removeprefix(EVALUATION_KEY) for key in keys]


def count_by_state(session: Session) -> dict[str, int]:
    """How many jobs are waiting, running and failed."""
    found = session.execute(select(WorkRow.state, func.count()).group_by(WorkRow.state))
    counts = {state: int(count) for state, count in found}
    return {state: counts.get(state, 0) for state in ("todo", "doing", "dead")}


def extend(session: Session, lease: Lease, *, lease_s: float) -> bool:
    """Postpone the end of a lease. False if the lease was lost."""
    given = {"work_id": lease.work_id, "token": lease.token, "held_for_s": lease_s}
    return session.connection().scalar(_extend(), given) is not None


def finish(session: Session, lease: Lease) -> bool:
    """Delete a job that is done. False if the lease was lost: then nothing may be written."""
    given = {"work_id": lease.work_id, "token": lease.token}
    return session.connection().scalar(_finish(), given) is not None


def release(
    session: Session, lease: Lease, *, error: str | None, delay_s: float, counts: bool = True
) -> bool:
    """Return a job to the queue for a later attempt. False if the lease was lost.

    If the same job was submitted again in the meantime, that newer row replaces it. With `counts`
    False the attempt is not counted, because the job only came too early.
    """
    if _waits_again(session, lease):
        return finish(session, lease)
    return _end_lease(
        session,
        _held(lease),
        state="todo",
        due=database_now() + delay_s,
        attempts=WorkRow.attempts if counts else WorkRow.attempts - 1,
        error=error,
    )


def report_loss(session: Session, lease: Lease, *, most_losses: int) -> None:
    """Undo the claim of a lease that was lost without an error, so it counts as no attempt.

    If the lease is still valid, the job waits again; if another worker has claimed it, only the
    counters change. A job that lost `most_losses` leases before is left alone: from then on each
    loss counts as an attempt.
    """
    is_early = WorkRow.losses < most_losses
    counts = {"attempts": WorkRow.attempts - 1, "losses": WorkRow.losses + 1}
    if _waits_again(session, lease) and finish(session, lease):
        return
    held = and_(_held(lease), is_early)
    if not _end_lease(session, held, state="todo", due=database_now(), **counts):
        session.execute(
            update(WorkRow)
            .where(
                WorkRow.id == lease.work_id,
                WorkRow.state != "dead",
                or_(WorkRow.lease.is_(None), WorkRow.lease != lease.token),
                WorkRow.attempts > 0,
                is_early,
            )
            .values(**counts)
        )


def fail_permanently(session: Session, lease: Lease, *, error: str) -> bool:
    """Mark a job as failed for good; its row stays visible. False if the lease was lost."""
    return _end_lease(session, _held(lease), state="dead", error=error)


def _waits_again(session: Session, lease: Lease) -> bool:
    """Whether the same job was submitted again while it was being done."""
    waiting = exists().where(WorkRow.key == lease.key, WorkRow.state == "todo")
    return bool(session.scalar(select(waiting)))


def _end_lease(session: Session, held: ColumnElement[bool], **values: Any) -> bool:
    """Change a job and end its lease; whether the lease was still held."""
    ended = update(WorkRow).where(held).values(lease=None, lease_until=None, **values)
    return session.scalar(ended.returning(WorkRow.id)) is not None


def revive(session: Session, work_id: int) -> Lease | None:
    """Let a failed job be tried again from the start. None if it has not failed.

    If the same job waits already, that row is enough.
    """
    dead = session.execute(
        delete(WorkRow)
        .where(WorkRow.id == work_id, WorkRow.state == "dead")
        .returning(WorkRow.task, WorkRow.args, WorkRow.key, WorkRow.project_id, WorkRow.size)
    ).one_or_none()
    if dead is None:
        return None
    wanted = JobRequest(dead.key, dead.args, dead.project_id, dead.size)
    again = insert_pending(session, dead.task, wanted)
    return Lease(again or work_id, "", dead.task, dead.args, dead.key, 0)


def fail_expired(session: Session, *, max_attempts: int) -> list[Lease]:
    """Fail jobs whose last allowed attempt ended without an error (their worker was killed)."""
    rows = session.execute(
        update(WorkRow)
        .where(
            EXECUTING,
            WorkRow.lease_until < database_now(),
            WorkRow.attempts >= max_attempts,
        )
        .values(
            state="dead",
            lease=None,
            lease_until=None,
            error=NO_ERROR_REPORTED,
        )
        .returning(WorkRow.id, WorkRow.task, WorkRow.args, WorkRow.key, WorkRow.attempts)
    )
    return [Lease(r.id, "", r.task, r.args, r.key, r.attempts) for r in rows]


def bring_forward(session: Session, *, longest_wait_s: float, longest_lease_s: float) -> None:
    """Shorten what jobs wait for to the longest that any of them does.

    Only a clock that was set back leaves jobs that wait for longer: they were submitted, released
    or claimed while it was ahead. A lease then ends its own length from now, which a worker that
    is alive extends in time; one whose length is unknown is free once it is ahead of any lease.
    """
    now = database_now()
    session.execute(
        update(WorkRow).where(WAITING, WorkRow.due > now + longest_wait_s).values(due=now)
    )
    for token in session.scalars(select(WorkRow.lease).where(EXECUTING)).all():
        length_s = _length_of(token or "")
        longest_s = longest_lease_s if length_s is None else length_s
        session.execute(
            update(WorkRow)
            .where(EXECUTING, WorkRow.lease == token, WorkRow.lease_until > now + longest_s)
            .values(lease_until=now + (length_s or 0.0))
        )


def lease_token(lease_s: float) -> str:
    """A new token for a lease, which also says how long it lasts.

    Processes may have different settings, so none else knows.
    """
    return f"{secrets.token_hex(8)}/{lease_s}"


def _length_of(token: str) -> float | None:
    """How long a lease lasts, None for leases of versions that did not say."""
    _, slash, length_s = token.partition("/")
    return float(length_s) if slash else None


def withdraw(session: Session, key: str) -> None:
    """Delete a job that waits or has failed; one that is running ends by itself."""
    session.execute(delete(WorkRow).where(WorkRow.key == key, WorkRow.state != "doing"))


def notify(session: Session, channel: str) -> None:
    """Wake listeners when this transaction commits (PostgreSQL only; elsewhere a no-op)."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_notify(:channel, '')"), {"channel": channel})


def after_commit(session: Session, action: Callable[[], None]) -> None:
    """Run `action` once this session's transaction has been committed."""

    def run(_session: Session) -> None:
        action()

    event.listen(session, "after_commit", run, once=True)


@cache
def _extend() -> Update:
    """Every job runs this statement and the next; each is built once."""
    return (
        update(WorkRow)
        .where(*_is_held())
        .values(lease_until=database_now() + bindparam("held_for_s"))
        .returning(WorkRow.id)
    )


@cache
def _finish() -> ReturningDelete[int]:
    return delete(WorkRow).where(*_is_held()).returning(WorkRow.id)


def _is_held() -> tuple[ColumnElement[bool], ...]:
    return (
        WorkRow.id == bindparam("work_id"),
        WorkRow.state == "doing",
        WorkRow.lease == bindparam("token"),
    )


def _held(lease: Lease) -> ColumnElement[bool]:
    return and_(
        WorkRow.id == lease.work_id, WorkRow.state == "doing", WorkRow.lease == lease.token
    )


_AT_ONCE = 500


class RunAsWork(NamedTuple):
    """What a worker needs to know about the evaluation of a run.

    `size` is how many predicted classes and scores it reads; reading counts alone takes no time.
    """

    project_id: int
    size: int


def works_of_runs(session: Session, run_ids: Sequence[str]) -> Mapping[str, RunAsWork]:
    """Project and size of the evaluation of each run that exists."""
    found: dict[str, RunAsWork] = {}
    has_chunks = exists(
        select(PredictionChunkRow.run_id).where(PredictionChunkRow.run_id == RunRow.id)
    )
    read = RunRow.n_predictions * (1 + RunRow.score_columns)
    size = case((has_chunks, read), else_=0)
    for start in range(0, len(run_ids), _AT_ONCE):
        some = run_ids[start : start + _AT_ONCE]
        rows = session.execute(
            select(RunRow.id, RunRow.project_id, size).where(RunRow.id.in_(some))
        )
        found.update((run_id, RunAsWork(*rest)) for run_id, *rest in rows)
    return found


def project_of_edition(session: Session, edition_id: int) -> int | None:
    return session.scalar(
        select(ReportEditionRow.project_id).where(ReportEditionRow.id == edition_id)
    )


def project_of_delivery(session: Session, delivery_id: int) -> int | None:
    """The id of the project whose report is being delivered."""
    return session.scalar(
        select(ReportEditionRow.project_id)
        .join(DeliveryRow, DeliveryRow.edition_id == ReportEditionRow.id)
        .where(DeliveryRow.id == delivery_id)
    )


def notifications(database: Database, channel: str, *, timeout_s: float) -> Iterator[bool]:
    """Yield True for each notification on `channel`, False after `timeout_s` without one.

    Holds one connection while it is iterated. Raises `DatabaseUnavailable` when the connection
    breaks.
    """
    with database.listen() as connection:
        connection.execute(text(f'LISTEN "{channel}"'))
        driver = connection.connection.driver_connection
        while True:
            yield _heard(driver, database.place, timeout_s)


def _heard(driver: Any, place: str, timeout_s: float) -> bool:
    import psycopg

    try:
        return any(True for _ in driver.notifies(timeout=timeout_s, stop_after=1))
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"{place}: the connection broke while waiting.", hint="It reconnects by itself."
        ) from error
