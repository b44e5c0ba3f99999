"""The reports of a registry as people look at them: series of issues, newest first."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from offdiag.store.models import ProjectRow, ReportFileRow, ReportIssueRow
from offdiag.store.report_issues import (
    IssueRecord,
    IssueState,
    find_issues,
    issue_record,
    select_issues,
)


@dataclass(frozen=True, slots=True)
class Series:
    """All issues of one name in one project, by their number and the newest of them.

    `computed` is the newest one that was computed, None before there is any.
    """

    project: str
    name: str
    n_issues: int
    last: IssueRecord
    computed: IssueRecord | None


@dataclass(frozen=True, slots=True)
class IssueList:
    """A part of the issues of a series, newest first, and how many it has in all."""

    issues: tuple[IssueRecord, ...]
    n_issues: int


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One form of an issue, without its content."""

    kind: str
    content_type: str
    n_bytes: int
    sha256: str


def report_series(session: Session, *, project: str | None = None) -> tuple[Series, ...]:
    """All series by project and name, or those of one project; two statements."""
    newest = (
        select(
            ReportIssueRow.project_id,
            ReportIssueRow.name,
            func.max(ReportIssueRow.id).label("last_id"),
            func.max(ReportIssueRow.id)
            .filter(ReportIssueRow.state == IssueState.COMPUTED)
            .label("computed_id"),
            func.count().label("n_issues"),
        )
        .group_by(ReportIssueRow.project_id, ReportIssueRow.name)
        .subquery()
    )
    statement = select(ProjectRow.name.label("project"), newest).join(
        ProjectRow, ProjectRow.id == newest.c.project_id
    )
    if project is not None:
        statement = statement.where(ProjectRow.name == project)
    rows = session.execute(statement.order_by(ProjectRow.name, newest.c.name)).all()
    wanted = {issue_id for row in rows for issue_id in (row.last_id, row.computed_id)} - {None}
    found = {issue.id: issue for issue in find_issues(session, sorted(wanted))}
    return tuple(
        Series(row.project, row.name, row.n_issues, found[row.last_id], found.get(row.computed_id))
        for row in rows
    )


def issues_of(session: Session, *, project: str, name: str, start: int, limit: int) -> IssueList:
    """Issues of a series from the newest but `start` on, in one statement.

    The number of all is unknown, and given as 0, where none lies in that part.
    """
    rows = session.execute(
        select_issues()
        .add_columns(func.count().over().label("n_issues"))
        .where(ProjectRow.name == project, ReportIssueRow.name == name)
        .order_by(ReportIssueRow.number.desc())
        .offset(start)
        .limit(limit)
    ).all()
    return IssueList(
        tuple(issue_record(row, of) for row, of, _ in rows), rows[0].n_issues if rows else 0
    )


def newest_report_file(session: Session, *, project: str, name: str) -> bytes | None:
    """The JSON file of the newest issue of a series that was computed, None before there is."""
    return session.scalar(
        select(ReportFileRow.content)
        .join(ReportIssueRow, ReportIssueRow.id == ReportFileRow.issue_id)
        .join(ProjectRow, ProjectRow.id == ReportIssueRow.project_id)
        .where(
            ProjectRow.name == project,
            ReportIssueRow.name == name,
            ReportFileRow.kind == "json",
        )
        .order_by(ReportIssueRow.number.desc())
        .limit(1)
    )


def file_facts(session: Session, issue_id: int) -> tuple[FileFacts, ...]:
    """The forms an issue was frozen in."""
    rows = session.execute(
        select(
            ReportFileRow.kind,
            ReportFileRow.content_type,
            func.length(ReportFileRow.content),
            ReportFileRow.sha256,
        )
        .where(ReportFileRow.issue_id == issue_id)
        .order_by(ReportFileRow.kind)
    )
    return tuple(FileFacts(*row) for row in rows)
