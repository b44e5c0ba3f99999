"""Reports, their editions and their schedules as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click
from rich.table import Table
from rich.text import Text

from offdiag.cli.output import busy, note, print_json, print_tables
from offdiag.cli.tables import facts_table
from offdiag.cli.text import printable
from offdiag.records.report import issue_with_figures
from offdiag.reports.headline import further_sentences
from offdiag.services.delivery.message import read_target
from offdiag.services.jobs.attempts import RetryPolicy
from offdiag.services.reports.edition import RequestedEdition, wait_for_edition
from offdiag.services.reports.page import EditionPage, ReportEntry, ReportsPage, issue_page
from offdiag.services.schedules.page import ScheduleEntry
from offdiag.services.schedules.times import DueTime
from offdiag.settings import Settings
from offdiag.store.database import Database
from offdiag.store.deliveries import DeliveryRecord, DeliveryState
from offdiag.store.reports import EditionRecord, EditionState


def report_table(entries: Sequence[ReportEntry]) -> Table:
    """One line for each report."""
    table = Table()
    for name in ("report", "dataset", "editions", "newest", "headline", "sent"):
        table.add_column(name)
    for entry in entries:
        table.add_row(
            Text(printable(f"{entry.project}/{entry.name}")),
            Text(printable(entry.scope.dataset)),
            str(entry.n_issues),
            "" if entry.last is None else f"#{entry.last.number} {entry.last.state.value}",
            Text(_said(entry.last)),
            _sent(entry.deliveries),
        )
    return table


def edition_tables(page: EditionPage) -> Iterable[Table]:
    """An edition: its headline first, then its origin."""
    issue = page.issue
    sentences = () if page.report is None else further_sentences(page.report)
    facts = {
        "headline": _said(issue),
        **{" " * place: text for place, text in enumerate(sentences, start=1)},
        "for": issue.fire_time,
        "state": issue.state.value,
        "data digest": issue.data_digest or "",
        "files": ", ".join(f"{file.kind} ({file.n_bytes:,} bytes)" for file in page.files),
    }
    shown = {name: text for name, text in facts.items() if text}
    yield facts_table(f"{printable(issue.name)} #{issue.number}", shown)
    if page.deliveries:
        yield _delivery_table(page.deliveries)


def _delivery_table(deliveries: Sequence[DeliveryRecord]) -> Table:
    table = Table(title="Deliveries", title_justify="left")
    for name in ("to", "state", "attempts", "last error"):
        table.add_column(name)
    for delivery in deliveries:
        table.add_row(
            Text(printable(read_target(delivery.target).text)),
            delivery.state.value,
            str(delivery.attempts),
            Text(printable(delivery.error or "")),
        )
    return table


def _said(issue: EditionRecord | None) -> str:
    return "" if issue is None else printable(issue.headline or issue.error or "")


def _sent(deliveries: Sequence[DeliveryRecord]) -> str:
    if not deliveries:
        return ""
    sent = sum(delivery.state.value == "sent" for delivery in deliveries)
    return f"{sent} of {len(deliveries)}"


def present_edition(
    context: click.Context,
    database: Database,
    settings: Settings,
    asked: RequestedEdition,
    *,
    project: str,
    timeout: float,
    as_json: bool,
) -> None:
    """Wait for an edition and print it; exit code 1 if it failed, is not done, or a
    delivery was refused."""
    with busy(f"Computing edition {asked.number}"):
        wait_for_edition(
            database,
            asked.issue_id,
            timeout_s=timeout,
            lease_s=settings.jobs.lease_s,
            policy=RetryPolicy(max_attempts=settings.jobs.max_attempts),
        )
    page = issue_page(database, project=project, name=asked.name, number=asked.number)
    if as_json:
        print_json(issue_with_figures(page).plain())
    else:
        print_tables(*edition_tables(page))
    if page.issue.state is EditionState.PENDING:
        note("It is queued. Start offdiag worker, or wait: nothing is lost.")
    is_refused = any(each.state is DeliveryState.REFUSED for each in page.deliveries)
    if is_refused or page.issue.state is not EditionState.COMPUTED:
        context.exit(1)


def schedule_table(entries: Sequence[ScheduleEntry]) -> Table:
    """One line for each schedule."""
    table = Table()
    for name in ("report", "dataset", "schedule", "next", "last edition"):
        table.add_column(name)
    for entry in entries:
        record = entry.schedule
        table.add_row(
            Text(printable(f"{record.project}/{record.name}")),
            Text(printable(entry.report.scope.dataset)),
            entry.problem or entry.words,
            _next(entry),
            Text(_last(entry.report.last)),
        )
    return table


def schedule_facts(entry: ScheduleEntry) -> Table:
    """One schedule for people."""
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
        "last due": record.last_fire,
        "last edition": _last(entry.report.last),
    }
    shown = {name: text for name, text in facts.items() if text}
    lines = {}
    for name, text in shown.items():
        first, *others = text.splitlines()
        lines[name] = first
        lines |= {" " * place: line for place, line in enumerate(others, start=1)}
    return facts_table(f"Schedule {printable(record.name)}", lines)


def scheduler_sentence(page: ReportsPage) -> str:
    """Whether a scheduler is up to create scheduled editions."""
    if page.has_scheduler:
        return f"The scheduler is up; its last heartbeat was {page.schedulers[0].age_s:.0f} s ago."
    if page.schedulers:
        return (
            f"NO SCHEDULER: the last heartbeat was {page.schedulers[0].age_s:.0f} s ago. "
            "Start offdiag worker or offdiag serve."
        )
    return "NO SCHEDULER is running. Start offdiag worker or offdiag serve."


def _next(entry: ScheduleEntry) -> str:
    return _moment(entry.next_due_times[0]) if entry.next_due_times else "paused"


def _moment(fire: DueTime) -> str:
    return f"{fire.wall:%a %Y-%m-%d %H:%M} {fire.zone}"


def _last(issue: EditionRecord | None) -> str:
    if issue is None:
        return ""
    return f"#{issue.number} {issue.state.value}: {printable(issue.headline or issue.error or '')}"
