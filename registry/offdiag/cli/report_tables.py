"""Reports and their issues as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import facts_table
from offdiag.cli.text import printable
from offdiag.reports.document import report_document
from offdiag.reports.headline import further_sentences
from offdiag.services.delivery.targets import read_target
from offdiag.services.reports.pages import IssuePage, ReportEntry
from offdiag.services.reports.records import delivery_facts, issue_facts
from offdiag.store.deliveries import DeliveryRecord
from offdiag.store.reports import IssueRecord


def report_table(entries: Sequence[ReportEntry]) -> Table:
    """One line for each report."""
    table = Table()
    for name in ("report", "dataset", "issues", "newest", "says", "sent"):
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


def issue_tables(page: IssuePage) -> Iterable[Table]:
    """One issue for people: what it says first, then how it came about."""
    issue = page.issue
    sentences = () if page.report is None else further_sentences(page.report)
    facts = {
        "says": _said(issue),
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


def report_dict(entry: ReportEntry) -> dict[str, Any]:
    """One report for programs."""
    return {
        "project": entry.project,
        "name": entry.name,
        "dataset": entry.scope.dataset,
        "scheduled": entry.schedule is not None,
        "next_due": None if entry.next_due is None else entry.next_due.isoformat(),
        "targets": list(entry.targets),
        "n_issues": entry.n_issues,
        "last": None
        if entry.last is None
        else _issue(entry.last) | {"deliveries": list(map(_delivery, entry.deliveries))},
    }


def issue_dict(page: IssuePage) -> dict[str, Any]:
    """One issue for programs, with all its figures once it is computed."""
    return _issue(page.issue) | {
        "deliveries": list(map(_delivery, page.deliveries)),
        "files": {file.kind: file.sha256 for file in page.files},
        "report": None if page.report is None else report_document(page.report),
    }


def _issue(issue: IssueRecord) -> dict[str, Any]:
    return {"project": issue.project, "name": issue.name} | issue_facts(issue)


def _delivery(delivery: DeliveryRecord) -> dict[str, Any]:
    sent_at = None if delivery.sent_at is None else delivery.sent_at.isoformat()
    return delivery_facts(delivery) | {"sent_at": sent_at}


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


def _said(issue: IssueRecord | None) -> str:
    return "" if issue is None else printable(issue.headline or issue.error or "")


def _sent(deliveries: Sequence[DeliveryRecord]) -> str:
    if not deliveries:
        return ""
    sent = sum(delivery.state.value == "sent" for delivery in deliveries)
    return f"{sent} of {len(deliveries)}"
