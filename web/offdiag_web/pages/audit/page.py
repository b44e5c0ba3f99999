"""Published numbers pasted as text: can they be true?

Nothing is stored. A short text is answered at an address of its own, which anybody can open;
a long one only where it was sent.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from flask import Blueprint, jsonify, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.audit.table_text.audit import TableTextAudit, audit_record, audit_table_text
from offdiag.audit.table_text.interpretation import Reading, read_table_text
from offdiag.domain.access import Role
from offdiag.errors import InvalidInput
from offdiag_web.app.context import requires
from offdiag_web.charts.card import Card, CardTable, card_svg
from offdiag_web.components import numbers
from offdiag_web.pages.audit.form import (
    AUDIT,
    TypedAudit,
    audit_form,
    audit_url,
    example_links,
    fits_link,
    typed_audit,
    with_real_corrections,
    without_heads_that_fail,
)
from offdiag_web.pages.audit.view import NumberLine, VerdictsView, verdicts_view

_MOST_LINES = 9
_LONGEST_NAME, _LONGEST_REASON = 28, 56


def audit_card(verdicts: VerdictsView) -> str:
    """The card of an audit as an SVG document: what contradicts comes first."""
    lines = [(model.name, line) for model in verdicts.models for line in model.lines]
    lines.sort(key=lambda each: ("error", "warning", "good").index(_tone(each[1])))
    hidden = len(lines) - _MOST_LINES
    more = f"{numbers.plural(hidden, 'more number')} not shown · " if hidden > 0 else ""
    counts = ", ".join(f"{each.count} {each.mark.text}" for each in verdicts.marked.counts)
    return card_svg(
        Card(
            title="Audit of published numbers",
            subtitle=counts,
            statement=verdicts.sentence,
            table=CardTable(
                ("Number", "Printed", "Verdict", "Reason"),
                list(_rows(lines[:_MOST_LINES])),
                strong=2,
            ),
            picture=None,
            picture_title="",
            foot=f"{more}checked within rounding · offdiag",
        )
    )


def _tone(line: NumberLine) -> str:
    tone = line.verdict.tone
    return tone if tone in {"error", "warning"} else "good"


def _rows(lines: list[tuple[str | None, NumberLine]]) -> Iterator[tuple[str, ...]]:
    for model, line in lines:
        name = f"{model}: {line.name}" if model else line.name
        yield (
            numbers.shortened(name, longest=_LONGEST_NAME),
            line.printed,
            line.verdict.text,
            textwrap.shorten(line.why, _LONGEST_REASON, placeholder=" …"),
        )


blueprint = Blueprint("audit", __name__)

_REFUSED = 422


@blueprint.get(AUDIT)
def page() -> Response:
    typed = typed_audit(request.args)
    if not typed.table.strip():
        return _shown(typed, None, None)
    try:
        return _shown(typed, audit_table_text(typed.table, typed.corrections), None)
    except InvalidInput as refused:
        return _shown(typed, None, refused)


@blueprint.get(f"{AUDIT}/card.svg")
def card() -> Response:
    typed = typed_audit(request.args)
    verdicts = verdicts_view(audit_table_text(typed.table, typed.corrections))
    return make_response(audit_card(verdicts), {"Content-Type": "image/svg+xml"})


@blueprint.post(AUDIT)
@requires(Role.VIEWER)
def send() -> Response:
    typed = typed_audit(request.form)
    try:
        typed = with_real_corrections(typed)
        audit = audit_table_text(typed.table, typed.corrections)
    except InvalidInput as refused:
        return _shown(typed, None, refused, status=_REFUSED)
    if fits_link(typed):
        return redirect(audit_url(typed), 303)
    return _shown(typed, audit, None)


@blueprint.get(f"{AUDIT}.json")
def twin() -> Response:
    return _record(typed_audit(request.args))


@blueprint.post(f"{AUDIT}.json")
@requires(Role.VIEWER)
def twin_of_sent() -> Response:
    return _record(with_real_corrections(typed_audit(request.form)))


def _record(typed: TypedAudit) -> Response:
    return jsonify(audit_record(audit_table_text(typed.table, typed.corrections)))


def _shown(
    typed: TypedAudit,
    audit: TableTextAudit | None,
    refused: InvalidInput | None,
    *,
    status: int = 200,
) -> Response:
    reading = _reading(typed) if audit is None else audit.reading
    response = make_response(
        render_template(
            "audit/page.html",
            form=audit_form(typed, reading, refused),
            verdicts=None if audit is None else verdicts_view(audit),
            examples=example_links(),
            card_url=audit_url(typed, "svg") if fits_link(typed) else None,
            own_url=audit_url(typed) if fits_link(typed) else None,
            json_url=audit_url(typed, "json") if fits_link(typed) else None,
        )
    )
    response.status_code = status
    return response


def _reading(typed: TypedAudit) -> Reading | None:
    """How a text that was refused would be read without what is wrong about it."""
    try:
        kept = without_heads_that_fail(typed)
        return read_table_text(kept.table, kept.corrections)[0] if kept.table.strip() else None
    except InvalidInput:
        return None
