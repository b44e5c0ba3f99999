"""The list of reports: scope, next time and last edition of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from flask import render_template
from markupsafe import Markup

from offdiag.domain.values import MetricValue
from offdiag.metrics import metric_text
from offdiag.reports.report import EditionSummary
from offdiag.services.reports.page import ReportEntry
from offdiag.services.schedules.page import ScheduleEntry, SchedulesPage
from offdiag_web.charts.trend import sparkline
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, ahead_text, paging
from offdiag_web.pages.reports.texts import (
    EditionLine,
    edition_line,
    scheduler_chip,
    scope_words,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.query_string import named_project
from offdiag_web.urls.reports import ReportAddress, reports_url

REPORTS_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class NextTime:
    """The next time of a schedule: from now, and in its zone.

    `zone` is the zone shown with it, UTC if its own is unknown here.
    """

    ahead: str
    wall: str
    zone: str


@dataclass(frozen=True, slots=True)
class Trend:
    """The best values of the last editions as a line, and the last value as a number."""

    mark: Markup
    value: str
    title: str


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One report; `words` and `cron` are None if it has no schedule.

    `problem` says why its schedule cannot be read here. `findings` are the warnings of the newest
    computed edition.
    """

    name: str
    project: str | None
    url: str
    dataset: str
    dataset_url: str
    about: tuple[str, ...]
    words: str | None
    cron: str | None
    problem: str | None
    is_paused: bool
    next: NextTime | None
    last: EditionLine | None
    findings: tuple[Chip, ...]
    trend: Trend | None


def reports_view(page: SchedulesPage, notices: list[str], *, start: int, now: datetime) -> str:
    """Present the reports from `start` on, including those without a schedule."""
    planned = {(entry.report.project, entry.report.name): entry for entry in page.entries}
    entries = page.reports.entries
    part = paging(
        len(entries),
        start,
        per_page=REPORTS_PER_PAGE,
        words=("report", "reports"),
        url=lambda first: reports_url(start=first),
    )
    return render_template(
        "reports/page.html",
        lines=tuple(
            _line(
                entry,
                planned.get((entry.project, entry.name)),
                page.reports.baselines,
                now=now,
            )
            for entry in entries[part.start : part.end]
        ),
        paging=part,
        scheduler=scheduler_chip(page.reports),
        is_ticking=page.reports.has_scheduler,
        notices=notices,
    )


def _line(
    entry: ReportEntry,
    planned: ScheduleEntry | None,
    baselines: Mapping[str, str],
    *,
    now: datetime,
) -> ReportLine:
    address = ReportAddress(entry.project, entry.name)
    schedule = entry.schedule
    n_alerts = len(entry.scope.alerts)
    watched = (numbers.plural(n_alerts, "alert condition"),) if n_alerts else ()
    return ReportLine(
        name=entry.name,
        project=named_project(entry.project),
        url=address.url(),
        dataset=entry.scope.dataset,
        dataset_url=DatasetAddress(entry.project, entry.scope.dataset).url(),
        about=(
            *(() if entry.summary is None else (numbers.plural(entry.summary.n_runs, "run"),)),
            *scope_words(entry.scope, baselines),
            *watched,
        ),
        words=None if planned is None else planned.words,
        cron=None if schedule is None else schedule.cron,
        problem=None if planned is None else planned.problem,
        is_paused=schedule is not None and not schedule.enabled,
        next=next_time(planned, now),
        last=None if entry.last is None else edition_line(entry.last, entry.deliveries, address),
        findings=finding_chips(entry.summary),
        trend=_trend(entry.summary),
    )


def next_time(planned: ScheduleEntry | None, now: datetime) -> NextTime | None:
    """The next time of a schedule; None if it is paused or does not exist."""
    if planned is None or not planned.schedule.enabled or planned.report.next_due is None:
        return None
    due = planned.report.next_due
    zone = ZoneInfo(planned.schedule.zone) if planned.problem is None else UTC
    return NextTime(
        ahead_text((due - now).total_seconds()),
        f"{due.astimezone(zone):%a %d %b %Y %H:%M}",
        str(zone),
    )


def finding_chips(summary: EditionSummary | None) -> tuple[Chip, ...]:
    """Warnings of an edition: alerts and flags, with the number of new ones."""
    if summary is None:
        return ()
    chips = []
    if summary.n_alerts:
        new = f", {summary.n_new_alerts} new" if summary.n_new_alerts else ""
        chips.append(Chip(f"{numbers.plural(summary.n_alerts, 'alert')}{new}", "warning"))
    if summary.n_open_flags:
        new = f", {summary.n_raised_flags} new" if summary.n_raised_flags else ""
        chips.append(Chip(f"{numbers.plural(summary.n_open_flags, 'open flag')}{new}", "warning"))
    return tuple(chips) or (Chip("none"),)


def _trend(summary: EditionSummary | None) -> Trend | None:
    if summary is None or all(value is None for value in summary.line):
        return None
    shown = [_value_text(summary.metric, value) for value in summary.line]
    known = [text for text in shown if text is not None]
    title = metric_text.title(summary.metric)
    span, best = numbers.plural(len(shown), "edition"), metric_text.title_inside(summary.metric)
    values = ", ".join(text or "none" for text in shown)
    return Trend(
        mark=sparkline(summary.line, name=f"Best {best} in each of {span}: {values}"),
        value=shown[-1] or known[-1],
        title=title,
    )


def _value_text(metric: str, value: float | None) -> str | None:
    return (
        None
        if value is None
        else metric_text.shown(metric_text.printed(metric, MetricValue(value)))
    )
