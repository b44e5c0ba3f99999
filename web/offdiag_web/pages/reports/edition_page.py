"""One edition of a report, its stored files, and retries of what failed."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import datetime

from flask import Blueprint, abort, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.domain.schedule import due_text
from offdiag.domain.sentences import visible
from offdiag.records.report import edition_with_figures
from offdiag.reports.document import provenance
from offdiag.reports.files import SUFFIXES, FileKind
from offdiag.reports.finding_tables import flags_table, tables_of_findings
from offdiag.reports.headline import further_sentences
from offdiag.reports.report import Report
from offdiag.reports.tables import Table, tables_of_figures
from offdiag.services.delivery.message import file_name, read_target
from offdiag.services.examples.selection import ExampleQuestion
from offdiag.services.reports.edition import retry_delivery, retry_edition
from offdiag.services.reports.page import EditionPage, edition_file, edition_page
from offdiag.store.deliveries import DeliveryRecord, DeliveryState
from offdiag.store.reports import EditionState
from offdiag_web.app.context import current_registry
from offdiag_web.app.dispatch import requested_project
from offdiag_web.app.errors import capitalised
from offdiag_web.app.exports import json_response
from offdiag_web.components import numbers
from offdiag_web.components.controls import Chip, ahead_text
from offdiag_web.components.samples import example_strip
from offdiag_web.pages.reports.page import REPORT
from offdiag_web.pages.reports.texts import delivery_chip, history_line, missed_times
from offdiag_web.urls.flags import ProblemsAddress
from offdiag_web.urls.reports import ReportAddress

FILE_NAMES: dict[FileKind, str] = {kind: f"report{suffix}" for kind, suffix in SUFFIXES.items()}
MOST_LINES = 15
"""Most rows of a table on the page; the files have all rows."""
MOST_FLAGS = 5
"""Most rows of the table of flags, each of which is a paragraph on a small screen."""
_FILE_WORDS: dict[FileKind, str] = {
    "html": "HTML",
    "markdown": "Markdown",
    "json": "JSON",
    "csv": "CSV",
}


def _shortened(table: Table, most: int = MOST_LINES) -> Table:
    """A table with its first rows; hidden characters in names are made visible."""
    note = table.note
    if len(table.rows) > most:
        note = f"{note} The first {most} lines; the files have more.".strip()
    return replace(
        table,
        columns=tuple(map(capitalised, table.columns)),
        rows=tuple(tuple(map(visible, row)) for row in table.rows[:most]),
        note=note,
    )


_FIGURE = re.compile(r"[-+\N{MINUS SIGN}]?\d[\d.,]*( ?%| pp)?( \(.*\))?")
_WITHOUT = re.compile(r"|none|undefined.*")


def numeric_columns(table: Table) -> frozenset[int]:
    """The positions of columns that have numbers alone, with or without intervals."""
    return frozenset(
        place
        for place, cells in enumerate(zip(*table.rows, strict=True))
        if any(map(_FIGURE.fullmatch, cells))
        and all(_FIGURE.fullmatch(each) or _WITHOUT.fullmatch(each) for each in cells)
    )


def _findings(report: Report) -> list[tuple[Table, str]]:
    """Each table, and the address of the list that has more; flags are the longest by far."""
    flags = flags_table(report)
    problems = ProblemsAddress(dataset=report.scope.dataset, project=report.scope.project).url()
    return [
        (_shortened(table, MOST_FLAGS), problems) if table == flags else (_shortened(table), "")
        for table in tables_of_findings(report)
    ]


def _files(page: EditionPage, address: ReportAddress) -> tuple[tuple[str, str, str, str], ...]:
    stored = {file.kind: file for file in page.files}
    return tuple(
        (
            words,
            address.file_url(page.edition.number, FILE_NAMES[kind]),
            f"{numbers.count(max(round(stored[kind].n_bytes / 1024), 1))} KiB",
            stored[kind].sha256,
        )
        for kind, words in _FILE_WORDS.items()
        if kind in stored
    )


def _delivery(
    each: DeliveryRecord, address: ReportAddress, number: int, now: datetime
) -> tuple[DeliveryRecord, str, Chip, str | None, str | None]:
    """A delivery with its target, its state, the time until its next attempt, and where it is
    retried if it failed.
    """
    wait = None
    if each.next_attempt is not None:
        wait = ahead_text((each.next_attempt - now).total_seconds())
    did_not_arrive = each.state in {DeliveryState.FAILED, DeliveryState.REFUSED}
    retry_url = address.retry_url(number, each.id) if did_not_arrive else None
    return each, read_target(each.target).text, delivery_chip(each), wait, retry_url


_NUMBER = "int(min=1, max=2147483647)"
_EDITION = f"{REPORT}/<{_NUMBER}:number>"
_DELIVERY = f"{_EDITION}/deliveries/<int(min=1, max=9223372036854775807):delivery_id>"
_KINDS = {name: kind for kind, name in FILE_NAMES.items()}
_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)

blueprint = Blueprint("report_edition", __name__)


@blueprint.get(_EDITION)
def page(name: str, number: int) -> Response:
    database = current_registry().database
    found = edition_page(database, project=requested_project(), name=name, number=number)
    edition, report, now = found.edition, found.report, database.clock()
    address = ReportAddress(edition.project, edition.name)
    best = None if report is None else next(iter(report.ranking), None)
    html = render_template(
        "reports/edition.html",
        numeric_columns=numeric_columns,
        edition=edition,
        address=address,
        is_pending=edition.state is EditionState.PENDING,
        has_failed=edition.state is EditionState.FAILED,
        fire_time=due_text(edition.fire_time),
        missed=missed_times(edition),
        sentences=() if report is None else further_sentences(report),
        is_unreadable=edition.state is EditionState.COMPUTED and report is None,
        line=None if report is None else history_line(report.history, report.scope),
        findings=() if report is None else _findings(report),
        figures=() if report is None else map(_shortened, tables_of_figures(report)),
        provenance=()
        if report is None
        else tuple((name, visible(text)) for name, text in provenance(report)),
        files=_files(found, address),
        deliveries=tuple(
            _delivery(each, address, edition.number, now) for each in found.deliveries
        ),
        previous_url=address.edition_url(edition.number - 1) if edition.number > 1 else None,
        best_run="" if best is None else best.name,
        examples=None if best is None else example_strip(best.id, ExampleQuestion()),
    )
    return make_response(html)


@blueprint.get(f"{_EDITION}.json")
def export(name: str, number: int) -> Response:
    found = edition_page(
        current_registry().database, project=requested_project(), name=name, number=number
    )
    return json_response(edition_with_figures(found))


@blueprint.get(f"{_EDITION}/<string:file>")
def frozen(name: str, number: int, file: str) -> Response:
    """A file of the edition, byte for byte, under a policy that lets it do nothing."""
    kind = _KINDS.get(file) or abort(404)
    stored = edition_file(
        current_registry().database,
        project=requested_project(),
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


@blueprint.post(f"{_EDITION}/retry")
def retry(name: str, number: int) -> Response:
    project = requested_project()
    retry_edition(current_registry().database, project=project, name=name, number=number)
    return redirect(ReportAddress(project, name).edition_url(number), 303)


@blueprint.post(f"{_DELIVERY}/retry")
def resend(name: str, number: int, delivery_id: int) -> Response:
    project = requested_project()
    retry_delivery(
        current_registry().database,
        project=project,
        name=name,
        number=number,
        delivery_id=delivery_id,
    )
    return redirect(ReportAddress(project, name).edition_url(number), 303)


def policy_of(content: bytes) -> str:
    """A content security policy for a stored file: nothing runs, loads, is sent or is framed.

    Only the stylesheet in its head is allowed, by its digest: it comes before anything that people
    have named. `sandbox` separates the file from this site, so that even a script that got past
    all that could reach nothing here.
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
