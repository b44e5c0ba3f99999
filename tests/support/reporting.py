"""Short ways to schedules, editions and deliveries in a database of a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select, update

from offdiag.domain.runs import RunFacts
from offdiag.reports.document import read_report
from offdiag.reports.report import Report
from offdiag.reports.scope import ReportScope
from offdiag.services.delivery.message import Target
from offdiag.services.reports.edition import report_now
from offdiag.services.schedules.edit import add_schedule
from offdiag.store.database import Database
from offdiag.store.deliveries import DeliveryRecord, deliveries_of
from offdiag.store.models import ReportEditionRow, ScheduleRow, WorkRow
from offdiag.store.reports import EditionRecord, StoredFile, find_edition, read_files
from offdiag.store.schedules import ScheduleRecord
from support.filled_once import filled_once
from support.logging_runs import evaluate, log, work_off

LABELS = ("mel", "nv")
SCOPE = ReportScope(project="skin", dataset="derm")


def log_run(
    database: Database,
    *,
    name: str = "plain",
    wrong: int = 10,
    evaluated: bool = True,
    dataset: str = "derm",
    n: int = 100,
    **facts: Any,
) -> str:
    """A run on n cases of two classes of which the first `wrong` are answered wrongly."""
    actual = ["mel", "nv"] * (n // 2)
    other = {"mel": "nv", "nv": "mel"}
    predicted = [other[label] for label in actual[:wrong]] + actual[wrong:]
    run = log(
        database,
        y_true=actual,
        y_pred=predicted,
        labels=list(LABELS),
        dataset=dataset,
        facts=RunFacts(name=name, project="skin", **facts),
    )
    if evaluated:
        evaluate(database, run.id)
    return run.id


@filled_once
def log_plain_run(database: Database) -> str:
    """The only run of a registry, evaluated."""
    return log_run(database)


def weekly(
    database: Database,
    *,
    name: str = "weekly",
    cron: str = "0 6 * * 1",
    zone: str = "UTC",
    scope: ReportScope = SCOPE,
    delivery: Sequence[Target] = (),
    due: datetime | None = None,
) -> ScheduleRecord:
    """A schedule, whose next time is set by hand to `due`."""
    made = add_schedule(database, name=name, cron=cron, zone=zone, scope=scope, delivery=delivery)
    if due is not None:
        with database.write() as session:
            session.execute(
                update(ScheduleRow)
                .where(ScheduleRow.id == made.id)
                .values(next_due=due.timestamp())
            )
    return made


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def editions(database: Database) -> list[EditionRecord]:
    """All editions in the order in which they were asked for."""
    with database.read() as session:
        ids = session.scalars(select(ReportEditionRow.id).order_by(ReportEditionRow.id)).all()
        found = [find_edition(session, edition_id) for edition_id in ids]
    return [edition for edition in found if edition is not None]


def edition(database: Database, **changes: Any) -> Report:
    """One more edition of the series, computed, as it was frozen."""
    report_now(database, name="weekly", scope=replace(SCOPE, **changes))
    work_off(database)
    last = editions(database)[-1]
    assert last.state.value == "computed", last.error
    report = read_report(json.loads(files(database, last.id)["json"].content))
    assert report is not None
    return report


def files(database: Database, edition_id: int) -> dict[str, StoredFile]:
    with database.read() as session:
        kinds = ["html", "markdown", "json", "csv"]
        return {file.kind: file for file in read_files(session, edition_id, kinds)}


def deliveries(database: Database, edition_id: int) -> list[DeliveryRecord]:
    with database.read() as session:
        return deliveries_of(session, [edition_id])[edition_id]


def work_keys(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(WorkRow.key).order_by(WorkRow.id)))
