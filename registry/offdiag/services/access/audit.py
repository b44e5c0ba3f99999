"""Reading the audit log."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.store.audit_log import AuditEvent, AuditFilter, audit_events
from offdiag.store.database import Database

__all__ = ["AuditEvent", "AuditFilter", "AuditPage", "browse_audit"]

EVENTS_PER_PAGE = 50
MOST_EVENTS = 10_000


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Events, the newest first; `following` is the number that the next page begins below."""

    events: tuple[AuditEvent, ...]
    following: int | None


def browse_audit(
    database: Database,
    wanted: AuditFilter,
    *,
    before: int | None = None,
    limit: int = EVENTS_PER_PAGE,
) -> AuditPage:
    """A page of what was changed by whom."""
    with database.read() as session:
        found = audit_events(session, wanted, before=before, limit=limit + 1)
    events = tuple(found[:limit])
    return AuditPage(events, events[-1].id if len(found) > limit else None)
