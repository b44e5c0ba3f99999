"""The audit log: what was changed by whom, the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from offdiag.store.models import AuditEventRow


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What to look for. `text` is part of what was done or of what it was done to."""

    actor: str = ""
    project: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One change; `detail` names the tables it touched and what its author said about it."""

    id: int
    at: datetime
    actor_kind: str
    actor: str
    action: str
    subject: str
    project: str | None
    request_id: str | None
    detail: Mapping[str, Any]


def audit_events(
    session: Session, wanted: AuditFilter, *, before: int | None, limit: int
) -> list[AuditEvent]:
    """Events with numbers below `before`, or the newest ones."""
    statement = select(AuditEventRow).order_by(AuditEventRow.id.desc()).limit(limit)
    if before is not None:
        statement = statement.where(AuditEventRow.id < before)
    if wanted.actor:
        statement = statement.where(AuditEventRow.actor == wanted.actor)
    if wanted.project:
        statement = statement.where(AuditEventRow.project == wanted.project)
    if wanted.text:
        statement = statement.where(
            or_(
                AuditEventRow.action.expression.icontains(wanted.text, autoescape=True),
                AuditEventRow.object.expression.icontains(wanted.text, autoescape=True),
            )
        )
    return [
        AuditEvent(
            row.id,
            row.at,
            row.actor_kind,
            row.actor,
            row.action,
            row.object,
            row.project,
            row.request_id,
            row.detail,
        )
        for row in session.scalars(statement)
    ]
