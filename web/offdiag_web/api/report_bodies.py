"""Schedules, reports and issues: from bodies to what services take."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.errors import InvalidInput
from offdiag.records import report as records
from offdiag.reports import scope as domain
from offdiag.services.delivery.message import (
    EmailTarget,
    FolderTarget,
    NotifyTarget,
    Target,
    WebhookTarget,
)


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
