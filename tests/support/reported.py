"""A registry with reports in every state, to be read only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select, update

from offdiag.reports.scope import Condition, ReportScope, RunTerm, Side, TermField
from offdiag.services.cost_matrices import add_costs
from offdiag.services.delivery.message import EmailTarget, FolderTarget, WebhookTarget
from offdiag.services.reports.edition import report_now
from offdiag.services.reports.task import compute_report
from offdiag.services.schedules.due import run_due_schedules
from offdiag.services.schedules.edit import add_schedule, pause_schedule
from offdiag.store.database import Database
from offdiag.store.models import DeliveryRow, ReportEditionRow, ScheduleRow, WorkRow
from offdiag_web.urls.reports import ReportAddress
from support.dashboard import HOSTILE_NAMES, log_counts

BINARY = ("malignant", "benign")
SECRET = "https://hooks.example.org/services/T0/B0/s3cret"
HOSTILE_REPORT = ReportAddress("default", f"{HOSTILE_NAMES[0]} {HOSTILE_NAMES[8]}")
FIRST_MONDAY = datetime(2026, 1, 5, 5, 0, tzinfo=UTC)
"""06:00 in Ljubljana."""
FIFTH_MONDAY = datetime(2026, 2, 2, 5, 0, tzinfo=UTC)
SIXTH_MONDAY = datetime(2026, 2, 9, 5, 0, tzinfo=UTC)


@dataclass(frozen=True)
class ReportedRegistry:
    """Reports by what they are.

    Of `weekly` the first edition is computed and sent, the second stands for three missed times
    and was refused by one target, and the third has failed.
    """

    database: Database
    weekly: ReportAddress
    by_hand: ReportAddress
    paused: ReportAddress
    pending: ReportAddress
    hostile: ReportAddress


def fill_reports(database: Database) -> ReportedRegistry:
    """Make reports on two datasets of their own, leaving everything else in the registry alone."""
    log_counts(database, [[58, 5], [4, 104]], BINARY, name="lr", dataset="reported")
    hostile = HOSTILE_NAMES[:4]
    counts = [[5 if i == j else 1 for j in range(4)] for i in range(4)]
    log_counts(database, counts, hostile, name=hostile[0], dataset=hostile[3])
    found = ReportedRegistry(
        database=database,
        weekly=_weekly(database),
        by_hand=_issued(database, "by hand", scope_on("reported")),
        paused=_planned(database, "hourly smoke", "0 * * * *", scope_on("reported")),
        hostile=_issued(
            database,
            HOSTILE_REPORT.name,
            ReportScope(
                project="default",
                dataset=hostile[3],
                terms=(RunTerm(TermField.NAME, "script"),),
                alerts=(Condition("recall", Side.BELOW, 0.99, hostile[1]),),
            ),
        ),
        # The last one: nothing computes it any more.
        pending=_pending(database),
    )
    pause_schedule(database, project="default", name="hourly smoke")
    return found


def make_editions(database: Database) -> None:
    """Compute every edition that waits, and nothing else that does; deliveries are not sent."""
    with database.read() as session:
        waiting = session.scalars(select(WorkRow).where(WorkRow.task == "report")).all()
    for work in waiting:
        write = compute_report(database, work.args)
        with database.write() as session:
            write(session)
            session.execute(delete(WorkRow).where(WorkRow.id == work.id))
            session.execute(delete(WorkRow).where(WorkRow.task == "deliver"))


def _weekly(database: Database) -> ReportAddress:
    weights = {"malignant": {"malignant": 0.0, "benign": 20.0}}
    weights["benign"] = {"malignant": 1.0, "benign": 0.0}
    add_costs(
        database,
        project="default",
        dataset="reported",
        name="triage",
        weights=weights,
        currency="EUR",
    )
    scope = ReportScope(
        project="default",
        dataset="reported",
        cost_matrix="triage",
        alerts=(Condition("recall", Side.BELOW, 0.999, "benign"),),
    )
    add_schedule(
        database,
        name="weekly",
        cron="0 6 * * 1",
        zone="Europe/Ljubljana",
        scope=scope,
        delivery=[FolderTarget("weekly"), EmailTarget("ana@example.org"), WebhookTarget(SECRET)],
    )
    _plan_for(database, FIRST_MONDAY)
    run_due_schedules(database, FIRST_MONDAY)
    make_editions(database)
    _send(database, "sent")
    log_counts(database, [[60, 3], [30, 78]], BINARY, name="lr", dataset="reported")
    run_due_schedules(database, FIFTH_MONDAY)
    make_editions(database)
    _send(database, "refused")
    run_due_schedules(database, SIXTH_MONDAY)
    _fail(database)
    return ReportAddress("default", "weekly")


def _planned(database: Database, name: str, cron: str, scope: ReportScope) -> ReportAddress:
    add_schedule(database, name=name, cron=cron, zone="UTC", scope=scope)
    return ReportAddress("default", name)


def _issued(database: Database, name: str, scope: ReportScope) -> ReportAddress:
    report_now(database, name=name, scope=scope)
    make_editions(database)
    return ReportAddress("default", name)


def _pending(database: Database) -> ReportAddress:
    report_now(database, name="being made", scope=scope_on("reported"))
    return ReportAddress("default", "being made")


def scope_on(dataset: str) -> ReportScope:
    """All runs on a dataset of the default project."""
    return ReportScope(project="default", dataset=dataset)


def _plan_for(database: Database, due: datetime) -> None:
    with database.write() as session:
        session.execute(update(ScheduleRow).values(next_due=due.timestamp()))


def _send(database: Database, state: str) -> None:
    """End the deliveries that wait: the first one as `state`, the others as sent."""
    now = database.clock()
    pending = DeliveryRow.state == "pending"
    with database.write() as session:
        first = session.scalar(select(DeliveryRow.id).where(pending).order_by(DeliveryRow.id))
        if state != "sent":
            session.execute(
                update(DeliveryRow)
                .where(DeliveryRow.id == first)
                .values(state=state, attempts=1, error="'weekly' leads out of 'reports'.")
            )
        session.execute(
            update(DeliveryRow).where(pending).values(state="sent", attempts=1, sent_at=now)
        )


def _fail(database: Database) -> None:
    """Leave the edition that waits as a worker leaves it that gave up."""
    error = f"Traceback\n  somewhere\nDatabaseUnavailable: {HOSTILE_NAMES[0]} is locked."
    with database.write() as session:
        session.execute(
            update(WorkRow)
            .where(WorkRow.task == "report")
            .values(state="dead", attempts=5, error=error)
        )
        session.execute(
            update(ReportEditionRow)
            .where(ReportEditionRow.state == "pending")
            .values(state="failed", error=error)
        )
