"""Reports: what each is about, when it comes next, and how its last issue fared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from offdiag.reports.scope import ReportScope
from offdiag.reports.wording import condition_text
from offdiag.services.heartbeats import SILENT_AFTER_S
from offdiag.services.reports.pages import ReportEntry, ReportsPage
from offdiag.services.schedules.pages import ScheduleEntry, SchedulesPage
from offdiag.store.deliveries import DeliveryRecord, DeliveryState
from offdiag.store.report_issues import IssueRecord, IssueState
from offdiag_web.addresses.reports import ReportAddress
from offdiag_web.exports import Cell
from offdiag_web.presenters import numbers
from offdiag_web.presenters.chips import Chip, Tone
from offdiag_web.presenters.times import Moment, moment, spell

REPORT_COLUMNS = (
    *("project", "report", "dataset", "cron", "zone", "is_paused", "next_due", "issues"),
    *("last_issue", "last_state", "last_headline", "missed_before_last"),
)


@dataclass(frozen=True, slots=True)
class NextTime:
    """When a schedule fires next: from now, and by the clocks of its zone."""

    ahead: str
    wall: str


@dataclass(frozen=True, slots=True)
class LastIssue:
    """The newest issue of a report."""

    number: int
    url: str
    state: Chip
    when: Moment
    headline: str | None
    missed: str | None
    sent: tuple[Chip, ...]


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One report; `words` and `cron` are None where it has no schedule."""

    name: str
    project: str | None
    address: ReportAddress
    about: str
    words: str | None
    cron: str | None
    problem: str | None
    is_paused: bool
    next: NextTime | None
    last: LastIssue | None
    n_issues: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportsView:
    """All reports and whether anybody ticks."""

    lines: tuple[ReportLine, ...]
    scheduler: Chip


def reports_view(page: SchedulesPage, *, now: datetime) -> ReportsView:
    """Present all reports, those without a schedule included."""
    planned = {(entry.report.project, entry.report.name): entry for entry in page.entries}
    return ReportsView(
        lines=tuple(
            report_line(entry, planned.get((entry.project, entry.name)), now=now)
            for entry in page.reports.entries
        ),
        scheduler=scheduler_chip(page.reports),
    )


def report_line(entry: ReportEntry, planned: ScheduleEntry | None, *, now: datetime) -> ReportLine:
    """Present one report with its schedule, if it has one."""
    address = ReportAddress(entry.project, entry.name)
    schedule = entry.schedule
    return ReportLine(
        name=entry.name,
        project=None if entry.project == "default" else entry.project,
        address=address,
        about=about_text(entry.scope),
        words=None if planned is None else planned.words,
        cron=None if schedule is None else f"{schedule.cron} in {schedule.zone}",
        problem=None if planned is None else planned.problem,
        is_paused=schedule is not None and not schedule.enabled,
        next=_next(planned, now),
        last=None if entry.last is None else _last(entry, address, now),
        n_issues=numbers.plural(entry.n_issues, "issue"),
        targets=entry.targets,
    )


def about_text(scope: ReportScope) -> str:
    """ "digits · model vit* · alert: Recall of 3 below 0.500"."""
    parts = [scope.dataset]
    parts += [
        f"{term.field.value} {term.text}" + (f"={term.value}" if term.value else "")
        for term in scope.terms
    ]
    parts += [f"slice {text}" for text in scope.slices]
    if scope.baseline is not None:
        parts.append(f"against {scope.baseline}")
    parts += [f"alert: {condition_text(alert)}" for alert in scope.alerts]
    return " · ".join(parts)


def scheduler_chip(page: ReportsPage) -> Chip:
    """Whether schedules fire at all."""
    if page.has_scheduler:
        return Chip(f"scheduler alive, seen {spell(page.schedulers[0].age_s)} ago", "good")
    if page.schedulers:
        return Chip(f"scheduler silent for {spell(page.schedulers[0].age_s)}", "error")
    return Chip(f"no scheduler seen in the last {spell(SILENT_AFTER_S)}", "warning")


def _next(planned: ScheduleEntry | None, now: datetime) -> NextTime | None:
    if planned is None or not planned.schedule.enabled or planned.report.next_due is None:
        return None
    due = planned.report.next_due
    return NextTime(ahead_text((due - now).total_seconds()), wall_text(due, planned))


def ahead_text(seconds: float) -> str:
    """ "in 3 d", or that the time has come."""
    return f"in {spell(seconds)}" if seconds >= 1 else "due now"


def wall_text(due: datetime, planned: ScheduleEntry) -> str:
    """A moment by the clocks of the schedule's zone, where that zone is known here."""
    if planned.problem is not None:
        return f"{due:%a %d %b %Y %H:%M} UTC"
    wall = due.astimezone(ZoneInfo(planned.schedule.zone))
    return f"{wall:%a %d %b %Y %H:%M} {planned.schedule.zone}"


def _last(entry: ReportEntry, address: ReportAddress, now: datetime) -> LastIssue:
    issue = entry.last
    assert issue is not None  # noqa: S101 - asked by the caller
    return LastIssue(
        number=issue.number,
        url=address.issue_url(issue.number),
        state=issue_chip(issue),
        when=moment(issue.created_at, now=now),
        headline=issue.headline if issue.error is None else issue.error.strip().splitlines()[-1],
        missed=missed_text(issue),
        sent=sent_chips(entry.deliveries),
    )


_ISSUE_WORDS: Mapping[IssueState, tuple[str, Tone]] = {
    IssueState.PENDING: ("being made", "busy"),
    IssueState.COMPUTED: ("done", "good"),
    IssueState.FAILED: ("failed", "error"),
}
_DELIVERY_WORDS: Mapping[DeliveryState, tuple[str, Tone]] = {
    DeliveryState.PENDING: ("on its way", "busy"),
    DeliveryState.SENT: ("sent", "good"),
    DeliveryState.FAILED: ("not sent", "error"),
    DeliveryState.REFUSED: ("refused", "warning"),
}


def issue_chip(issue: IssueRecord) -> Chip:
    """How the computation of an issue went."""
    return Chip(*_ISSUE_WORDS[issue.state])


def delivery_chip(delivery: DeliveryRecord) -> Chip:
    """How a delivery went, apart from the computation."""
    return Chip(*_DELIVERY_WORDS[delivery.state])


def sent_chips(deliveries: Sequence[DeliveryRecord]) -> tuple[Chip, ...]:
    """Deliveries counted by how they went."""
    counted = {
        state: sum(delivery.state is state for delivery in deliveries) for state in DeliveryState
    }
    return tuple(
        Chip(f"{numbers.count(n)} {_DELIVERY_WORDS[state][0]}", _DELIVERY_WORDS[state][1])
        for state, n in counted.items()
        if n
    )


def missed_text(issue: IssueRecord) -> str | None:
    """How many earlier times an issue stands for, at which nobody ticked."""
    if not issue.covers_missed:
        return None
    return f"also stands for {numbers.plural(issue.covers_missed, 'missed time')}"


def report_record(entry: ReportEntry) -> dict[str, object]:
    """One report for JSON twins."""
    schedule, last = entry.schedule, entry.last
    return {
        "project": entry.project,
        "name": entry.name,
        "dataset": entry.scope.dataset,
        "schedule": None
        if schedule is None
        else {"cron": schedule.cron, "zone": schedule.zone, "is_paused": not schedule.enabled},
        "next_due": None if entry.next_due is None else entry.next_due.isoformat(),
        "targets": list(entry.targets),
        "n_issues": entry.n_issues,
        "last": None if last is None else issue_record(last, entry.deliveries),
    }


def issue_record(issue: IssueRecord, deliveries: Sequence[DeliveryRecord]) -> dict[str, object]:
    """One issue for JSON twins, without its figures."""
    return {
        "number": issue.number,
        "state": issue.state.value,
        "fire_time": issue.fire_time,
        "covers_missed": issue.covers_missed,
        "headline": issue.headline,
        "data_digest": issue.data_digest,
        "error": issue.error,
        "created_at": issue.created_at.isoformat(),
        "computed_at": None if issue.computed_at is None else issue.computed_at.isoformat(),
        "deliveries": [
            {"state": each.state.value, "attempts": each.attempts, "error": each.error}
            for each in deliveries
        ],
    }


def report_rows(entries: Sequence[ReportEntry]) -> list[tuple[Cell, ...]]:
    """One line per report for the CSV twin."""
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
        )
        for entry in entries
    ]
