"""What was changed by whom, for admins."""

from __future__ import annotations

from flask import Blueprint, jsonify, make_response, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.access import Role
from offdiag.services.access.audit import (
    EVENTS_PER_PAGE,
    MOST_EVENTS,
    AuditFilter,
    AuditPage,
    browse_audit,
)
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import csv_response
from offdiag_web.app.paths import TWIN
from offdiag_web.app.permissions import needs
from offdiag_web.presenters.access.audit_log import (
    AUDIT_COLUMNS,
    audit_lines,
    audit_records,
    audit_rows,
)
from offdiag_web.urls.query_string import with_query

blueprint = Blueprint("audit_log", __name__)

_PATH = "/settings/audit"
_LONGEST = 200
_LARGEST = 2**62


@blueprint.get(_PATH)
@needs(Role.ADMIN)
def page() -> Response:
    wanted, found = _wanted(), _found(EVENTS_PER_PAGE)
    query = {"actor": wanted.actor, "project": wanted.project, "q": wanted.text}
    text = render_template(
        "audit_log.html",
        lines=audit_lines(found.events, now=current_registry().database.clock()),
        wanted=wanted,
        csv_url=_url(".csv", query),
        json_url=_url(".json", query),
        first_url=_url("", query) if "before" in request.args else "",
        next_url=_url("", {**query, "before": str(found.following)}) if found.following else "",
    )
    return make_response(text)


@blueprint.get(f"{_PATH}{TWIN}")
@needs(Role.ADMIN)
def twin(form: str) -> Response:
    found = _found(MOST_EVENTS)
    if form == "json":
        return jsonify(events=audit_records(found.events), following=found.following)
    return csv_response("audit", AUDIT_COLUMNS, audit_rows(found.events))


def _found(limit: int) -> AuditPage:
    before = request.args.get("before", "")
    place = int(before) if before.isdecimal() and int(before[:20]) < _LARGEST else None
    return browse_audit(current_registry().database, _wanted(), before=place, limit=limit)


def _wanted() -> AuditFilter:
    actor, project, text = (
        request.args.get(name, "").replace("\0", "").strip()[:_LONGEST]
        for name in ("actor", "project", "q")
    )
    return AuditFilter(actor, project, text)


def _url(end: str, query: dict[str, str]) -> str:
    return with_query(f"{_PATH}{end}", {name: value or None for name, value in query.items()})
