"""Schedules, reports and issues: from bodies to what services take, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from offdiag.errors import InvalidInput
from offdiag.records import report as records
from offdiag.reports import scope as domain
from offdiag.reports.document import scope_document
from offdiag.services.delivery.message import (
    EmailTarget,
    FolderTarget,
    Target,
    WebhookTarget,
    read_targets,
)
from offdiag.services.reports.page import IssuePage, ReportEntry
from offdiag.services.reports.records import delivery_facts, issue_facts
from offdiag.services.schedules.page import ScheduleEntry
from offdiag.store.reports import IssueRecord


def scope_of(sent: records.ScopeOfReport, project: str) -> domain.ReportScope:
    """What a report is about. Raises `InvalidInput`."""
    return domain.ReportScope(
        project=project,
        dataset=sent.dataset,
        terms=tuple(domain.RunTerm(each.field, each.text, each.value) for each in sent.terms),
        baseline=sent.baseline,
        slices=tuple(sent.slices),
        metrics=tuple(sent.metrics),
        alerts=tuple(
            domain.Condition(each.metric, each.side, each.limit, each.class_label)
            for each in sent.alerts
        ),
        cost_matrix=sent.cost_matrix,
    )


def targets_of(sent: Sequence[records.Target]) -> tuple[Target, ...]:
    """Where issues are sent. Raises `InvalidInput`."""
    return tuple(_target(each, place) for place, each in enumerate(sent))


def _target(sent: records.Target, place: int) -> Target:
    given = {name: text for name, text in sent.model_dump().items() if text is not None}
    if len(given) != 1:
        raise InvalidInput(
            f"the target names {len(given)} places.",
            field=f"delivery[{place}]",
            hint="Name a folder, an email or a webhook; several are several targets.",
        )
    match given:
        case {"folder": folder}:
            return FolderTarget(folder)
        case {"email": address}:
            return EmailTarget(address)
        case _:
            return WebhookTarget(given["webhook"])


def schedule(entry: ScheduleEntry) -> records.Schedule:
    return records.Schedule(**_schedule_facts(entry))


def planned(entry: ScheduleEntry) -> records.PlannedSchedule:
    return records.PlannedSchedule(
        **_schedule_facts(entry), next_times=[fire.due for fire in entry.next_fires]
    )


def _schedule_facts(entry: ScheduleEntry) -> dict[str, Any]:
    record = entry.schedule
    return {
        "project": record.project,
        "name": record.name,
        "cron": record.cron,
        "zone": record.zone,
        "words": entry.words,
        "problem": entry.problem,
        "scope": _stored_scope(record.scope),
        "delivery": [target.text for target in read_targets(record.delivery)],
        "enabled": record.enabled,
        "version": record.version,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def report_facts(entry: ReportEntry) -> dict[str, Any]:
    """The fields of a `ReportSummary`."""
    return {
        "project": entry.project,
        "name": entry.name,
        "scope": _stored_scope(scope_document(entry.scope)),
        "delivery": list(entry.targets),
        "is_scheduled": entry.schedule is not None,
        "next_due": entry.next_due,
        "n_issues": entry.n_issues,
        "last": None if entry.last is None else issue(entry.last),
    }


def issue(record: IssueRecord) -> records.Issue:
    return records.Issue.model_validate(issue_facts(record))


def issue_detail(page: IssuePage) -> records.IssueDetail:
    return records.IssueDetail(
        **issue(page.issue).model_dump(),
        deliveries=[
            records.Delivery(id=each.id, **delivery_facts(each)) for each in page.deliveries
        ],
        files=[
            records.ReportFile(
                kind=each.kind,
                content_type=each.content_type,
                n_bytes=each.n_bytes,
                sha256=each.sha256,
            )
            for each in page.files
        ],
    )


def _stored_scope(document: Mapping[str, Any]) -> records.ScopeOfReport:
    return records.ScopeOfReport.model_validate(
        {key: value for key, value in document.items() if key != "project"}
    )
