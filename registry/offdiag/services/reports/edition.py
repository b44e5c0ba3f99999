"""Requesting report editions, waiting for them, and retrying failed editions and deliveries.

An edition is requested by a schedule or without one.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.runs import require_name
from offdiag.domain.schedule import ON_DEMAND, wall_of, zone_of
from offdiag.domain.sentences import known_names
from offdiag.domain.slices import parse_slice
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.reports.document import scope_document
from offdiag.reports.scope import ReportScope, RunTerm
from offdiag.services.delivery.message import Target, target_documents
from offdiag.services.delivery.task import restart_delivery
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.page import revive_by_key
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.jobs.run_job import run_next_job
from offdiag.services.jobs.submit import delivery_key, report_key, submit_delivery, submit_report
from offdiag.services.reports.alerts import require_in_range
from offdiag.services.reports.page import edition_named
from offdiag.services.reports.snapshot import costs_in_scope, dataset_in_scope
from offdiag.services.reports.task import restart_report
from offdiag.settings import JobsSettings
from offdiag.store import deliveries, reports, runs, schedules
from offdiag.store.database import Database, Session, database_time
from offdiag.store.datasets import DatasetRecord
from offdiag.store.deliveries import DeliveryState
from offdiag.store.reports import EditionState
from offdiag.store.slices import slice_names
from offdiag.store.truths import latest_truth


@dataclass(frozen=True, slots=True)
class RequestedEdition:
    """An edition that was requested."""

    edition_id: int
    name: str
    number: int


def report_now(
    database: Database,
    *,
    name: str,
    scope: ReportScope,
    delivery: Sequence[Target] = (),
    zone: str = "UTC",
) -> RequestedEdition:
    """Request one edition without a schedule; editions of the same name form a series.

    Raises `InvalidInput` for unusable names, zones and scopes, `NotFound` for an unknown dataset
    or baseline, and `Conflict` if a schedule has this name.
    """
    require_name(name, "name")
    zone_of(zone)
    with database.write() as session:
        scope = reportable(session, scope)
        if schedules.find_schedule(session, project=scope.project, name=name) is not None:
            raise Conflict(
                f"{name!r} is a schedule of project {scope.project!r}.",
                field="name",
                hint=f"Run it with `offdiag schedule run {shlex.quote(name)}`, "
                "or choose another name.",
            )
        return request_edition(
            session,
            now=database.clock(),
            project_id=dataset_in_scope(session, scope).project_id,
            name=name,
            zone=zone,
            scope=scope,
            delivery=delivery,
            schedule_id=None,
        )


def request_edition(
    session: Session,
    *,
    now: datetime,
    project_id: int,
    name: str,
    zone: str,
    scope: ReportScope,
    delivery: Sequence[Target],
    schedule_id: int | None,
) -> RequestedEdition:
    """Insert the next edition of a series with its work; the caller commits both or neither."""
    moment = database_time(session)
    wall = wall_of(moment, zone_of(zone))
    inserted = reports.insert_edition(
        session,
        schedule_id=schedule_id,
        project_id=project_id,
        name=name,
        # Planned due times are named to the minute; a manual one must never take the place of one.
        fire_time=f"{wall:%Y-%m-%dT%H:%M:%S} {zone} {ON_DEMAND}",
        due=moment.timestamp(),
        covers_missed=0,
        scope=scope_document(scope),
        delivery=target_documents(delivery),
        now=now,
    )
    if inserted is None:
        raise Conflict(
            f"{name!r} was already run this second.",
            field="name",
            hint="That edition is on its way; nothing was added.",
        )
    edition_id, number = inserted
    submit_report(session, edition_id)
    return RequestedEdition(edition_id, name, number)


def _require_equality(term: RunTerm) -> None:
    """Raise `InvalidInput` for `fold>=3`, which would be the value 3 of a tag called `fold>`."""
    if term.value is not None and (
        term.text.endswith(("<", ">", "!")) or term.value.startswith("=")
    ):
        raise InvalidInput(
            f"'{term.text}={term.value}' is not a tag and its value.",
            field="tags",
            hint="Tags are compared with = alone, as in fold=3.",
        )


def _require_slice_columns(session: Session, scope: ReportScope, dataset: DatasetRecord) -> None:
    """Raise `InvalidInput` for a slice column that neither samples nor counted runs have.

    A dataset without any samples gets its columns with its first run.
    """
    wanted = [("slices", term.name) for text in scope.slices for term in parse_slice(text).terms]
    for each in scope.alerts:
        terms = () if each.slice is None else parse_slice(each.slice).terms
        wanted += [("alerts", name) for name in (each.by, *(term.name for term in terms)) if name]
    known = slice_names(session, dataset.id) if wanted else []
    if not known and latest_truth(session, dataset.id) is None:
        return
    for field, name in wanted:
        if name not in known:
            raise InvalidInput(
                f"{scope.dataset!r} has no slice column {name!r}.",
                field=field,
                hint=known_names("columns", known)
                if known
                else "Give its samples columns with offdiag.add_slices.",
            )


def reportable(session: Session, scope: ReportScope) -> ReportScope:
    """The scope, with metrics that its runs have if none were chosen.

    Raises `NotFound` or `InvalidInput` if it names something that does not exist.
    """
    dataset = dataset_in_scope(session, scope)
    for term in scope.terms:
        _require_equality(term)
    for condition in scope.alerts:
        require_in_range(condition)
        label = condition.class_label
        if label is not None and label not in dataset.labels.index:
            raise InvalidInput(
                f"{label!r} is not a class of {scope.dataset!r}.",
                field="alerts",
                hint=known_names("classes", dataset.labels.names),
            )
    _require_slice_columns(session, scope, dataset)
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
    return scope.for_task(dataset.task)


_LOOK_EVERY_S = 0.05


def wait_for_edition(
    database: Database, edition_id: int, *, timeout_s: float, settings: JobsSettings
) -> bool:
    """Wait until an edition is computed or has failed. False if time is up first.

    On SQLite all due jobs are done here, deliveries included, as a worker would; on a team
    database, workers are waited for.
    """
    give_up_at = time.monotonic() + timeout_s
    works_here = database.dialect == "sqlite" and timeout_s > 0
    policy = RetryPolicy(max_attempts=settings.max_attempts)
    if works_here:
        reconcile(database, policy)
    with LeaseKeeper(database, lease_s=settings.lease_s) as keeper:
        while True:
            is_idle = not works_here or run_next_job(database, keeper, policy) is None
            if is_idle and _is_finished(database, edition_id):
                return True
            if time.monotonic() >= give_up_at:
                return _is_finished(database, edition_id)
            if is_idle:
                time.sleep(_LOOK_EVERY_S)


def _is_finished(database: Database, edition_id: int) -> bool:
    with database.read() as session:
        edition = reports.find_edition(session, edition_id)
    return edition is not None and edition.state is not EditionState.PENDING


def retry_edition(database: Database, *, project: str, name: str, number: int) -> None:
    """Compute a failed edition again. Raises `NotFound`, and `Conflict` unless it failed."""
    with database.write() as session:
        edition = edition_named(session, project, name, number, field="edition")
        if edition.state is not EditionState.FAILED:
            raise Conflict(
                f"edition {number} of {name!r} is {edition.state.value}.",
                field="edition",
                hint="Only an edition that failed is computed again.",
            )
        if not revive_by_key(session, report_key(edition.id)):
            restart_report(session, {"issue": edition.id})
            submit_report(session, edition.id)


def retry_delivery(
    database: Database, *, project: str, name: str, number: int, delivery_id: int
) -> None:
    """Send an edition again to a target to which its delivery failed.

    Raises `NotFound`, and `Conflict` for a delivery that arrived or is still in progress.
    """
    with database.write() as session:
        edition = edition_named(session, project, name, number, field="edition")
        delivery = deliveries.find_delivery(session, delivery_id)
        if delivery is None or delivery.edition_id != edition.id:
            raise NotFound(
                f"edition {number} of {name!r} has no delivery {delivery_id}.", field="delivery"
            )
        if delivery.state not in {DeliveryState.FAILED, DeliveryState.REFUSED}:
            raise Conflict(
                f"delivery {delivery_id} is {delivery.state.value}.",
                field="delivery",
                hint="Only what did not arrive is sent again.",
            )
        if not revive_by_key(session, delivery_key(delivery_id)):
            restart_delivery(session, {"delivery": delivery_id})
            submit_delivery(session, delivery_id)
