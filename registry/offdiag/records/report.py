"""Reports: what they are about, when they are issued, and their issues."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from offdiag.records.base import DEFAULT_PROJECT, MOST_ON_A_PAGE, Answered, Asked
from offdiag.reports.scope import DEFAULT_METRICS, Side, TermField


class Term(Asked):
    """A condition on runs: their model, a part of their name, or a tag."""

    field: TermField
    text: str
    value: str | None = None


class Alert(Asked):
    """Warn of every run whose value lies beyond a limit, its whole interval included."""

    metric: str
    side: Side
    limit: float
    class_label: str | None = None


class ScopeOfReport(Asked):
    """The runs of one dataset that fulfil all terms, and what is said about them."""

    dataset: str
    terms: list[Term] = Field(default=[], max_length=50)
    baseline: str | None = Field(default=None, description="Id of a run.")
    slices: list[str] = Field(default=[], max_length=50, examples=[["country=DE"]])
    metrics: list[str] = Field(default=list(DEFAULT_METRICS), max_length=50)
    alerts: list[Alert] = Field(default=[], max_length=100)
    cost_matrix: str | None = Field(default=None, examples=["visits@2"])


class Target(Asked):
    """Where an issue is sent: exactly one of a folder, a mailbox, a web address."""

    folder: str | None = None
    email: str | None = None
    webhook: str | None = None


class SchedulesWanted(Asked):
    """Which schedules or reports are wanted."""

    project: str | None = Field(default=None, description="Only those of this project.")


class Plan(Asked):
    """When and what a schedule issues."""

    project: str = DEFAULT_PROJECT
    cron: str = Field(max_length=200, examples=["0 7 * * 1"])
    zone: str = Field(default="UTC", max_length=100, examples=["Europe/Berlin"])
    scope: ScopeOfReport
    delivery: list[Target] = Field(default=[], max_length=50)


class NewSchedule(Plan):
    """A schedule that is made."""

    name: str


class Schedule(Answered):
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


class PlannedSchedule(Schedule):
    """A schedule with the next times it means."""

    next_times: list[datetime]


class ScheduleList(Answered):
    """Schedules by project and name."""

    schedules: list[PlannedSchedule]


class Removed(Answered):
    """What was removed."""

    project: str
    name: str


class NewReport(Asked):
    """A report that is issued once, now; issues of one name form a series."""

    project: str = DEFAULT_PROJECT
    name: str
    zone: str = Field(default="UTC", max_length=100)
    scope: ScopeOfReport
    delivery: list[Target] = Field(default=[], max_length=50)


class AskedIssue(Answered):
    """An issue that was asked for."""

    name: str
    number: int


class Issue(Answered):
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


class Delivery(Answered):
    """An issue on its way to one target."""

    id: int
    target: str
    state: str
    attempts: int
    error: str | None


class ReportFile(Answered):
    """One form of an issue."""

    kind: str
    content_type: str
    n_bytes: int
    sha256: str


class IssueDetail(Issue):
    """An issue with its deliveries and files."""

    deliveries: list[Delivery]
    files: list[ReportFile]


class ReportSummary(Answered):
    """A report: a schedule, a series of issues, or both."""

    project: str
    name: str
    scope: ScopeOfReport
    delivery: list[str]
    is_scheduled: bool
    next_due: datetime | None
    n_issues: int
    last: Issue | None


class ReportList(Answered):
    """Reports by project and name."""

    reports: list[ReportSummary]
    has_scheduler: bool


class IssuesWanted(Asked):
    """Which issues of a report are wanted, newest first."""

    project: str = DEFAULT_PROJECT
    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=50, ge=1, le=MOST_ON_A_PAGE)


class ReportDetail(ReportSummary):
    """A report with some of its issues, newest first."""

    start: int
    issues: list[Issue]
