"""The audit log: who changed users, tokens and settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from flask import Blueprint, jsonify, make_response, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.records.access import CHANGE_COLUMNS, change_document
from offdiag.store.audit_log import (
    EVENTS_PER_PAGE,
    MOST_EVENTS,
    AuditEvent,
    AuditFilter,
    AuditPage,
    audit_page,
)
from offdiag.store.database import Database
from offdiag_web.app.context import current_registry, requires
from offdiag_web.app.dispatch import DATA_FORMAT
from offdiag_web.app.exports import Cell, csv_stream
from offdiag_web.urls.query_string import whole_number, with_query


def audit_record(event: AuditEvent) -> dict[str, Any]:
    return {**dict(change_document(event)), "at": event.at.isoformat()}


def audit_rows(events: Iterable[AuditEvent]) -> Iterator[Sequence[Cell]]:
    for event in events:
        record = audit_record(event)
        record["detail"] = json.dumps(event.detail, ensure_ascii=False)
        yield [record[column] for column in CHANGE_COLUMNS]


blueprint = Blueprint("audit_log", __name__)

_PATH = "/settings/audit"
_LONGEST = 200
_LARGEST = 2**62


@blueprint.get(_PATH)
@requires(Role.ADMIN)
def page() -> Response:
    wanted, found = _wanted(), _found(EVENTS_PER_PAGE)
    query = {"actor": wanted.actor, "project": wanted.project, "q": wanted.text}
    text = render_template(
        "access/audit_log.html",
        events=found.events,
        wanted=wanted,
        csv_url=_url(".csv", query),
        json_url=_url(".json", query),
        first_url=_url("", query) if "before" in request.args else "",
        next_url=_url("", {**query, "before": str(found.following)}) if found.following else "",
    )
    return make_response(text)


@blueprint.get(f"{_PATH}{DATA_FORMAT}")
@requires(Role.ADMIN)
def export(form: str) -> Response:
    """JSON says where to go on after `MOST_EVENTS`; CSV has all events."""
    found = _found(MOST_EVENTS)
    if form == "json":
        return jsonify(events=[*map(audit_record, found.events)], following=found.following)
    rows = audit_rows(_from(found, current_registry().database, _wanted()))
    return csv_stream("audit", CHANGE_COLUMNS, rows)


def _from(found: AuditPage, database: Database, wanted: AuditFilter) -> Iterator[AuditEvent]:
    """The events of a page and of all pages after it, which are read while they are sent."""
    yield from found.events
    while found.following is not None:
        with database.read() as session:
            found = audit_page(session, wanted, before=found.following, limit=MOST_EVENTS)
        yield from found.events


def _found(limit: int) -> AuditPage:
    place = whole_number(request.args.get("before", ""), most=_LARGEST)
    with current_registry().database.read() as session:
        return audit_page(session, _wanted(), before=place, limit=limit)


def _wanted() -> AuditFilter:
    actor, project, text = (
        request.args.get(name, "").replace("\0", "").strip()[:_LONGEST]
        for name in ("actor", "project", "q")
    )
    return AuditFilter(actor, project, text)


def _url(end: str, query: dict[str, str]) -> str:
    return with_query(f"{_PATH}{end}", {name: value or None for name, value in query.items()})
