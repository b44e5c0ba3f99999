"""Taking over schedules, and the reports they issued with their frozen files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from sqlalchemy import RowMapping, select
from sqlalchemy.orm import Session

from offdiag.errors import Conflict, InvalidInput
from offdiag.reports.document import read_scope, scope_document
from offdiag.store.archive.known import KnownAs, copy_row, each_row_of, insert_row, rows_of
from offdiag.store.archive.project import table_of
from offdiag.store.models import DeliveryRow, ReportFileRow, ReportIssueRow, ScheduleRow

_IDENTITY = ("fire_time", "state", "data_digest", "error")


def merge_reports(source: Session, target: Session, known: KnownAs, *, project: str) -> None:
    """Take over schedules and issues that are not there. Raises `Conflict`.

    Schedules come paused: the registry they come from may go on issuing. One whose name is
    taken here stays as it is here.
    """
    for row in rows_of(source, table_of(ScheduleRow)):
        known.schedules[row["id"]] = _schedule(target, row, known, project)
    for row in rows_of(source, table_of(ReportIssueRow)):
        if not _is_there(target, row, known):
            _insert_issue(source, target, row, known, project)


def _schedule(target: Session, row: RowMapping, known: KnownAs, project: str) -> int:
    table = table_of(ScheduleRow)
    project_id = known.projects[row["project_id"]]
    found = rows_of(target, table, project_id=project_id, name=row["name"])
    if found:
        return int(found[0]["id"])
    known.paused.append(row["name"])
    return insert_row(
        target,
        table,
        row,
        known,
        project_id=project_id,
        scope=_scope(row, known, project),
        enabled=False,
        next_due=None,
    )


def _is_there(target: Session, row: RowMapping, known: KnownAs) -> bool:
    """Whether this very issue is there. One of its number or its time may be another one."""
    table = table_of(ReportIssueRow)
    of_series = (table.c.project_id == known.projects[row["project_id"]]) & (
        table.c.name == row["name"]
    )
    same = of_series & (
        (table.c.number == row["number"]) | (table.c.fire_time == row["fire_time"])
    )
    schedule_id = known.schedules.get(row["schedule_id"])
    if schedule_id is not None:
        same |= (table.c.schedule_id == schedule_id) & (table.c.fire_time == row["fire_time"])
    there = target.execute(select(table).where(same)).mappings().all()
    for issue in there:
        if [issue[name] for name in _IDENTITY] != [row[name] for name in _IDENTITY]:
            raise Conflict(
                f"report {row['name']!r} has an issue {issue['number']} of {issue['fire_time']} "
                f"here, and an issue {row['number']} of {row['fire_time']} in the archive.",
                field="report",
                hint="Nothing was imported. Import it as a project of another name (--as).",
            )
    return bool(there)


def _insert_issue(
    source: Session, target: Session, row: RowMapping, known: KnownAs, project: str
) -> None:
    issue_id = insert_row(
        target,
        table_of(ReportIssueRow),
        row,
        known,
        project_id=known.projects[row["project_id"]],
        schedule_id=known.schedules.get(row["schedule_id"]),
        scope=_scope(row, known, project),
    )
    files = table_of(ReportFileRow)
    for file in each_row_of(source, files, issue_id=row["id"]):
        copy_row(target, files, file, known, issue_id=issue_id)
    deliveries = table_of(DeliveryRow)
    for delivery in rows_of(source, deliveries, issue_id=row["id"]):
        insert_row(target, deliveries, delivery, known, issue_id=issue_id)


def _scope(row: RowMapping, known: KnownAs, project: str) -> dict[str, Any]:
    """What the report is about, by the names that things have here."""
    try:
        scope = read_scope(row["scope"])
    except (ValidationError, InvalidInput):
        raise InvalidInput(
            f"nobody can tell what report {row['name']!r} is about.",
            field="file",
            hint="Nothing was imported; the archive was made by something else than offdiag.",
        ) from None
    baseline = None if scope.baseline is None else known.runs.get(scope.baseline, scope.baseline)
    return scope_document(replace(scope, project=project, baseline=baseline))
