"""The data of the report pages, one function per page and one transaction per call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from offdiag.errors import NotFound
from offdiag.reports.document import read_report, read_scope, read_summary
from offdiag.reports.report import EditionSummary, Report
from offdiag.reports.scope import ReportScope
from offdiag.services.delivery.message import read_targets
from offdiag.services.jobs.page import is_alive
from offdiag.store import deliveries, reports, schedules
from offdiag.store.database import Database, Session
from offdiag.store.deliveries import DeliveryRecord
from offdiag.store.job_lease import Heartbeat, list_heartbeats
from offdiag.store.reports import EditionRecord, FileFacts, StoredFile, file_facts, report_series
from offdiag.store.runs import names_of
from offdiag.store.schedules import ScheduleRecord


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """One report: a schedule, a series of editions, or usually both.

    `next_due` is None if there is no schedule or it is paused. `scope` and `targets` are those of
    the schedule, else of the newest edition. `deliveries` are those of `last`, and `summary` is
    that of the newest computed edition.
    """

    project: str
    name: str
    scope: ReportScope
    targets: tuple[str, ...]
    schedule: ScheduleRecord | None
    next_due: datetime | None
    n_editions: int
    last: EditionRecord | None
    deliveries: tuple[DeliveryRecord, ...]
    summary: EditionSummary | None


@dataclass(frozen=True, slots=True)
class ReportsPage:
    """All reports by project and name, and the schedulers, most recently seen first.

    `baselines` has the names of baselines by id, except those of deleted runs.
    """

    entries: tuple[ReportEntry, ...]
    schedulers: tuple[Heartbeat, ...]
    baselines: Mapping[str, str]

    @property
    def has_scheduler(self) -> bool:
        """Whether a scheduler has given a sign of life within half a minute."""
        return is_alive(self.schedulers)


@dataclass(frozen=True, slots=True)
class EditionPage:
    """One edition; `report` is None until it is computed, and if it can no longer be read."""

    edition: EditionRecord
    targets: tuple[str, ...]
    deliveries: tuple[DeliveryRecord, ...]
    files: tuple[FileFacts, ...]
    report: Report | None


def reports_page(database: Database, *, project: str | None = None) -> ReportsPage:
    """All reports of the registry, or of one project."""
    with database.read() as session:
        entries = tuple(_entries(session, project))
        schedulers = list_heartbeats(session, "scheduler")
        baselines = baseline_names(session, entries)
    return ReportsPage(entries, schedulers, baselines)


def edition_page(
    database: Database, *, project: str, name: str, number: int | None = None
) -> EditionPage:
    """One edition, by default the newest. Raises `NotFound`."""
    with database.read() as session:
        edition = edition_named(session, project, name, number)
        return EditionPage(
            edition,
            tuple(target.text for target in read_targets(edition.delivery)),
            tuple(deliveries.deliveries_of(session, [edition.id])[edition.id]),
            file_facts(session, edition.id),
            _frozen(session, edition),
        )


def edition_file(
    database: Database, *, project: str, name: str, number: int | None = None, kind: str
) -> StoredFile:
    """One file of an edition, byte for byte. Raises `NotFound`, also until it is computed."""
    with database.read() as session:
        edition = edition_named(session, project, name, number)
        found = reports.read_files(session, edition.id, [kind])
    if not found:
        raise NotFound(
            f"edition {edition.number} of {name!r} is {edition.state.value} "
            f"and has no {kind} file.",
            field="edition",
            hint=edition.error
            or (
                "Restore a backup, or create another edition."
                if edition.state is reports.EditionState.COMPUTED
                else "Wait until it is computed."
            ),
        )
    return found[0]


def _entries(session: Session, project: str | None) -> Iterator[ReportEntry]:
    planned = {
        (record.project, record.name): record
        for record in schedules.list_schedules(session, project=project)
    }
    created = {
        (series.project, series.name): series for series in report_series(session, project=project)
    }
    sent = deliveries.deliveries_of(session, [series.last.id for series in created.values()])
    for key in sorted(planned.keys() | created.keys()):
        schedule, series = planned.get(key), created.get(key)
        if series is None:
            yield report_entry(planned[key], schedule, None, n_editions=0)
        else:
            computed = series.computed
            yield report_entry(
                schedule or series.last,
                schedule,
                series.last,
                n_editions=series.n_editions,
                sent=sent[series.last.id],
                summary=None if computed is None else read_summary(computed.summary),
            )


def report_entry(
    source: ScheduleRecord | EditionRecord,
    schedule: ScheduleRecord | None,
    last: EditionRecord | None,
    *,
    n_editions: int,
    sent: Sequence[DeliveryRecord] = (),
    summary: EditionSummary | None = None,
) -> ReportEntry:
    """One report, described by `source`: its schedule, or without one an edition."""
    next_due = None if schedule is None else schedule.next_due
    return ReportEntry(
        project=source.project,
        name=source.name,
        scope=read_scope(source.scope),
        targets=tuple(target.text for target in read_targets(source.delivery)),
        schedule=schedule,
        next_due=None if next_due is None else datetime.fromtimestamp(next_due, UTC),
        n_editions=n_editions,
        last=last,
        deliveries=tuple(sent),
        summary=summary,
    )


def baseline_names(session: Session, entries: Sequence[ReportEntry]) -> dict[str, str]:
    """The names of the baseline runs of reports, by id."""
    return names_of(session, {run for entry in entries if (run := entry.scope.baseline)})


def edition_named(
    session: Session, project: str, name: str, number: int | None, *, field: str = "name"
) -> EditionRecord:
    """An edition of a report, by default the newest. Raises `NotFound`."""
    found = reports.find_numbered(session, project=project, name=name, number=number)
    if found is None:
        which = f"report {name!r}" if number is None else f"edition {number} of report {name!r}"
        raise NotFound(
            f"project {project!r} has no {which}.",
            field=field,
            hint="`offdiag report list` shows the reports there are.",
        )
    return found


def _frozen(session: Session, edition: EditionRecord) -> Report | None:
    files = reports.read_files(session, edition.id, ["json"])
    return read_report(json.loads(files[0].content)) if files else None
