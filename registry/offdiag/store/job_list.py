"""Reading the job queue for its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, case, func, null, select
from sqlalchemy.orm import Session

from offdiag.store.database import database_now
from offdiag.store.models import DeliveryRow, ProjectRow, ReportEditionRow, WorkRow
from offdiag.store.models.base import record_as


class JobState(StrEnum):
    """The state of a job."""

    RUNNING = "running"
    QUEUED = "queued"
    FAILED = "failed"
    """An attempt failed; another one will be made."""
    DEAD = "dead"
    """Failed until a user asks for another try."""


@dataclass(frozen=True, slots=True)
class ReportOfJob:
    """The edition that a job computes or delivers, and the document of the target it goes to."""

    project: str
    name: str
    number: int
    target: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class JobEntry:
    """One job.

    `report` is None unless it is about one. `waits_s` is how long until it is due, negative once
    it is; `lease_left_s` how long its worker may stay silent, None unless it is running.
    """

    id: int
    task: str
    args: Mapping[str, Any]
    state: JobState
    attempts: int
    error: str | None
    asked_at: datetime
    waits_s: float
    lease_left_s: float | None
    report: ReportOfJob | None


@dataclass(frozen=True, slots=True)
class JobList:
    """Jobs that need a look first, then running jobs, then waiting ones."""

    counts: Mapping[JobState, int]
    entries: tuple[JobEntry, ...]


def job_list(session: Session, *, limit: int | None) -> JobList:
    """All jobs counted by state, and at most `limit` entries or all."""
    state = _state()
    counted = dict.fromkeys(JobState, 0)
    for found, number in session.execute(select(state, func.count()).group_by(state)):
        counted[JobState(found)] = number
    urgency = case(
        {JobState.DEAD: 0, JobState.FAILED: 1, JobState.RUNNING: 2}, value=state, else_=3
    )
    rows = session.execute(_entries().order_by(urgency, WorkRow.due, WorkRow.id).limit(limit))
    return JobList(counted, _with_reports(session, rows))


def job_entry(session: Session, work_id: int) -> JobEntry | None:
    row = session.execute(_entries().where(WorkRow.id == work_id)).one_or_none()
    return None if row is None else _with_reports(session, [row])[0]


def _with_reports(session: Session, rows: Iterable[Any]) -> tuple[JobEntry, ...]:
    entries = [_entry(row) for row in rows]
    editions, deliveries = (_jobs_by(entries, key) for key in ("issue", "delivery"))
    found = {}
    if editions:
        to_compute = _reports(ReportEditionRow.id, null().label("target")).where(
            ReportEditionRow.id.in_(editions)
        )
        for number, *about in session.execute(to_compute):
            found[editions[number]] = ReportOfJob(*about)
    if deliveries:
        to_deliver = (
            _reports(DeliveryRow.id, DeliveryRow.target)
            .join(DeliveryRow, DeliveryRow.edition_id == ReportEditionRow.id)
            .where(DeliveryRow.id.in_(deliveries))
        )
        for number, *about in session.execute(to_deliver):
            found[deliveries[number]] = ReportOfJob(*about)
    return tuple(replace(entry, report=found.get(entry.id)) for entry in entries)


def _jobs_by(entries: Sequence[JobEntry], key: str) -> dict[int, int]:
    """The jobs by the number that they have in this argument."""
    return {entry.args[key]: entry.id for entry in entries if key in entry.args}


def _reports(key: Any, target: Any) -> Select[Any]:
    """A key, and the fields of `ReportOfJob`."""
    return (
        select(key, ProjectRow.name, ReportEditionRow.name, ReportEditionRow.number, target)
        .select_from(ReportEditionRow)
        .join(ProjectRow, ProjectRow.id == ReportEditionRow.project_id)
    )


def dead_ids(session: Session) -> list[int]:
    """Ids of all jobs that failed for good."""
    return list(
        session.scalars(select(WorkRow.id).where(WorkRow.state == "dead").order_by(WorkRow.id))
    )


def _state() -> Any:
    return case(
        (WorkRow.state == "doing", JobState.RUNNING.value),
        (WorkRow.state == "dead", JobState.DEAD.value),
        (WorkRow.error.is_not(None), JobState.FAILED.value),
        else_=JobState.QUEUED.value,
    )


def _entries() -> Any:
    now = database_now()
    return select(
        WorkRow.id,
        WorkRow.task,
        WorkRow.args,
        _state().label("shown_state"),
        WorkRow.attempts,
        WorkRow.error,
        WorkRow.created_at,
        (WorkRow.due - now).label("waits_s"),
        (WorkRow.lease_until - now).label("lease_left_s"),
    )


def _entry(row: Any) -> JobEntry:
    return record_as(
        JobEntry,
        row,
        state=JobState(row.shown_state),
        report=None,
        asked_at=datetime.fromtimestamp(row.created_at, UTC),
    )
