"""Reports: what they are about, when they are issued, and their issues."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from offdiag.errors import InvalidInput
from offdiag.records.base import (
    MOST_ON_A_PAGE,
    InProject,
    RequestBody,
    ResponseBody,
)
from offdiag.reports.scope import DEFAULT_METRICS, Condition, ReportScope, RunTerm, Side, TermField

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.domain.texts import Cell
    from offdiag.services.delivery.message import Target as DeliveryTarget
    from offdiag.services.reports.page import EditionPage, ReportEntry, ReportsPage
    from offdiag.services.schedules.page import ReportPage, ScheduleEntry, SchedulesPage
    from offdiag.store.deliveries import DeliveryRecord
    from offdiag.store.reports import EditionRecord


class Term(RequestBody):
    """A condition on runs: their model, a part of their name, or a tag."""

    field: TermField
    text: str
    value: str | None = None


class Alert(RequestBody):
    """Warn of every run whose value lies beyond a limit, its whole interval included."""

    metric: str
    side: Side
    limit: float
    class_label: str | None = None
    slice: str | None = Field(
        default=None, description="Only these examples.", examples=["site=z"]
    )
    over: Literal["worst", "gap"] | None = Field(
        default=None, description="The worst value of the groups of `by`, or the gap between them."
    )
    by: str | None = Field(default=None, description="A slice column.")


class ScopeOfReport(RequestBody):
    """The runs of one dataset that fulfil all terms, and what is said about them."""

    dataset: str
    terms: list[Term] = Field(default=[], max_length=50)
    baseline: str | None = Field(default=None, description="Id of a run.")
    slices: list[str] = Field(default=[], max_length=50, examples=[["country=DE"]])
    metrics: list[str] = Field(default=list(DEFAULT_METRICS), max_length=50)
    alerts: list[Alert] = Field(default=[], max_length=100)
    cost_matrix: str | None = Field(default=None, examples=["visits@2"])

    def scope(self, project: str) -> ReportScope:
        """What a report of a project is about. Raises `InvalidInput`."""
        return ReportScope(
            project=project,
            dataset=self.dataset,
            terms=tuple(RunTerm(each.field, each.text, each.value) for each in self.terms),
            baseline=self.baseline,
            slices=tuple(self.slices),
            metrics=tuple(self.metrics),
            alerts=tuple(Condition(**each.model_dump()) for each in self.alerts),
            cost_matrix=self.cost_matrix,
        )


class Target(RequestBody):
    """Where an issue is sent: exactly one of a folder, a mailbox, a web address, a place."""

    folder: str | None = None
    email: str | None = None
    webhook: str | None = None
    notify: str | None = Field(default=None, description="Name in the setting notify.targets.")


class SchedulesQuery(RequestBody):
    """Which schedules or reports are wanted."""

    project: str | None = Field(default=None, description="Only those of this project.")


class Plan(InProject):
    """When and what a schedule issues."""

    cron: str = Field(max_length=200, examples=["0 7 * * 1"])
    zone: str = Field(default="UTC", max_length=100, examples=["Europe/Berlin"])
    scope: ScopeOfReport
    delivery: list[Target] = Field(default=[], max_length=50)


class NewSchedule(Plan):
    """A schedule that is made."""

    name: str


class Schedule(ResponseBody):
    """A schedule; `delivery` names its targets without their secrets."""

    project: str
    name: str
    cron: str
    zone: str
    words: str = Field(description="The plan in words.")
    problem: str | None = Field(description="Why this machine cannot read the plan.")
    scope: ScopeOfReport
    delivery: list[str]
    enabled: bool
    version: int = Field(description="Counts the changes of its plan.")
    created_at: datetime
    updated_at: datetime


class Removed(ResponseBody):
    """What was removed."""

    project: str
    name: str


class NewReport(InProject):
    """A report that is issued once, now; issues of one name form a series."""

    name: str
    zone: str = Field(default="UTC", max_length=100)
    scope: ScopeOfReport
    delivery: list[Target] = Field(default=[], max_length=50)


class AskedIssue(ResponseBody):
    """An issue that was asked for."""

    name: str
    number: int


class Issue(ResponseBody):
    """One issue of a report without its figures."""

    number: int
    state: str
    fire_time: str = Field(description="Wall time and zone, as planned.")
    covers_missed: int
    headline: str | None
    data_digest: str | None
    error: str | None
    created_at: datetime
    computed_at: datetime | None


class PlannedSchedule(Schedule):
    """A schedule with the next times it means and the newest issue of its report."""

    next_times: list[datetime] = Field(description="None while it is paused.")
    last_fire: str | None = Field(default=None, description="Wall time of the last planned issue.")
    last: Issue | None = None


class ScheduleList(ResponseBody):
    """Schedules by project and name."""

    schedules: list[PlannedSchedule]
    has_scheduler: bool


class Delivery(ResponseBody):
    """An issue on its way to one target."""

    id: int
    target: str
    state: str
    attempts: int
    error: str | None
    sent_at: datetime | None = None


class ReportFile(ResponseBody):
    """One form of an issue."""

    kind: str
    content_type: str
    n_bytes: int
    sha256: str


class SentIssue(Issue):
    """An issue with its deliveries."""

    deliveries: list[Delivery]


class IssueDetail(SentIssue):
    """An issue with its deliveries and files."""

    project: str
    name: str
    files: list[ReportFile]


class IssueWithFigures(IssueDetail):
    """The same with what it says; null until it is computed."""

    report: dict[str, Any] | None


class ReportPlan(ResponseBody):
    """When issues are planned."""

    cron: str
    zone: str
    is_paused: bool


class IssueCounts(ResponseBody):
    """What an issue counted; null where it does not tell."""

    n_runs: int
    n_alerts: int
    n_new_alerts: int
    n_open_flags: int | None
    n_raised_flags: int | None
    metric: str
    line: list[float | None] = Field(
        description="The best value of `metric` in each of the last issues, oldest first."
    )


class ReportBasics(ResponseBody):
    """A report: a schedule, a series of issues, or both."""

    project: str
    name: str
    scope: ScopeOfReport
    delivery: list[str]
    is_scheduled: bool
    schedule: ReportPlan | None
    next_due: datetime | None
    n_issues: int
    last: SentIssue | None


class ReportSummary(ReportBasics):
    """A report as a list shows it."""

    summary: IssueCounts | None = Field(description="Of the newest issue that was computed.")


class ReportList(ResponseBody):
    """Reports by project and name."""

    reports: list[ReportSummary]
    has_scheduler: bool


class EditionsQuery(InProject):
    """Which issues of a report are wanted, newest first."""

    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=50, ge=1, le=MOST_ON_A_PAGE)


class ReportDetail(ReportBasics):
    """A report with its next times and some of its issues, newest first."""

    next_times: list[datetime]
    has_scheduler: bool = Field(description="True where nothing is planned.")
    start: int
    issues: list[SentIssue]


def targets_of(sent: Sequence[Target]) -> tuple[DeliveryTarget, ...]:
    """Where issues are sent. Raises `InvalidInput`."""
    return tuple(_target(each, place) for place, each in enumerate(sent))


def _target(sent: Target, place: int) -> DeliveryTarget:
    from offdiag.services.delivery.message import (
        EmailTarget,
        FolderTarget,
        NotifyTarget,
        WebhookTarget,
    )

    given = {name: text for name, text in sent.model_dump().items() if text is not None}
    if len(given) != 1:
        raise InvalidInput(
            f"the target names {len(given)} places.",
            field=f"delivery[{place}]",
            hint="Name a folder, email, webhook or notify; several are several targets.",
        )
    match given:
        case {"folder": folder}:
            return FolderTarget(folder)
        case {"email": address}:
            return EmailTarget(address)
        case {"notify": name}:
            return NotifyTarget(name)
        case _:
            return WebhookTarget(given["webhook"])


def issue_document(issue: EditionRecord) -> Issue:
    """One issue without its figures."""
    return Issue.made_of(issue)


def sent_issue(issue: EditionRecord, deliveries: Sequence[DeliveryRecord]) -> SentIssue:
    """One issue without its figures, with its deliveries."""
    return SentIssue.made_of(issue, deliveries=list(map(_delivery, deliveries)))


def issue_detail(page: EditionPage) -> IssueDetail:
    """One issue with its deliveries and files."""
    return IssueDetail.made_of(
        page.issue, deliveries=list(map(_delivery, page.deliveries)), files=page.files
    )


def issue_with_figures(page: EditionPage) -> IssueWithFigures:
    """One issue with all its figures once it is computed."""
    from offdiag.reports.document import report_document

    return IssueWithFigures(
        **dict(issue_detail(page)),
        report=None if page.report is None else report_document(page.report),
    )


def report_list(page: ReportsPage) -> ReportList:
    """All reports, and whether anybody issues what is planned."""
    return ReportList(
        reports=list(map(report_summary, page.entries)), has_scheduler=page.has_scheduler
    )


def report_summary(entry: ReportEntry) -> ReportSummary:
    """A report as a list shows it."""
    return ReportSummary(
        **_report_facts(entry),
        last=None if entry.last is None else sent_issue(entry.last, entry.deliveries),
        summary=None if entry.summary is None else IssueCounts.made_of(entry.summary),
    )


def report_detail(page: ReportPage, *, start: int = 0) -> ReportDetail:
    """A report with its next times and the issues from the one at `start` on."""
    planned = page.planned
    issues = [sent_issue(each.issue, each.deliveries) for each in page.issues]
    return ReportDetail(
        **_report_facts(page.entry),
        last=issues[0] if issues else None,
        next_times=[] if planned is None else [fire.due for fire in planned.next_due_times],
        has_scheduler=page.has_scheduler,
        start=start,
        issues=issues,
    )


REPORT_COLUMNS = (
    *("project", "name", "dataset", "cron", "zone", "is_paused", "next_due", "n_issues"),
    *("last_number", "last_state", "last_headline", "last_covers_missed"),
    *("n_alerts", "n_open_flags"),
)
EDITION_COLUMNS = (
    *("number", "fire_time", "state", "covers_missed", "headline", "data_digest", "error"),
    *("created_at", "computed_at"),
)


def report_row(report: ReportSummary) -> tuple[Cell, ...]:
    """A report as a line of CSV, in the order of `REPORT_COLUMNS`."""
    plan, last, summary = report.schedule, report.last, report.summary
    return (
        *(report.project, report.name, report.scope.dataset),
        *((None,) * 3 if plan is None else plan.row(("cron", "zone", "is_paused"))),
        *report.row(("next_due", "n_issues")),
        *(
            (None,) * 4
            if last is None
            else last.row(("number", "state", "headline", "covers_missed"))
        ),
        *((None,) * 2 if summary is None else summary.row(("n_alerts", "n_open_flags"))),
    )


def schedule_document(entry: ScheduleEntry) -> Schedule:
    """A schedule."""
    record = entry.schedule
    return Schedule.made_of(
        record,
        words=entry.words,
        problem=entry.problem,
        scope=_scope(record.scope),
        delivery=entry.report.targets,
    )


def planned_schedule(entry: ScheduleEntry) -> PlannedSchedule:
    """A schedule with the next times it means and the newest issue of its report."""
    last = entry.report.last
    return PlannedSchedule(
        **dict(schedule_document(entry)),
        next_times=[fire.due for fire in entry.next_due_times],
        last_fire=entry.schedule.last_fire,
        last=None if last is None else issue_document(last),
    )


def schedule_list(page: SchedulesPage) -> ScheduleList:
    """All schedules, and whether anybody issues what they plan."""
    return ScheduleList(
        schedules=list(map(planned_schedule, page.entries)),
        has_scheduler=page.reports.has_scheduler,
    )


def _delivery(delivery: DeliveryRecord) -> Delivery:
    from offdiag.services.delivery.message import read_target

    return Delivery.made_of(delivery, target=read_target(delivery.target).text)


def _report_facts(entry: ReportEntry) -> dict[str, Any]:
    from offdiag.reports.document import scope_document

    plan = entry.schedule
    return {
        "project": entry.project,
        "name": entry.name,
        "scope": _scope(scope_document(entry.scope)),
        "delivery": list(entry.targets),
        "is_scheduled": plan is not None,
        "schedule": None
        if plan is None
        else ReportPlan(cron=plan.cron, zone=plan.zone, is_paused=not plan.enabled),
        "next_due": entry.next_due,
        "n_issues": entry.n_issues,
    }


def scope_of_report(scope: ReportScope) -> ScopeOfReport:
    """What a report is about; its project is named beside it."""
    from offdiag.reports.document import scope_document

    return _scope(scope_document(scope))


def _scope(document: Mapping[str, Any]) -> ScopeOfReport:
    """A scope as it is stored, whose project stands beside it."""
    return ScopeOfReport.model_validate(
        {key: value for key, value in document.items() if key != "project"}
    )
