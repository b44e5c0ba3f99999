"""Statements on schedules of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select, update
from sqlalchemy.orm import Session

from offdiag.store.models import ProjectRow, ScheduleRow
from offdiag.store.models.base import record_as


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    """A schedule as the rest of the program sees it.

    `next_due` is in seconds since 1970, None while the schedule is paused.
    """

    id: int
    project_id: int
    project: str
    name: str
    cron: str
    zone: str
    scope: Mapping[str, Any]
    delivery: Sequence[Mapping[str, Any]]
    enabled: bool
    version: int
    last_fire: str | None
    next_due: float | None
    created_at: datetime
    updated_at: datetime


def insert_schedule(
    session: Session,
    *,
    project_id: int,
    name: str,
    cron: str,
    zone: str,
    scope: Mapping[str, Any],
    delivery: Sequence[Mapping[str, Any]],
    next_due: float,
    now: datetime,
) -> int:
    """Insert an enabled schedule and return its id."""
    row = ScheduleRow(
        project_id=project_id,
        name=name,
        cron=cron,
        zone=zone,
        scope=dict(scope),
        delivery=[dict(target) for target in delivery],
        enabled=True,
        version=1,
        next_due=next_due,
        created_at=now,
        updated_at=now,
    )
    session.add(row)
    session.flush()  # A duplicate name must fail here.
    return row.id


def find_schedule(session: Session, *, project: str, name: str) -> ScheduleRecord | None:
    found = _records(session, ProjectRow.name == project, ScheduleRow.name == name)
    return found[0] if found else None


def lock_schedule(session: Session, *, project: str, name: str) -> ScheduleRecord | None:
    """The same; no other transaction changes or removes it until this one ends."""
    wanted = _schedules(ProjectRow.name == project, ScheduleRow.name == name)
    found = _read(session, wanted.with_for_update(of=ScheduleRow, key_share=True))
    return found[0] if found else None


def list_schedules(session: Session, *, project: str | None = None) -> list[ScheduleRecord]:
    """All schedules, or those of one project, by project and name."""
    return _records(session, *([] if project is None else [ProjectRow.name == project]))


def due_schedules(session: Session, now: float) -> list[ScheduleRecord]:
    """Enabled schedules that are due, the one that waited longest first."""
    return sorted(
        _records(session, ScheduleRow.next_due <= now), key=lambda record: record.next_due or 0
    )


def advance(
    session: Session, schedule: ScheduleRecord, *, last_fire: str | None, next_due: float
) -> bool:
    """Move on to the next due time. False if another process did, or the schedule was changed."""
    moved = session.scalar(
        update(ScheduleRow)
        .where(
            ScheduleRow.id == schedule.id,
            ScheduleRow.version == schedule.version,
            ScheduleRow.next_due == schedule.next_due,
        )
        .values(next_due=next_due, last_fire=last_fire or ScheduleRow.last_fire)
        .returning(ScheduleRow.id)
    )
    return moved is not None


def set_next_due(session: Session, schedule_id: int, *, next_due: float | None) -> None:
    """Enable a schedule with its next due time, or pause it with None."""
    session.execute(
        update(ScheduleRow)
        .where(ScheduleRow.id == schedule_id)
        .values(enabled=next_due is not None, next_due=next_due)
    )


def change_plan(
    session: Session,
    schedule_id: int,
    *,
    cron: str,
    zone: str,
    scope: Mapping[str, Any],
    delivery: Sequence[Mapping[str, Any]],
    next_due: float | None,
    now: datetime,
) -> None:
    """Replace what a user wrote; a scheduler about to run the old plan notices the change."""
    session.execute(
        update(ScheduleRow)
        .where(ScheduleRow.id == schedule_id)
        .values(
            cron=cron,
            zone=zone,
            scope=dict(scope),
            delivery=[dict(target) for target in delivery],
            next_due=next_due,
            version=ScheduleRow.version + 1,
            updated_at=now,
        )
    )


def delete_schedule(session: Session, schedule_id: int) -> None:
    """Remove a schedule; its editions stay."""
    session.execute(delete(ScheduleRow).where(ScheduleRow.id == schedule_id))


def _records(session: Session, *conditions: ColumnElement[bool]) -> list[ScheduleRecord]:
    return _read(session, _schedules(*conditions))


def _schedules(*conditions: ColumnElement[bool]) -> Select[ScheduleRow, str]:
    return (
        select(ScheduleRow, ProjectRow.name)
        .join(ProjectRow, ProjectRow.id == ScheduleRow.project_id)
        .where(*conditions)
        .order_by(ProjectRow.name, ScheduleRow.name)
    )


def _read(session: Session, wanted: Select[ScheduleRow, str]) -> list[ScheduleRecord]:
    rows = session.execute(wanted)
    return [record_as(ScheduleRecord, row, project=project) for row, project in rows]
