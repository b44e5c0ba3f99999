"""One report with the history of its issues, and one issue with its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.reports.files import SUFFIXES
from offdiag.reports.headline import further_sentences
from offdiag.services.delivery.targets import read_target
from offdiag.services.reports.pages import IssueEntry, IssuePage, ReportPage
from offdiag.services.schedules.fires import Fire
from offdiag.services.schedules.pages import ScheduleEntry
from offdiag.store.deliveries import DeliveryRecord
from offdiag_web.addresses.reports import ReportAddress
from offdiag_web.exports import Cell
from offdiag_web.presenters import numbers
from offdiag_web.presenters.chips import Chip
from offdiag_web.presenters.reports import (
    ReportLine,
    delivery_chip,
    issue_chip,
    missed_text,
    report_line,
    sent_chips,
)
from offdiag_web.presenters.times import Moment, moment, spell_short

ISSUE_COLUMNS = (
    *("issue", "fire_time", "state", "covers_missed", "headline", "data_digest", "error"),
    *("created_at", "computed_at"),
)
FILE_NAMES = {kind: f"report{suffix}" for kind, suffix in SUFFIXES.items()}
_FILE_WORDS = {"html": "HTML", "markdown": "Markdown", "json": "JSON", "csv": "CSV"}


@dataclass(frozen=True, slots=True)
class IssueLine:
    """One issue of the history."""

    number: int
    url: str
    fire_time: str
    state: Chip
    headline: str | None
    missed: str | None
    took: str | None
    sent: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class ReportPageView:
    """A report with its issues, newest first."""

    line: ReportLine
    ahead: tuple[str, ...]
    issues: tuple[IssueLine, ...]


def report_page_view(
    page: ReportPage, planned: ScheduleEntry | None, *, now: datetime
) -> ReportPageView:
    """Present a report; `planned` is its schedule, if it has one."""
    line = report_line(page.entry, planned, now=now)
    return ReportPageView(
        line=line,
        ahead=() if planned is None else fire_texts(planned.next_fires),
        issues=tuple(_issue_line(entry, line.address) for entry in page.issues),
    )


def fire_texts(fires: Sequence[Fire]) -> tuple[str, ...]:
    """Times by the clocks of their zone."""
    return tuple(f"{fire.wall:%a %d %b %Y %H:%M}" for fire in fires)


def _issue_line(entry: IssueEntry, address: ReportAddress) -> IssueLine:
    issue = entry.issue
    took = None
    if issue.computed_at is not None:
        took = spell_short((issue.computed_at - issue.created_at).total_seconds())
    return IssueLine(
        number=issue.number,
        url=address.issue_url(issue.number),
        fire_time=issue.fire_time,
        state=issue_chip(issue),
        headline=issue.headline if issue.error is None else last_line(issue.error),
        missed=missed_text(issue),
        took=took,
        sent=sent_chips(entry.deliveries),
    )


def last_line(error: str) -> str:
    """The line of an error that says most."""
    lines = error.strip().splitlines()
    return lines[-1] if lines else "no error was told"


@dataclass(frozen=True, slots=True)
class FileLink:
    """One frozen form of an issue."""

    text: str
    url: str
    size: str
    digest: str
    is_page: bool


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """One delivery; `error` is of its latest attempt."""

    target: str
    state: Chip
    attempts: str
    error: str | None
    sent: Moment | None


@dataclass(frozen=True, slots=True)
class IssueView:
    """One issue. `sentences` follow the headline."""

    name: str
    number: int
    address: ReportAddress
    state: Chip
    is_pending: bool
    fire_time: str
    missed: str | None
    headline: str | None
    sentences: tuple[str, ...]
    error: str | None
    data_digest: str | None
    files: tuple[FileLink, ...]
    deliveries: tuple[DeliveryLine, ...]
    previous_url: str | None


def issue_view(page: IssuePage, *, now: datetime) -> IssueView:
    """Present an issue."""
    issue = page.issue
    address = ReportAddress(issue.project, issue.name)
    return IssueView(
        name=issue.name,
        number=issue.number,
        address=address,
        state=issue_chip(issue),
        is_pending=issue.state.value == "pending",
        fire_time=issue.fire_time,
        missed=missed_text(issue),
        headline=issue.headline,
        sentences=() if page.report is None else further_sentences(page.report),
        error=issue.error,
        data_digest=issue.data_digest,
        files=tuple(
            FileLink(
                text=_FILE_WORDS[file.kind],
                url=address.file_url(issue.number, FILE_NAMES[file.kind]),
                size=f"{max(round(file.n_bytes / 1024), 1)} KiB",
                digest=file.sha256,
                is_page=file.kind == "html",
            )
            for kind in FILE_NAMES
            for file in page.files
            if file.kind == kind
        ),
        deliveries=tuple(_delivery(each, now) for each in page.deliveries),
        previous_url=address.issue_url(issue.number - 1) if issue.number > 1 else None,
    )


def _delivery(each: DeliveryRecord, now: datetime) -> DeliveryLine:
    return DeliveryLine(
        target=read_target(each.target).text,
        state=delivery_chip(each),
        attempts=numbers.count(each.attempts),
        error=each.error,
        sent=None if each.sent_at is None else moment(each.sent_at, now=now),
    )


def issue_rows(issues: Sequence[IssueEntry]) -> list[tuple[Cell, ...]]:
    """One line per issue for the CSV twin."""
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
