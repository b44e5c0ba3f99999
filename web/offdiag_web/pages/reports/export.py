"""Reports and issues for the JSON and CSV twins of their pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from offdiag.reports.document import scope_document
from offdiag.services.reports.page import IssuePage, ReportEntry
from offdiag.services.reports.records import delivery_facts, issue_facts
from offdiag.services.schedules.page import IssueEntry, ReportPage, SchedulesPage
from offdiag.store.deliveries import DeliveryRecord
from offdiag.store.reports import IssueRecord
from offdiag_web.app.exports import Cell

REPORT_COLUMNS = (
    *("project", "report", "dataset", "cron", "zone", "is_paused", "next_due", "issues"),
    *("last_issue", "last_state", "last_headline", "missed_before_last", "alerts", "open_flags"),
)
ISSUE_COLUMNS = (
    *("issue", "fire_time", "state", "covers_missed", "headline", "data_digest", "error"),
    *("created_at", "computed_at"),
)


def reports_record(page: SchedulesPage) -> dict[str, object]:
    """All reports, and whether anybody ticks."""
    return {
        "has_scheduler": page.reports.has_scheduler,
        "reports": [report_record(entry) for entry in page.reports.entries],
    }


def report_record(entry: ReportEntry) -> dict[str, object]:
    """One report with its newest issue."""
    schedule, last, summary = entry.schedule, entry.last, entry.summary
    return {
        "project": entry.project,
        "name": entry.name,
        "scope": scope_document(entry.scope),
        "schedule": None
        if schedule is None
        else {"cron": schedule.cron, "zone": schedule.zone, "is_paused": not schedule.enabled},
        "next_due": None if entry.next_due is None else entry.next_due.isoformat(),
        "targets": list(entry.targets),
        "n_issues": entry.n_issues,
        "summary": None if summary is None else asdict(summary),
        "last": None if last is None else issue_record(last, entry.deliveries),
    }


def report_page_record(page: ReportPage) -> dict[str, object]:
    """One report with its newest issues and its next times."""
    planned = page.planned
    record = report_record(page.entry)
    del record["summary"], record["last"]
    return record | {
        "next_times": []
        if planned is None
        else [
            {"due": fire.due.isoformat(), "local": f"{fire.wall:%Y-%m-%dT%H:%M}"}
            for fire in planned.next_fires
        ],
        "has_scheduler": page.has_scheduler,
        "issues": [issue_record(each.issue, each.deliveries) for each in page.issues],
    }


def issue_page_record(page: IssuePage) -> dict[str, object]:
    """One issue with the digests of its files; its figures are in report.json."""
    return issue_record(page.issue, page.deliveries) | {
        "files": [{"kind": file.kind, "sha256": file.sha256} for file in page.files]
    }


def issue_record(issue: IssueRecord, deliveries: Sequence[DeliveryRecord]) -> dict[str, object]:
    """One issue without its figures, with its deliveries."""
    return issue_facts(issue) | {"deliveries": [delivery_facts(each) for each in deliveries]}


def report_rows(entries: Sequence[ReportEntry]) -> list[tuple[Cell, ...]]:
    """One line per report."""
    return [
        (
            entry.project,
            entry.name,
            entry.scope.dataset,
            entry.schedule.cron if entry.schedule else None,
            entry.schedule.zone if entry.schedule else None,
            int(not entry.schedule.enabled) if entry.schedule else None,
            entry.next_due.isoformat() if entry.next_due else None,
            entry.n_issues,
            entry.last.number if entry.last else None,
            entry.last.state.value if entry.last else None,
            entry.last.headline if entry.last else None,
            entry.last.covers_missed if entry.last else None,
            entry.summary.n_alerts if entry.summary else None,
            entry.summary.n_open_flags if entry.summary else None,
        )
        for entry in entries
    ]


def issue_rows(issues: Sequence[IssueEntry]) -> list[tuple[Cell, ...]]:
    """One line per issue."""
    return [
        (
            entry.issue.number,
            entry.issue.fire_time,
            entry.issue.state.value,
            entry.issue.covers_missed,
            entry.issue.headline,
            entry.issue.data_digest,
            entry.issue.error,
            entry.issue.created_at.isoformat(),
            None if entry.issue.computed_at is None else entry.issue.computed_at.isoformat(),
        )
        for entry in issues
    ]
