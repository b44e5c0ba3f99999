"""The audit log as lines, records and cells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.services.access.audit import AuditEvent
from offdiag_web.app.exports import Cell
from offdiag_web.presenters.times import Moment, moment

AUDIT_COLUMNS = (
    *("number", "at", "actor_kind", "actor", "action", "object", "project", "request_id"),
    "detail",
)


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One change, for reading."""

    number: int
    at: Moment
    actor: str
    kind: str
    action: str
    subject: str
    project: str
    detail: str


def audit_lines(events: Sequence[AuditEvent], *, now: datetime) -> tuple[AuditLine, ...]:
    """Changes, the newest first."""
    return tuple(
        AuditLine(
            event.id,
            moment(event.at, now=now),
            event.actor or "nobody by name",
            event.actor_kind,
            event.action,
            event.subject,
            event.project or "",
            "; ".join(f"{key}: {_words(value)}" for key, value in event.detail.items()),
        )
        for event in events
    )


def audit_records(events: Sequence[AuditEvent]) -> list[dict[str, object]]:
    """Changes for programs."""
    return [
        {
            "number": event.id,
            "at": event.at.isoformat(),
            "actor_kind": event.actor_kind,
            "actor": event.actor,
            "action": event.action,
            "object": event.subject,
            "project": event.project,
            "request_id": event.request_id,
            "detail": dict(event.detail),
        }
        for event in events
    ]


def audit_rows(events: Sequence[AuditEvent]) -> Iterator[Sequence[Cell]]:
    """Changes for a spreadsheet."""
    for event in events:
        yield (
            event.id,
            event.at.isoformat(),
            event.actor_kind,
            event.actor,
            event.action,
            event.subject,
            event.project,
            event.request_id,
            json.dumps(event.detail, ensure_ascii=False),
        )


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
