"""The page of one report: its plan, its next times, the line of its values, and its issues."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from offdiag.domain.texts import DEFAULT_PROJECT
from offdiag.reports import texts
from offdiag.reports.scope import ReportScope
from offdiag.services.schedules.page import EDITIONS_PER_PAGE, EditionEntry, ReportPage
from offdiag_web.components.controls import Chip, Paging, paging, spell_short
from offdiag_web.pages.reports.report_list import NextTime, next_time
from offdiag_web.pages.reports.texts import (
    Line,
    Missed,
    alert_words,
    due_texts,
    edition_chip,
    history_line,
    missed_times,
    not_sent_words,
    said_text,
    sent_chips,
    term_words,
)
from offdiag_web.urls.datasets import DatasetAddress
from offdiag_web.urls.reports import ReportAddress


@dataclass(frozen=True, slots=True)
class EditionLine:
    """One issue of the history; `missed` are times before it that nobody was there for."""

    number: int
    url: str
    fire_time: str
    state: Chip
    said: str | None
    missed: Missed | None
    took: str | None
    sent: tuple[Chip, ...]
    not_sent: str


@dataclass(frozen=True, slots=True)
class PlanView:
    """When a report comes. `ahead` are the next times in the zone."""

    words: str
    cron: str
    zone: str
    problem: str | None
    paused: Chip | None
    next: NextTime | None
    ahead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report; `plan` is None where it has no schedule. `warning` says who is missing."""

    name: str
    project: str | None
    address: ReportAddress
    dataset: str
    dataset_url: str
    facts: tuple[tuple[str, str], ...]
    plan: PlanView | None
    warning: str | None
    line: Line | None
    issues: tuple[EditionLine, ...]
    paging: Paging
    is_pending: bool


def report_view(page: ReportPage, *, start: int, now: datetime) -> ReportView:
    """Present a report."""
    entry = page.entry
    address = ReportAddress(entry.project, entry.name)
    return ReportView(
        name=entry.name,
        project=None if entry.project == DEFAULT_PROJECT else entry.project,
        address=address,
        dataset=entry.scope.dataset,
        dataset_url=DatasetAddress(entry.project, entry.scope.dataset).url(),
        facts=_facts(entry.scope, entry.targets),
        plan=_plan(page, now),
        warning=_warning(page),
        line=history_line(page.history, entry.scope),
        issues=tuple(_edition_line(each, address) for each in page.issues),
        paging=paging(
            entry.n_issues,
            start,
            per_page=EDITIONS_PER_PAGE,
            words=("issue", "issues"),
            url=lambda first: address.url(start=first),
        ),
        is_pending=any(each.issue.state.value == "pending" for each in page.issues),
    )


def _facts(scope: ReportScope, targets: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    facts = {
        "Runs": ", ".join(term_words(scope)) or "all of the dataset",
        "Metrics": ", ".join(texts.title(key) for key in scope.metrics),
        "Costs by": scope.cost_matrix,
        "Baseline": scope.baseline,
        "Slices": ", ".join(scope.slices),
        "Alerts": "; ".join(alert_words(scope)) or "none",
        "Sent to": ", ".join(targets) or "no one; editions are stored here",
    }
    return tuple((name, text) for name, text in facts.items() if text)


def _plan(page: ReportPage, now: datetime) -> PlanView | None:
    planned = page.planned
    if planned is None:
        return None
    return PlanView(
        words=planned.words,
        cron=planned.schedule.cron,
        zone=planned.schedule.zone,
        problem=planned.problem,
        paused=None if planned.schedule.enabled else Chip("paused", "warning"),
        next=next_time(planned, now),
        ahead=due_texts(planned.next_due_times),
    )


def _warning(page: ReportPage) -> str | None:
    planned = page.planned
    if page.has_scheduler or planned is None or not planned.schedule.enabled:
        return None
    return "No scheduler is running, so this report does not come by itself."


def _edition_line(entry: EditionEntry, address: ReportAddress) -> EditionLine:
    issue = entry.issue
    took = None
    if issue.computed_at is not None:
        took = spell_short((issue.computed_at - issue.created_at).total_seconds())
    return EditionLine(
        number=issue.number,
        url=address.edition_url(issue.number),
        fire_time=issue.fire_time.replace("T", " ", 1),
        state=edition_chip(issue),
        said=said_text(issue),
        missed=missed_times(issue),
        took=took,
        sent=sent_chips(entry.deliveries),
        not_sent=not_sent_words(issue),
    )
