"""Tables of reports, their editions and their schedules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from offdiag.cli.call import Call
from offdiag.cli.output import busy, note
from offdiag.cli.tables import facts_table, filled_table
from offdiag.domain.schedule import due_text
from offdiag.domain.sentences import visible
from offdiag.records.report import (
    Delivery,
    Edition,
    EditionWithFigures,
    ReportSummary,
    edition_with_figures,
)
from offdiag.reports.document import read_report
from offdiag.reports.headline import further_sentences
from offdiag.settings import load_settings

if TYPE_CHECKING:
    from offdiag.services.reports.edition import RequestedEdition
    from offdiag.services.reports.page import ReportsPage
    from offdiag.services.schedules.due import DueTime
    from offdiag.services.schedules.page import ScheduleEntry
    from offdiag.store.database import Database
    from offdiag.store.reports import EditionRecord

PENDING = "pending"
"""The state of an edition that is queued."""


def report_table(reports: Iterable[ReportSummary]) -> Table:
    return filled_table(
        ("report", "dataset", "editions", "newest", "headline", "sent"),
        (
            (
                f"{each.project}/{each.name}",
                each.scope.dataset,
                str(each.n_editions),
                "" if each.last is None else f"#{each.last.number} {each.last.state}",
                "" if each.last is None else _said(each.last),
                "" if each.last is None else _sent(each.last.deliveries),
            )
            for each in reports
        ),
    )


def edition_tables(edition: EditionWithFigures) -> Iterable[Table]:
    """An edition: first its headline, then its origin."""
    report = None if edition.report is None else read_report(edition.report)
    sentences = () if report is None else further_sentences(report)
    facts = {
        "headline": _said(edition),
        **{" " * place: text for place, text in enumerate(sentences, start=1)},
        "for": due_text(edition.fire_time),
        "state": edition.state,
        "data digest": edition.data_digest or "",
        "files": ", ".join(f"{file.kind} ({file.n_bytes:,} bytes)" for file in edition.files),
    }
    shown = {name: text for name, text in facts.items() if text}
    yield facts_table(f"{edition.name} #{edition.number}", shown)
    if edition.deliveries:
        yield filled_table(
            ("to", "state", "attempts", "last error"),
            (
                (each.target, each.state, str(each.attempts), each.error or "")
                for each in edition.deliveries
            ),
            title="Deliveries",
        )


def _said(edition: Edition) -> str:
    return edition.headline or edition.error or ""


def _sent(deliveries: Sequence[Delivery]) -> str:
    if not deliveries:
        return ""
    return f"{sum(each.state == 'sent' for each in deliveries)} of {len(deliveries)}"


def waited_for(
    database: Database, asked: RequestedEdition, *, project: str, timeout_s: float
) -> EditionWithFigures:
    """A queued edition, once it is computed or the time is up."""
    from offdiag.services.reports.edition import wait_for_edition
    from offdiag.services.reports.page import edition_page

    jobs = load_settings().jobs
    with busy(f"Computing edition {asked.number}"):
        wait_for_edition(database, asked.edition_id, timeout_s=timeout_s, settings=jobs)
    page = edition_page(database, project=project, name=asked.name, number=asked.number)
    return edition_with_figures(page)


def present_edition(edition: EditionWithFigures, call: Call) -> None:
    """Print an edition; exit code 1 if it failed, is not done, or a delivery was refused."""
    call.print(edition, edition_tables(edition))
    if edition.state == PENDING:
        note("It is queued. Start offdiag worker, or wait: nothing is lost.")
    is_refused = any(each.state == "refused" for each in edition.deliveries)
    if is_refused or edition.state != "computed":
        click.get_current_context().exit(1)


def schedule_table(entries: Sequence[ScheduleEntry]) -> Table:
    table = Table()
    for name in ("report", "dataset", "schedule", "next", "last edition"):
        table.add_column(name)
    for entry in entries:
        record = entry.schedule
        table.add_row(
            Text(visible(f"{record.project}/{record.name}")),
            Text(visible(entry.report.scope.dataset)),
            entry.problem or entry.words,
            _moment(entry.next_due_times[0]) if entry.next_due_times else "paused",
            Text(_last(entry.report.last)),
        )
    return table


def schedule_facts(entry: ScheduleEntry) -> Table:
    record, scope = entry.schedule, entry.report.scope
    facts = {
        "project": record.project,
        "schedule": entry.words,
        "cron": f"{record.cron} ({record.zone})",
        "problem": entry.problem,
        "next": "paused" if not record.enabled else "\n".join(map(_moment, entry.next_due_times)),
        "dataset": scope.dataset,
        "metrics": ", ".join(scope.metrics),
        "slices": ", ".join(scope.slices),
        "baseline": scope.baseline,
        "cost matrix": scope.cost_matrix,
        "sent to": ", ".join(entry.report.targets) or "no one; it is stored here",
        "last due": due_text(record.last_fire or ""),
        "last edition": _last(entry.report.last),
    }
    shown = {name: text for name, text in facts.items() if text}
    lines = {}
    for name, text in shown.items():
        first, *others = text.splitlines()
        lines[name] = first
        lines |= {" " * place: line for place, line in enumerate(others, start=1)}
    return facts_table(f"Schedule {visible(record.name)}", lines)


def scheduler_sentence(page: ReportsPage) -> str:
    """Whether a scheduler is running that creates scheduled editions."""
    if page.has_scheduler:
        return f"The scheduler is up; its last heartbeat was {page.schedulers[0].age_s:.0f} s ago."
    if page.schedulers:
        return (
            f"NO SCHEDULER: the last heartbeat was {page.schedulers[0].age_s:.0f} s ago. "
            "Start offdiag worker or offdiag serve."
        )
    return "NO SCHEDULER is running. Start offdiag worker or offdiag serve."


def _moment(fire: DueTime) -> str:
    return f"{fire.wall:%a %Y-%m-%d %H:%M} {fire.zone}"


def _last(edition: EditionRecord | None) -> str:
    if edition is None:
        return ""
    said = visible(edition.headline or edition.error or "")
    return f"#{edition.number} {edition.state.value}: {said}"
