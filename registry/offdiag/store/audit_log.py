"""The audit log: who changed what, written by the transaction that changes it.

A transaction of a known user records which tables its statements touch, and ends by inserting a
row that says so. Code that changes something need not do anything for it, and a change that is
rolled back leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, event, insert, or_, select
from sqlalchemy.orm import Session

from offdiag.domain.access import Actor
from offdiag.store.models import AuditEventRow, StoredResponseRow
from offdiag.store.models.base import record_as

KEY = "offdiag audit"
ANSWERABLE: ContextVar[Actor | None] = ContextVar("answerable", default=None)
"""The account that called a command, to which changes made through the SDK are attributed."""
LONGEST_TEXT = 500
_NEW = insert(AuditEventRow)


@dataclass(slots=True)
class _Noted:
    """What a transaction has done so far; `said` is how its service describes it.

    `projects` are those that it changes, if its address does not name one.
    """

    request_id: str | None = None
    changes: dict[str, set[str]] = field(default_factory=dict)
    said: dict[str, Any] | None = None
    projects: frozenset[str] = frozenset()


def describe(
    session: Session,
    *,
    action: str,
    subject: str,
    project: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Describe this transaction better than its statements can. `detail` holds no secrets."""
    noted = session.info.get(KEY)
    if isinstance(noted, _Noted):
        noted.said = {
            "action": action,
            "subject": subject,
            "project": project,
            "detail": dict(detail or {}),
        }


def name_projects(session: Session, projects: frozenset[str]) -> None:
    """Record which projects this transaction changes; the log gets one row for each."""
    noted = session.info.get(KEY)
    if isinstance(noted, _Noted):
        noted.projects = projects


def request_of(session: Session) -> str | None:
    """The id of the request that this transaction belongs to, None outside of requests."""
    noted = session.info.get(KEY)
    return noted.request_id if isinstance(noted, _Noted) else None


@contextmanager
def recorded(session: Session, actor: Actor, now: datetime) -> Iterator[None]:
    """Insert the audit row at the end of the transaction, if it changed anything."""
    noted = session.info[KEY] = _Noted(actor.request_id)
    connection = session.connection()

    def note(
        _connection: Connection,
        cursor: Any,
        _statement: str,
        _parameters: Any,
        context: Any,
        _many: bool,
    ) -> None:
        verb = _verb(context)
        # A statement that returns rows does not know yet how many rows it touched.
        if verb and (cursor.rowcount != 0 or context.compiled.effective_returning):
            table = context.compiled.statement.table.name
            if table == StoredResponseRow.__tablename__:
                return  # Bookkeeping of the request, whose actual change has its own row.
            noted.changes.setdefault(verb, set()).add(table)

    event.listen(connection, "after_cursor_execute", note)
    try:
        yield
        session.flush()  # Changes that are still pending count too.
    finally:
        event.remove(connection, "after_cursor_execute", note)
    if noted.changes:
        row = _row(actor, noted, now)
        rows = [{**row, "project": project} for project in sorted(noted.projects)]
        connection.execute(_NEW, rows or row)


def _verb(context: Any) -> str | None:
    if context is None or context.compiled is None:
        return None
    if context.isinsert:
        return "added"
    if context.isupdate:
        return "changed"
    return "removed" if context.isdelete else None


def _row(actor: Actor, noted: _Noted, now: datetime) -> dict[str, Any]:
    said = noted.said or {}
    touched = {verb: sorted(tables) for verb, tables in sorted(noted.changes.items())}
    return {
        "at": now,
        "actor_kind": actor.kind,
        "actor": actor.name[:LONGEST_TEXT],
        "action": said.get("action", actor.action)[:LONGEST_TEXT],
        "object": said.get("subject", actor.subject)[:LONGEST_TEXT],
        "project": said.get("project") or actor.project,
        "request_id": actor.request_id,
        "detail": {**said.get("detail", {}), **touched},
    }


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events to show. `text` is part of the action or of its subject."""

    actor: str = ""
    project: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One change; `detail` names the tables it touched and what the service said about it."""

    id: int
    at: datetime
    actor_kind: str
    actor: str
    action: str
    subject: str
    project: str | None
    request_id: str | None
    detail: Mapping[str, Any]


EVENTS_PER_PAGE = 50
MOST_EVENTS = 10_000


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Events, newest first; the next page begins below the number `following`."""

    events: tuple[AuditEvent, ...]
    following: int | None


def audit_page(
    session: Session,
    wanted: AuditFilter,
    *,
    before: int | None = None,
    limit: int = EVENTS_PER_PAGE,
) -> AuditPage:
    """Events with numbers below `before`, or the newest ones if it is None."""
    statement = select(AuditEventRow).order_by(AuditEventRow.id.desc()).limit(limit + 1)
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
    found = [record_as(AuditEvent, row, subject=row.object) for row in session.scalars(statement)]
    events = tuple(found[:limit])
    return AuditPage(events, events[-1].id if len(found) > limit else None)
