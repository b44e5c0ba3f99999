"""Reports: their scope and their editions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from offdiag.errors import InvalidInput
from offdiag.records.base import MOST_ON_A_PAGE, InProject, RequestBody, ResponseBody
from offdiag.reports.scope import DEFAULT_METRICS, Condition, ReportScope, RunTerm, Side, TermField

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offdiag.domain.texts import Cell
    from offdiag.services.delivery.message import Target as DeliveryTarget
    from offdiag.services.reports.page import EditionPage, ReportEntry, ReportsPage
    from offdiag.services.schedules.page import ReportPage
    from offdiag.store.database import Database
    from offdiag.store.deliveries import DeliveryRecord
    from offdiag.store.reports import EditionRecord


class Term(RequestBody):
    """A condition on runs: model, part of the name, or tag."""

    field: TermField
    text: str
    value: str | None = None


class Alert(RequestBody):
    """Warn of every run whose whole interval is beyond a limit."""

    metric: str
    side: Side
    limit: float
    class_label: str | None = None
    slice: str | None = Field(
        default=None, description="Only these examples.", examples=["site=z"]
    )
    over: Literal["worst", "gap"] | None = Field(
        default=None,
        description="Check the worst value of the groups of `by`, or the gap between groups.",
    )
    by: str | None = Field(default=None, description="A slice column.")

    # A return type would replace the fields in the description of responses.
    @model_serializer(mode="wrap")
    def _known_to_0_2(self, dump: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # noqa: ANN202
        """Clients and servers of 0.2.0 refuse fields that they do not know."""
        newer = {"slice", "over", "by"}
        fields = dump(self).items()
        return {name: value for name, value in fields if value is not None or name not in newer}


class ScopeOfReport(RequestBody):
    """The runs of one dataset that meet all terms, and what to report about them."""

    dataset: str
    terms: list[Term] = Field(default=[], max_length=50)
    baseline: str | None = Field(default=None, description="Id of a run.")
    slices: list[str] = Field(default=[], max_length=50, examples=[["country=DE"]])
    metrics: list[str] = Field(default=list(DEFAULT_METRICS), max_length=50)
    alerts: list[Alert] = Field(default=[], max_length=100)
    cost_matrix: str | None = Field(default=None, examples=["visits@2"])

    def scope(self, project: str) -> ReportScope:
        """The scope of a report in a project. Raises `InvalidInput`."""
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
    """Where an edition is sent: exactly one of a folder, an e-mail address, a URL, or a target of
    notify.targets."""

    folder: str | None = None
    email: str | None = None
    webhook: str | None = None
    notify: str | None = Field(default=None, description="Name in the setting notify.targets.")


class SchedulesQuery(RequestBody):
    """Filters for schedules or reports."""

    project: str | None = Field(default=None, description="Only in this project.")


class NewReport(InProject):
    """A report to create once, now; editions with the same name form a series."""

    name: str
    zone: str = Field(default="UTC", max_length=100)
    scope: ScopeOfReport
    delivery: list[Target] = Field(default=[], max_length=50)


class AskedEdition(ResponseBody):
    """A requested edition."""

    name: str
    number: int


class Edition(ResponseBody):
    """One edition of a report without its values."""

    number: int
    state: str
    fire_time: str = Field(description="Wall time and zone, as planned.")
    covers_missed: int
    headline: str | None
    data_digest: str | None
    error: str | None
    created_at: datetime
    computed_at: datetime | None


class Delivery(ResponseBody):
    """The delivery of an edition to one target."""

    id: int
    target: str
    state: str
    attempts: int
    error: str | None
    sent_at: datetime | None = None
    next_attempt: datetime | None = Field(
        default=None, description="Null unless it waits for an attempt."
    )


class ReportFile(ResponseBody):
    """A file of an edition in one format."""

    kind: str
    content_type: str
    n_bytes: int
    sha256: str


class SentEdition(Edition):
    """An edition with its deliveries."""

    deliveries: list[Delivery]


class EditionDetail(SentEdition):
    """An edition with its deliveries and files."""

    project: str
    name: str
    files: list[ReportFile]


class EditionWithFigures(EditionDetail):
    """The same with its content; null until it is computed."""

    report: dict[str, Any] | None


class ReportPlan(ResponseBody):
    """When editions are planned."""

    cron: str
    zone: str
    is_paused: bool


class EditionCounts(ResponseBody):
    """The counts of an edition; null if it does not have them."""

    n_runs: int
    n_alerts: int
    n_new_alerts: int
    n_open_flags: int | None
    n_raised_flags: int | None
    metric: str
    line: list[float | None] = Field(
        description="The best value of `metric` in each of the latest editions, oldest first."
    )


class ReportBasics(ResponseBody):
    """A report: a schedule, a series of editions, or both."""

    project: str
    name: str
    scope: ScopeOfReport
    delivery: list[str]
    is_scheduled: bool
    schedule: ReportPlan | None
    next_due: datetime | None
    n_editions: int
    n_issues: int = Field(
        default=0, description="The same as `n_editions`; removed in the next release."
    )
    last: SentEdition | None

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"n_issues": True}


class ReportSummary(ReportBasics):
    """A report in a list."""

    summary: EditionCounts | None = Field(description="For the newest computed edition.")


class ReportList(ResponseBody):
    """Reports by project and name."""

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"reports": {"__all__": {"n_issues"}}}

    reports: list[ReportSummary]
    has_scheduler: bool


class EditionsQuery(InProject):
    """The page of editions of a report, newest first."""

    start: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=50, ge=1, le=MOST_ON_A_PAGE)


class ReportDetail(ReportBasics):
    """A report with its next times and some of its editions, newest first."""

    next_times: list[datetime]
    has_scheduler: bool = Field(description="True if nothing is planned.")
    start: int
    editions: list[SentEdition]
    issues: list[SentEdition] = Field(
        default=[], description="The same as `editions`; removed in the next release."
    )

    only_in_the_api: ClassVar[Mapping[str, Any]] = {"n_issues": True, "issues": True}


def targets_of(sent: Sequence[Target]) -> tuple[DeliveryTarget, ...]:
    """Where editions are sent. Raises `InvalidInput`."""
    return tuple(_target(each, place) for place, each in enumerate(sent))


def _target(sent: Target, place: int) -> DeliveryTarget:
    from offdiag.services.delivery.message import TARGETS

    given = {name: text for name, text in sent.model_dump().items() if text is not None}
    if len(given) != 1:
        raise InvalidInput(
            f"the target names {len(given)} places.",
            field=f"delivery[{place}]",
            hint="Name one of folder, email, webhook, notify; add targets for more.",
        )
    ((kind, text),) = given.items()
    return TARGETS[kind](text)


def sent_edition(edition: EditionRecord, deliveries: Sequence[DeliveryRecord]) -> SentEdition:
    """One edition without its values, with its deliveries."""
    return SentEdition.made_of(edition, deliveries=list(map(_delivery, deliveries)))


def edition_detail(page: EditionPage) -> EditionDetail:
    return EditionDetail.made_of(
        page.edition, deliveries=list(map(_delivery, page.deliveries)), files=page.files
    )


def edition_with_figures(page: EditionPage) -> EditionWithFigures:
    """One edition with all its values once it is computed."""
    from offdiag.reports.document import report_document

    return EditionWithFigures(
        **dict(edition_detail(page)),
        report=None if page.report is None else report_document(page.report),
    )


def asked_reports(database: Database, asked: SchedulesQuery) -> ReportList:
    """All reports with their newest editions."""
    from offdiag.services.reports.page import reports_page

    return report_list(reports_page(database, project=asked.project))


def report_list(page: ReportsPage) -> ReportList:
    """All reports, and whether a scheduler is up for the planned ones."""
    return ReportList(
        reports=list(map(report_summary, page.entries)), has_scheduler=page.has_scheduler
    )


def report_summary(entry: ReportEntry) -> ReportSummary:
    return ReportSummary(
        **_report_facts(entry),
        last=None if entry.last is None else sent_edition(entry.last, entry.deliveries),
        summary=None if entry.summary is None else EditionCounts.made_of(entry.summary),
    )


def report_detail(page: ReportPage, *, start: int = 0) -> ReportDetail:
    """A report with its next times and the editions from the one at `start` on."""
    planned = page.planned
    editions = [sent_edition(each.edition, each.deliveries) for each in page.editions]
    return ReportDetail(
        **_report_facts(page.entry),
        last=editions[0] if editions else None,
        next_times=[] if planned is None else [fire.due for fire in planned.next_due_times],
        has_scheduler=page.has_scheduler,
        start=start,
        editions=editions,
        issues=editions,
    )


REPORT_COLUMNS = (
    *("project", "name", "dataset", "cron", "zone", "is_paused", "next_due", "n_editions"),
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
        *report.row(("next_due", "n_editions")),
        *(
            (None,) * 4
            if last is None
            else last.row(("number", "state", "headline", "covers_missed"))
        ),
        *((None,) * 2 if summary is None else summary.row(("n_alerts", "n_open_flags"))),
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
        "scope": stored_scope(scope_document(entry.scope)),
        "delivery": list(entry.targets),
        "is_scheduled": plan is not None,
        "schedule": None
        if plan is None
        else ReportPlan(cron=plan.cron, zone=plan.zone, is_paused=not plan.enabled),
        "next_due": entry.next_due,
        "n_editions": entry.n_editions,
        "n_issues": entry.n_editions,
    }


def scope_of_report(scope: ReportScope) -> ScopeOfReport:
    """The scope of a report, without its project."""
    from offdiag.reports.document import scope_document

    return stored_scope(scope_document(scope))


def stored_scope(document: Mapping[str, Any]) -> ScopeOfReport:
    """A scope as it is stored, without its project."""
    return ScopeOfReport.model_validate(
        {key: value for key, value in document.items() if key != "project"}
    )
