"""The form of an audit: what was pasted, how it was read, and where that can be corrected."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.audit.claims import AVERAGED, AVERAGES
from offdiag.audit.names import AGGREGATES, CLASS_KEYS
from offdiag.audit.table_text.cells import MOST_CHARACTERS
from offdiag.audit.table_text.interpretation import Reading
from offdiag.audit.table_text.numbers import PastedMatrix
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag_web.addresses.audit import example_url
from offdiag_web.inputs.audit import CLASSES, FRACTION, HEAD_FIELD, MODELS, PERCENT, TypedAudit
from offdiag_web.presenters import numbers
from offdiag_web.published_tables import PUBLISHED_TABLES

MOST_NUMBERS_SHOWN = 3
"""Beside a head, to recognise it by."""
MOST_MATRIX_CLASSES = 12
"""A larger matrix is named and not shown; it stands in the text."""

_FIELDS = {"table": "table", "classes": "classes", "positive": "positive", "reading": "heads"}


@dataclass(frozen=True, slots=True)
class HeadLine:
    """A head of the table, the field that says what it means, and numbers beside it."""

    id: str
    head: str
    field: str
    meaning: str
    numbers: str
    is_corrected: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of a list to choose from."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class PastedMatrixView:
    """The matrix as it was printed, under a caption that says what its lines are."""

    caption: str
    names: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ExampleLink:
    """A published table that one click loads."""

    title: str
    source: str
    url: str


@dataclass(frozen=True, slots=True)
class AuditFormView:
    """Everything that can be typed, with what was; `error` belongs to the field `error_field`."""

    table: str
    most_characters: int
    classes: str
    positive: str
    names: tuple[Choice, ...]
    units: tuple[Choice, ...]
    heads: tuple[HeadLine, ...]
    options: tuple[str, ...]
    matrix: PastedMatrixView | None
    remarks: tuple[str, ...]
    unread: tuple[str, ...]
    error: str | None
    error_field: str | None


def audit_form(
    typed: TypedAudit, reading: Reading | None, error: InvalidInput | None
) -> AuditFormView:
    """Present the form, with what was found out where nothing was typed."""
    found = None if reading is None or reading.classes is None else reading.classes.written()
    return AuditFormView(
        table=typed.table,
        most_characters=MOST_CHARACTERS,
        classes=typed.classes or found or "",
        positive=typed.positive or (reading.positive if reading else None) or "",
        names=_choices(typed.names, ("", "find out"), (CLASSES, "classes"), (MODELS, "models")),
        units=_choices(
            typed.unit, ("", "find out"), (FRACTION, "fractions"), (PERCENT, "percentages")
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
        error=None if error is None else _sentence(error),
        error_field=None if error is None else _FIELDS.get(error.field or "", "table"),
    )


def example_links() -> tuple[ExampleLink, ...]:
    """The published tables, in the order in which they are listed."""
    return tuple(ExampleLink(t.title, t.source, example_url(t)) for t in PUBLISHED_TABLES)


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
    """Meanings that are offered while one types."""
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


def _matrix(matrix: PastedMatrix) -> PastedMatrixView | None:
    if len(matrix.labels) > MOST_MATRIX_CLASSES:
        return None
    said = {
        SourceOrientation.ACTUAL_ROWS: "As printed; by its words, each line is an actual class.",
        SourceOrientation.ACTUAL_COLUMNS: "As printed; by its words, each line is a predicted "
        "class.",
    }
    unsaid = "As printed; it does not say whether its lines are actual or predicted classes."
    return PastedMatrixView(
        caption=unsaid if matrix.orientation is None else said[matrix.orientation],
        names=tuple(numbers.shortened(name, longest=16) for name in matrix.labels),
        lines=tuple(
            (numbers.shortened(name, longest=24), tuple(numbers.count(count) for count in line))
            for name, line in zip(matrix.labels, matrix.counts, strict=True)
        ),
    )


def _choices(chosen: str, *entries: tuple[str, str]) -> tuple[Choice, ...]:
    values = [value for value, _ in entries]
    kept = chosen if chosen in values else ""
    return tuple(Choice(value, text, value == kept) for value, text in entries)


def _sentence(error: InvalidInput) -> str:
    text = f"{error.message[:1].upper()}{error.message[1:]}"
    return f"{text} {error.hint}" if error.hint else text
