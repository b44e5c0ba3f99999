"""Statements on issues of reports: asked for, numbered, found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Text, cast, exists, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from offdiag.store.models import ProjectRow, ReportIssueRow, WorkRow


class IssueState(StrEnum):
    """Life cycle of an issue. A computed issue never changes."""

    PENDING = "pending"
    COMPUTED = "computed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NewIssue:
    """An issue somebody asks for. `fire_time` and `due` name the same moment."""

    schedule_id: int | None
    project_id: int
    name: str
    fire_time: str
    due: float
    covers_missed: int
    scope: Mapping[str, Any]
    delivery: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class IssueRecord:
    """An issue without its files."""

    id: int
    schedule_id: int | None
    project_id: int
    project: str
    name: str
    number: int
    fire_time: str
    due: float
    state: IssueState
    covers_missed: int
    scope: Mapping[str, Any]
    delivery: Sequence[Mapping[str, Any]]
    headline: str | None
    data_digest: str | None
    error: str | None
    created_at: datetime
    computed_at: datetime | None
    summary: Mapping[str, Any] | None


def lock_series(session: Session, project_id: int) -> None:
    """Let nobody else number issues of this project until the transaction ends."""
    session.execute(
        select(ProjectRow.id).where(ProjectRow.id == project_id).with_for_update(key_share=True)
    )


def next_number(session: Session, *, project_id: int, name: str) -> int:
    """Number of the next issue of a series; take `lock_series` first."""
    last = session.scalar(
        select(func.max(ReportIssueRow.number)).where(
            ReportIssueRow.project_id == project_id, ReportIssueRow.name == name
        )
    )
    return (last or 0) + 1


def insert_issue(session: Session, issue: NewIssue, *, number: int, now: datetime) -> int | None:
    """Insert a pending issue. Returns its id, None if its fire has one already."""
    insert = (
        postgresql.insert(ReportIssueRow)
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert(ReportIssueRow)
    )
    return session.scalar(
        insert.values(
            schedule_id=issue.schedule_id,
            project_id=issue.project_id,
            name=issue.name,
            number=number,
            fire_time=issue.fire_time,
            due=issue.due,
            state=IssueState.PENDING,
            covers_missed=issue.covers_missed,
            scope=dict(issue.scope),
            delivery=[dict(target) for target in issue.delivery],
            created_at=now,
        )
        .on_conflict_do_nothing(index_elements=["schedule_id", "fire_time"])
        .returning(ReportIssueRow.id)
    )


def find_issue(session: Session, issue_id: int) -> IssueRecord | None:
    """An issue by id."""
    found = session.execute(select_issues().where(ReportIssueRow.id == issue_id)).one_or_none()
    return None if found is None else issue_record(*found)


def find_issues(session: Session, issue_ids: Sequence[int]) -> list[IssueRecord]:
    """Issues by id, the newest of each series first."""
    rows = session.execute(
        select_issues()
        .where(ReportIssueRow.id.in_(issue_ids))
        .order_by(ProjectRow.name, ReportIssueRow.name, ReportIssueRow.number.desc())
    )
    return [issue_record(*row) for row in rows]


def find_numbered(
    session: Session, *, project: str, name: str, number: int | None
) -> IssueRecord | None:
    """An issue of a series by its number, the newest without one."""
    statement = select_issues().where(ProjectRow.name == project, ReportIssueRow.name == name)
    if number is not None:
        statement = statement.where(ReportIssueRow.number == number)
    found = session.execute(statement.order_by(ReportIssueRow.number.desc()).limit(1)).first()
    return None if found is None else issue_record(*found)


def issues_before(
    session: Session, issue: IssueRecord, state: IssueState, *, limit: int
) -> list[IssueRecord]:
    """Earlier issues of the same series in a state, newest first."""
    rows = session.execute(
        select_issues()
        .where(
            ReportIssueRow.project_id == issue.project_id,
            ReportIssueRow.name == issue.name,
            ReportIssueRow.number < issue.number,
            ReportIssueRow.state == state,
        )
        .order_by(ReportIssueRow.number.desc())
        .limit(limit)
    )
    return [issue_record(*row) for row in rows]


def issues_without_work(session: Session, *, limit: int) -> list[int]:
    """Ids of pending issues that no work stands for, oldest first."""
    asked = exists().where(WorkRow.key == "report:" + cast(ReportIssueRow.id, Text))
    return list(
        session.scalars(
            select(ReportIssueRow.id)
            .where(ReportIssueRow.state == IssueState.PENDING, ~asked)
            .order_by(ReportIssueRow.id)
            .limit(limit)
        )
    )


def select_issues() -> Any:
    """Issues with the names of their projects, to be narrowed."""
    return select(ReportIssueRow, ProjectRow.name).join(
        ProjectRow, ProjectRow.id == ReportIssueRow.project_id
    )


def issue_record(row: ReportIssueRow, project: str) -> IssueRecord:
    """A row as a record that can leave the store."""
    return IssueRecord(
        id=row.id,
        schedule_id=row.schedule_id,
        project_id=row.project_id,
        project=project,
        name=row.name,
        number=row.number,
        fire_time=row.fire_time,
        due=row.due,
        state=IssueState(row.state),
        covers_missed=row.covers_missed,
        scope=row.scope,
        delivery=row.delivery,
        headline=row.headline,
        data_digest=row.data_digest,
        error=row.error,
        created_at=row.created_at,
        computed_at=row.computed_at,
        summary=row.summary,
    )
