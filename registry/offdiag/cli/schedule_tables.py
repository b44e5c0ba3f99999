"""Schedules as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import facts_table
from offdiag.cli.text import printable
from offdiag.reports.document import scope_document
from offdiag.services.reports.pages import ReportsPage
from offdiag.services.schedules.fires import Fire
from offdiag.services.schedules.pages import ScheduleEntry
from offdiag.store.reports import IssueRecord


def schedule_table(entries: Sequence[ScheduleEntry]) -> Table:
    """One line for each schedule."""
    table = Table()
    for name in ("report", "dataset", "schedule", "next", "last issue"):
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
        "next": "paused" if not record.enabled else "\n".join(map(_moment, entry.next_fires)),
        "dataset": scope.dataset,
        "metrics": ", ".join(scope.metrics),
        "slices": ", ".join(scope.slices),
        "baseline": scope.baseline,
        "cost matrix": scope.cost_matrix,
        "sent to": ", ".join(entry.report.targets) or "nobody; it is kept here",
        "last fire": record.last_fire,
        "last issue": _last(entry.report.last),
    }
    shown = {name: text for name, text in facts.items() if text}
    lines = {}
    for name, text in shown.items():
        first, *others = text.splitlines()
        lines[name] = first
        lines |= {" " * place: line for place, line in enumerate(others, start=1)}
    return facts_table(f"Schedule {printable(record.name)}", lines)


def schedule_dict(entry: ScheduleEntry) -> dict[str, Any]:
    """One schedule for programs."""
    record, last = entry.schedule, entry.report.last
    return {
        "project": record.project,
        "name": record.name,
        "cron": record.cron,
        "zone": record.zone,
        "words": entry.words,
        "problem": entry.problem,
        "enabled": record.enabled,
        "version": record.version,
        "next": [
            {"due": fire.due.isoformat(), "local": f"{fire.wall:%Y-%m-%dT%H:%M}"}
            for fire in entry.next_fires
        ],
        "last_fire": record.last_fire,
        "scope": scope_document(entry.report.scope),
        "targets": list(entry.report.targets),
        "last_issue": None
        if last is None
        else {"number": last.number, "state": last.state.value, "headline": last.headline},
    }


def scheduler_sentence(page: ReportsPage) -> str:
    """Whether anybody will issue what is planned."""
    if page.has_scheduler:
        return (
            f"The scheduler is alive; its last heartbeat was {page.schedulers[0].age_s:.0f} s ago."
        )
    if page.schedulers:
        return (
            f"NO SCHEDULER: the last heartbeat was {page.schedulers[0].age_s:.0f} s ago. "
            "Start offdiag worker or offdiag serve."
        )
    return "NO SCHEDULER is running. Start offdiag worker or offdiag serve."


def _next(entry: ScheduleEntry) -> str:
    return _moment(entry.next_fires[0]) if entry.next_fires else "paused"


def _moment(fire: Fire) -> str:
    return f"{fire.wall:%a %Y-%m-%d %H:%M} {fire.zone}"


def _last(issue: IssueRecord | None) -> str:
    if issue is None:
        return ""
    return f"#{issue.number} {issue.state.value}: {printable(issue.headline or issue.error or '')}"
