"""Changing report schedules: add, change, pause, resume, remove, run now.

Also reads the definition of a report, for users who change it or make another one like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import require_name
from offdiag.errors import Conflict, Stale
from offdiag.reports.document import read_scope, scope_document
from offdiag.reports.scope import ReportScope
from offdiag.services.delivery.message import Target, read_targets, target_documents
from offdiag.services.reports.edition import RequestedEdition, reportable, request_edition
from offdiag.services.reports.page import edition_named
from offdiag.services.schedules.due import Plan, next_due_time, no_schedule
from offdiag.store import cost_matrices, datasets, schedules
from offdiag.store.cost_matrices import CostMatrixRecord
from offdiag.store.database import Database, Session, database_time
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.retries import after_races
from offdiag.store.schedules import ScheduleRecord


@dataclass(frozen=True, slots=True)
class Definition:
    """Scope, plan and targets of a report; without a schedule, those of its newest edition.

    `cron`, `zone` and `version` are None without a schedule; `version` counts its changes.
    """

    name: str
    scope: ReportScope
    targets: tuple[Target, ...]
    cron: str | None = None
    zone: str | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """The datasets and cost matrices that a report can be about."""

    datasets: tuple[DatasetFacts, ...]
    costs: tuple[CostMatrixRecord, ...]


def report_choices(database: Database) -> Choices:
    """All datasets and cost matrices, by project and name; two statements."""
    with database.read() as session:
        return Choices(dataset_list(session), tuple(cost_matrices.list_costs(session)))


def report_definition(database: Database, *, project: str, name: str) -> Definition:
    """The definition of a report. Raises `NotFound`."""
    with database.read() as session:
        planned = schedules.find_schedule(session, project=project, name=name)
        if planned is not None:
            return Definition(
                name,
                read_scope(planned.scope),
                read_targets(planned.delivery),
                planned.cron,
                planned.zone,
                planned.version,
            )
        newest = edition_named(session, project, name, None)
        return Definition(name, read_scope(newest.scope), read_targets(newest.delivery))


def add_schedule(
    database: Database,
    *,
    name: str,
    cron: str,
    zone: str,
    scope: ReportScope,
    delivery: Sequence[Target] = (),
) -> ScheduleRecord:
    """Add a schedule in the project of its scope; its first edition comes at the next due time.

    Raises `InvalidInput` for unusable expressions, zones and scopes, `NotFound` for an unknown
    dataset or baseline, and `Conflict` for a name that is in use.
    """
    require_name(name, "name")
    plan = Plan.read(cron, zone)

    def transaction(session: Session) -> ScheduleRecord:
        found = reportable(session, scope)
        project_id = datasets.project_id(session, scope.project)
        assert project_id is not None  # noqa: S101  # The dataset is in it.
        if schedules.find_schedule(session, project=scope.project, name=name) is not None:
            raise Conflict(
                f"project {scope.project!r} has a schedule {name!r}.",
                field="name",
                hint="Choose another name, or remove that one.",
            )
        schedules.insert_schedule(
            session,
            project_id=project_id,
            name=name,
            cron=plan.cron.text,
            zone=zone,
            scope=scope_document(found),
            delivery=target_documents(delivery),
            next_due=_next_due(session, plan),
            now=database.clock(),
        )
        return _found(session, scope.project, name)

    # If two are added at the same moment, the second one then finds the name in use.
    return after_races(database, transaction, finds_itself=False)


def change_schedule(
    database: Database,
    *,
    name: str,
    cron: str,
    zone: str,
    scope: ReportScope,
    delivery: Sequence[Target],
    seen_version: int | None = None,
) -> ScheduleRecord:
    """Replace plan, scope and targets of a schedule; the numbering of its editions continues.

    Raises `NotFound` and `InvalidInput` like `add_schedule`, and `Stale` if it has been changed
    since `seen_version`, if that is given. What is due at that moment but not yet created is
    created by the old plan or not at all.
    """
    plan = Plan.read(cron, zone)
    with database.write() as session:
        known = _found(session, scope.project, name)
        _require_version(known, seen_version, "saving again replaces that change")
        found = reportable(session, scope)
        schedules.change_plan(
            session,
            known.id,
            cron=plan.cron.text,
            zone=zone,
            scope=scope_document(found),
            delivery=target_documents(delivery),
            next_due=_next_due(session, plan) if known.enabled else None,
            now=database.clock(),
        )
        return _found(session, scope.project, name)


def pause_schedule(database: Database, *, project: str, name: str) -> ScheduleRecord:
    """Let a schedule create no more editions until it is resumed. Raises `NotFound`."""
    with database.write() as session:
        known = _found(session, project, name)
        schedules.set_next_due(session, known.id, next_due=None)
        return _found(session, project, name)


def resume_schedule(database: Database, *, project: str, name: str) -> ScheduleRecord:
    """Resume a schedule from its next due time; those it missed while paused are skipped.

    Raises `NotFound`.
    """
    with database.write() as session:
        known = _found(session, project, name)
        plan = Plan.read(known.cron, known.zone)
        schedules.set_next_due(session, known.id, next_due=_next_due(session, plan))
        return _found(session, project, name)


def remove_schedule(
    database: Database, *, project: str, name: str, seen_version: int | None = None
) -> None:
    """Remove a schedule; its editions stay. Raises `NotFound`, and `Stale` like the above."""
    with database.write() as session:
        known = _found(session, project, name)
        _require_version(known, seen_version, "removing it again removes that change, too")
        schedules.delete_schedule(session, known.id)


def run_schedule(database: Database, *, project: str, name: str) -> RequestedEdition:
    """Create an edition now, in addition to the planned ones. Raises `NotFound`."""
    with database.write() as session:
        return _run(session, _found(session, project, name), database.clock())


def run_report(database: Database, *, project: str, name: str) -> RequestedEdition:
    """Create an edition now, as its schedule says, or without one like its newest edition.

    Raises `NotFound`.
    """
    with database.write() as session:
        planned = schedules.lock_schedule(session, project=project, name=name)
        if planned is not None:
            return _run(session, planned, database.clock())
        last = edition_named(session, project, name, None)
        return request_edition(
            session,
            now=database.clock(),
            project_id=last.project_id,
            name=last.name,
            zone=last.fire_time.split(" ")[1],
            scope=read_scope(last.scope),
            delivery=read_targets(last.delivery),
            schedule_id=None,
        )


def _run(session: Session, known: ScheduleRecord, now: datetime) -> RequestedEdition:
    return request_edition(
        session,
        now=now,
        project_id=known.project_id,
        name=known.name,
        zone=known.zone,
        scope=read_scope(known.scope),
        delivery=read_targets(known.delivery),
        schedule_id=known.id,
    )


def _next_due(session: Session, plan: Plan) -> float:
    return next_due_time(plan, database_time(session)).due.timestamp()


def _require_version(known: ScheduleRecord, seen: int | None, again: str) -> None:
    if seen not in {None, known.version}:
        raise Stale(
            f"schedule {known.name!r} was changed in the meantime.",
            field="name",
            hint=f"Look at its page; {again}.",
        )


def _found(session: Session, project: str, name: str) -> ScheduleRecord:
    known = schedules.lock_schedule(session, project=project, name=name)
    if known is None:
        raise no_schedule(project, name)
    return known
