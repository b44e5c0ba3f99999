"""The audit page: can published numbers, pasted as text, be true?

Nothing is stored. The result for a short text has an address that can be shared; for a long text,
it is only shown in response to the form.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from flask import Blueprint, jsonify, make_response, redirect, render_template, request
from werkzeug.wrappers import Response

from offdiag.audit.reported_values import AGGREGATES, AVERAGED, AVERAGES, CLASS_KEYS
from offdiag.audit.table_text.audit import TableTextAudit, audit_record, audit_table_text
from offdiag.audit.table_text.cells import MOST_CHARACTERS
from offdiag.audit.table_text.classes import PrintedMatrix
from offdiag.audit.table_text.interpretation import Reading, read_table_text
from offdiag.domain.access import Role
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag_web.app.context import kept_audits, requires
from offdiag_web.app.errors import REFUSED, sentence_of
from offdiag_web.charts.card import Card, CardTable, card_svg
from offdiag_web.components import numbers
from offdiag_web.components.controls import Option
from offdiag_web.pages.audit.address import (
    AUDIT,
    CLASSES,
    FRACTION,
    HEAD_FIELD,
    MODELS,
    PERCENT,
    PUBLISHED_TABLES,
    TypedAudit,
    audit_url,
    example_url,
    fits_link,
    typed_audit,
    with_real_corrections,
    without_heads_that_fail,
)
from offdiag_web.pages.audit.view import NumberLine, VerdictsView, verdicts_view

MOST_NUMBERS_SHOWN = 3
"""Numbers shown next to a head, to recognise its column."""
MOST_MATRIX_CLASSES = 12
"""A larger matrix is mentioned but not shown; it is in the text."""

_FIELDS = {
    "table": "table",
    "classes": "classes",
    "positive": "positive",
    "reading": "heads",
    "unit": "unit",
}


@dataclass(frozen=True, slots=True)
class HeadLine:
    """A head of the table, the field for its meaning, and numbers of its column."""

    id: str
    head: str
    field: str
    meaning: str
    numbers: str
    is_corrected: bool


def audit_form(typed: TypedAudit, audit: TableTextAudit | None, error: InvalidInput | None) -> str:
    """Present the form, filled with what was recognised where nothing was entered."""
    reading = _reading(typed) if audit is None else audit.reading
    can_link = fits_link(typed)
    found = None if reading is None or reading.classes is None else reading.classes.written()
    return render_template(
        "audit/page.html",
        table=typed.table,
        most_characters=MOST_CHARACTERS,
        classes=typed.classes or found or "",
        positive=typed.positive or (reading.positive if reading else None) or "",
        names=_choices(
            typed.names, ("", "detected automatically"), (CLASSES, "classes"), (MODELS, "models")
        ),
        units=_choices(
            typed.unit,
            ("", "detected automatically"),
            (FRACTION, "fractions"),
            (PERCENT, "percentages"),
        ),
        heads=() if reading is None else _heads(typed, reading),
        options=_options(reading),
        matrix=None if reading is None or reading.matrix is None else _matrix(reading.matrix),
        remarks=() if reading is None else reading.remarks,
        unread=()
        if reading is None
        else tuple(
            f"Line {line}: {numbers.shortened(t, longest=90)}" for line, t in reading.unread
        ),
        error=None if error is None else sentence_of(error),
        error_field=None if error is None else _FIELDS.get(error.field or "", "table"),
        verdicts=None if audit is None else verdicts_view(audit),
        examples=[(t.title, t.source, example_url(t)) for t in PUBLISHED_TABLES],
        card_url=audit_url(typed, "svg") if can_link else None,
        own_url=audit_url(typed) if can_link else None,
        json_url=audit_url(typed, "json") if can_link else None,
    )


def _heads(typed: TypedAudit, reading: Reading) -> tuple[HeadLine, ...]:
    return tuple(
        HeadLine(
            id=f"head-{place}",
            head=head.head,
            field=f"{HEAD_FIELD}{head.head}",
            meaning=typed.heads.get(head.head) or head.meaning,
            numbers=", ".join(head.numbers[:MOST_NUMBERS_SHOWN])
            + (", …" if len(head.numbers) > MOST_NUMBERS_SHOWN else ""),
            is_corrected=head.is_corrected,
        )
        for place, head in enumerate(reading.heads, start=1)
    )


def _options(reading: Reading | None) -> tuple[str, ...]:
    """Meanings that are suggested while typing."""
    classes = () if reading is None or reading.classes is None else reading.classes.names
    averaged = [f"{average}_{metric}" for average in AVERAGES for metric in AVERAGED]
    keys = dict.fromkeys(
        (*AGGREGATES[:14], *averaged, "macro_f1_harmonic", "weighted_f1_harmonic")
    )
    return (
        *("-", "support", "total", *AVERAGES),
        *(f"[{name}]" for name in classes[:MOST_MATRIX_CLASSES]),
        *(key for key in keys if key in AGGREGATES),
        *CLASS_KEYS,
    )


def _matrix(matrix: PrintedMatrix) -> dict[str, object] | None:
    if len(matrix.labels) > MOST_MATRIX_CLASSES:
        return None
    said = {
        SourceOrientation.ACTUAL_ROWS: "As printed. Its headers say that rows are actual classes.",
        SourceOrientation.ACTUAL_COLUMNS: "As printed. Its headers say that rows are predicted "
        "classes.",
    }
    unsaid = "As printed. Nothing says whether rows are actual or predicted classes."
    return {
        "caption": unsaid if matrix.orientation is None else said[matrix.orientation],
        "names": tuple(numbers.shortened(name, longest=16) for name in matrix.labels),
        "lines": tuple(
            (numbers.shortened(name, longest=24), tuple(numbers.count(count) for count in line))
            for name, line in zip(matrix.labels, matrix.counts, strict=True)
        ),
    }


def _choices(chosen: str, *entries: tuple[str, str]) -> tuple[Option, ...]:
    values = [value for value, _ in entries]
    kept = chosen if chosen in values else ""
    return tuple(Option(value, text, value == kept) for value, text in entries)


_MOST_LINES = 9
_LONGEST_NAME, _LONGEST_REASON = 28, 56


def audit_card(verdicts: VerdictsView) -> str:
    """The card of an audit as an SVG document, with contradictions first."""
    lines = [(model.name, line) for model in verdicts.models for line in model.lines]
    lines.sort(key=lambda each: ("error", "warning", "good").index(_tone(each[1])))
    hidden = len(lines) - _MOST_LINES
    more = f"{numbers.plural(hidden, 'more number')} not shown · " if hidden > 0 else ""
    counts = ", ".join(f"{count} {mark.text}" for mark, count in verdicts.marked.counts)
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


@blueprint.get(AUDIT)
def page() -> Response:
    typed = typed_audit(request.args)
    if not typed.table.strip():
        return make_response(audit_form(typed, None, None))
    try:
        return make_response(audit_form(typed, _audited(typed), None))
    except InvalidInput as refused:
        return make_response(audit_form(typed, None, refused))


@blueprint.get(f"{AUDIT}/card.svg")
def card() -> Response:
    typed = typed_audit(request.args)
    verdicts = verdicts_view(_audited(typed))
    return make_response(audit_card(verdicts), {"Content-Type": "image/svg+xml"})


@blueprint.post(AUDIT)
@requires(Role.VIEWER)
def send() -> Response:
    typed = typed_audit(request.form)
    try:
        typed = with_real_corrections(typed)
        audit = _audited(typed)
    except InvalidInput as refused:
        return make_response(audit_form(typed, None, refused), REFUSED)
    if fits_link(typed):
        return redirect(audit_url(typed), 303)
    return make_response(audit_form(typed, audit, None))


@blueprint.get(f"{AUDIT}.json")
def export() -> Response:
    return _record(typed_audit(request.args))


@blueprint.post(f"{AUDIT}.json")
@requires(Role.VIEWER)
def export_of_sent() -> Response:
    return _record(with_real_corrections(typed_audit(request.form)))


def _audited(typed: TypedAudit) -> TableTextAudit:
    # Finding the numbers to blame takes a second, and page, card and JSON all need the result.
    return kept_audits().get(repr(typed), lambda: audit_table_text(typed.table, typed.corrections))


def _record(typed: TypedAudit) -> Response:
    return jsonify(audit_record(_audited(typed)))


def _reading(typed: TypedAudit) -> Reading | None:
    """The reading of a refused text without its invalid corrections; None if it has none."""
    try:
        kept = without_heads_that_fail(typed)
        return read_table_text(kept.table, kept.corrections) if kept.table.strip() else None
    except InvalidInput:
        return None
