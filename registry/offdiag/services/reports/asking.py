"""Asking for an issue now, with a schedule or without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import require_name
from offdiag.domain.schedule import wall_of, zone_of
from offdiag.errors import Conflict, InvalidInput
from offdiag.reports.document import scope_document
from offdiag.reports.scope import ReportScope
from offdiag.services.delivery.targets import Target, target_documents
from offdiag.services.reports.costing import costs_in_scope
from offdiag.services.reports.reading import dataset_in_scope
from offdiag.services.work.submit import submit_report
from offdiag.store import reports, runs, schedules
from offdiag.store.clock import database_time
from offdiag.store.database import Database
from offdiag.store.reports import NewIssue
from offdiag.store.session import Session


@dataclass(frozen=True, slots=True)
class Asked:
    """An issue that was asked for."""

    issue_id: int
    name: str
    number: int


def report_now(
    database: Database,
    *,
    name: str,
    scope: ReportScope,
    delivery: Sequence[Target] = (),
    zone: str = "UTC",
) -> Asked:
    """Ask for one issue without a schedule; issues of the same name form a series.

    Raises `InvalidInput` for unusable names, zones and scopes, `NotFound` for an unknown
    dataset or baseline, and `Conflict` where a schedule has this name.
    """
    require_name(name, "name")
    zone_of(zone)
    with database.write() as session:
        require_reportable(session, scope)
        if schedules.find_schedule(session, project=scope.project, name=name) is not None:
            raise Conflict(
                f"{name!r} is a schedule of project {scope.project!r}.",
                field="name",
                hint=f"Run it with `offdiag schedule run {name}`, or choose another name.",
            )
        return ask_for_issue(
            session,
            now=database.clock(),
            project_id=dataset_in_scope(session, scope).project_id,
            name=name,
            zone=zone,
            scope=scope,
            delivery=delivery,
            schedule_id=None,
        )


def ask_for_issue(
    session: Session,
    *,
    now: datetime,
    project_id: int,
    name: str,
    zone: str,
    scope: ReportScope,
    delivery: Sequence[Target],
    schedule_id: int | None,
) -> Asked:
    """Insert the next issue of a series with its work; the caller commits both or neither."""
    reports.lock_series(session, project_id)
    number = reports.next_number(session, project_id=project_id, name=name)
    moment = database_time(session)
    wall = wall_of(moment, zone_of(zone))
    issue = NewIssue(
        schedule_id=schedule_id,
        project_id=project_id,
        name=name,
        # Planned fires are named by minutes; one by hand must never take the place of one.
        fire_time=f"{wall:%Y-%m-%dT%H:%M:%S} {zone} (by hand)",
        due=moment.timestamp(),
        covers_missed=0,
        scope=scope_document(scope),
        delivery=target_documents(delivery),
    )
    issue_id = reports.insert_issue(session, issue, number=number, now=now)
    if issue_id is None:
        raise Conflict(
            f"{name!r} was run in this very second.",
            field="name",
            hint="That issue is on its way; nothing was added.",
        )
    submit_report(session, issue_id)
    return Asked(issue_id, name, number)


def require_reportable(session: Session, scope: ReportScope) -> None:
    """Raise `NotFound` or `InvalidInput` where a scope names what is not there."""
    dataset = dataset_in_scope(session, scope)
    for condition in scope.alerts:
        label = condition.class_label
        if label is not None and label not in dataset.labels.index:
            raise InvalidInput(
                f"{label!r} is no class of {scope.dataset!r}.",
                field="alerts",
                hint=f"Its classes are {dataset.labels.preview()}.",
            )
    if scope.baseline is not None and runs.get_run(session, scope.baseline).dataset_id != (
        dataset.id
    ):
        raise InvalidInput(
            f"run {scope.baseline} is not a run on {scope.dataset!r}.",
            field="baseline",
            hint="Name a run on the dataset of the report.",
        )
    costs_in_scope(session, scope, dataset)
    if len(set(scope.metrics)) < len(scope.metrics):
        raise InvalidInput(
            "a metric is named twice.", field="metrics", hint="Name each metric once."
        )
