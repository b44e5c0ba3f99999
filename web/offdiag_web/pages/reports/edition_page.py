"""One issue of a report, its frozen files, and another try for what failed."""

from __future__ import annotations

import base64
import hashlib
import re

from flask import Blueprint, abort, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.records.report import issue_detail
from offdiag.services.delivery.message import file_name
from offdiag.services.reports.edition import retry_delivery, retry_issue
from offdiag.services.reports.page import issue_file, issue_page
from offdiag_web.app.context import current_registry
from offdiag_web.app.exports import json_response
from offdiag_web.app.paths import asked_project
from offdiag_web.pages.reports.edition import FILE_NAMES, issue_view
from offdiag_web.pages.reports.page import REPORT
from offdiag_web.urls.reports import ReportAddress

_NUMBER = "int(min=1, max=2147483647)"
_ISSUE = f"{REPORT}/<{_NUMBER}:number>"
_DELIVERY = f"{_ISSUE}/deliveries/<int(min=1, max=9223372036854775807):delivery_id>"
_KINDS = {name: kind for kind, name in FILE_NAMES.items()}
_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)

blueprint = Blueprint("report_issue", __name__)


@blueprint.get(_ISSUE)
def page(name: str, number: int) -> Response:
    database = current_registry().database
    found = issue_page(database, project=asked_project(), name=name, number=number)
    view = issue_view(found, now=database.clock())
    return make_response(render_template("reports/edition.html", view=view))


@blueprint.get(f"{_ISSUE}.json")
def twin(name: str, number: int) -> Response:
    found = issue_page(
        current_registry().database, project=asked_project(), name=name, number=number
    )
    return json_response(issue_detail(found))


@blueprint.get(f"{_ISSUE}/<string:file>")
def frozen(name: str, number: int, file: str) -> Response:
    """A file of the issue, byte for byte, under a policy that lets it do nothing."""
    kind = _KINDS.get(file) or abort(404)
    stored = issue_file(
        current_registry().database,
        project=asked_project(),
        name=name,
        number=number,
        kind=kind,
    )
    response = make_response(stored.content)
    response.headers["Content-Type"] = stored.content_type
    response.headers["Content-Security-Policy"] = policy_of(stored.content)
    shown = "inline" if kind == "html" else "attachment"
    response.headers["Content-Disposition"] = (
        f'{shown}; filename="{file_name(name, number, kind)}"'
    )
    response.set_etag(stored.sha256)
    response.cache_control.no_cache = True
    response.cache_control.private = True
    return response.make_conditional(request)


@blueprint.post(f"{_ISSUE}/retry")
def retry(name: str, number: int) -> Response:
    project = asked_project()
    retry_issue(current_registry().database, project=project, name=name, number=number)
    return redirect(ReportAddress(project, name).issue_url(number), 303)


@blueprint.post(f"{_DELIVERY}/retry")
def resend(name: str, number: int, delivery_id: int) -> Response:
    project = asked_project()
    retry_delivery(
        current_registry().database,
        project=project,
        name=name,
        number=number,
        delivery_id=delivery_id,
    )
    return redirect(ReportAddress(project, name).issue_url(number), 303)


def policy_of(content: bytes) -> str:
    """A policy for a frozen file: nothing runs, loads, is sent or is framed.

    Only the stylesheet in its head is let in, by its digest: it stands before anything that
    people have named. `sandbox` takes the file out of this site, so that even a script that
    got past all that could reach nothing here.
    """
    styles = _STYLE.search(content)
    allowed = "'none'"
    if styles is not None:
        digest = base64.b64encode(hashlib.sha256(styles[1]).digest()).decode()
        allowed = f"'sha256-{digest}'"
    return (
        f"default-src 'none'; style-src {allowed}; sandbox; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
