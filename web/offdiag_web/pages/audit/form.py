"""What is typed about published numbers: its fields, its address, and the form with its errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from offdiag.audit.names import AGGREGATES, CLASS_KEYS
from offdiag.audit.reported_values import AVERAGED, AVERAGES
from offdiag.audit.table_text.cells import MOST_CHARACTERS
from offdiag.audit.table_text.headers import read_meaning, written
from offdiag.audit.table_text.interpretation import Corrections, Reading, read_table_text
from offdiag.audit.table_text.numbers import PrintedMatrix
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag_web.components import numbers
from offdiag_web.components.controls import Option
from offdiag_web.pages.audit.tables import PUBLISHED_TABLES, PublishedTable, published_table
from offdiag_web.urls.query_string import with_query

HEAD_FIELD = "read:"
"""A field that corrects a head is called by it: `read:Macro F1`."""
CLASSES, MODELS = "classes", "models"
PERCENT, FRACTION = "percent", "fraction"

_NO_HEADS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAudit:
    """One text for each field, empty where nothing was said.

    `names` is "classes" or "models", `unit` "percent" or "fraction", and `heads` what was
    written beside the heads of the table.
    """

    table: str = ""
    classes: str = ""
    positive: str = ""
    names: str = ""
    unit: str = ""
    heads: Mapping[str, str] = field(default_factory=lambda: _NO_HEADS)

    @property
    def corrections(self) -> Corrections:
        return Corrections(
            heads={head: text for head, text in self.heads.items() if text.strip()},
            classes=self.classes,
            positive=self.positive,
            are_models={CLASSES: False, MODELS: True}.get(self.names),
            is_percent={FRACTION: False, PERCENT: True}.get(self.unit),
        )


TEXT_FIELDS = ("table", "classes", "positive", "names", "unit")


def typed_audit(values: Mapping[str, str]) -> TypedAudit:
    """What a form or an address holds; an example brings what nothing else is said about."""
    # Browsers send line breaks as CR LF.
    texts = {name: values.get(name, "").replace("\r\n", "\n") for name in TEXT_FIELDS}
    example = published_table(values.get("example", ""))
    if example is not None and not texts["table"].strip():
        texts["table"] = example.table
        texts["classes"] = texts["classes"] or example.classes
        texts["positive"] = texts["positive"] or example.positive
    heads = {
        name.removeprefix(HEAD_FIELD): text
        for name, text in values.items()
        if name.startswith(HEAD_FIELD)
    }
    return TypedAudit(**texts, heads=heads)


def with_real_corrections(typed: TypedAudit) -> TypedAudit:
    """The same without what would have been found out anyway.

    A form sends what stands beside every head. Raises `InvalidInput` for what cannot be read.
    """
    reading = read_table_text(typed.table, replace(typed, heads={}).corrections)[0]
    found = {head.head: head.meaning for head in reading.heads}
    heads = {
        head: written(read_meaning(text))
        for head, text in typed.heads.items()
        if text.strip() and head in found
    }
    return replace(
        typed, heads={head: text for head, text in heads.items() if text != found[head]}
    )


def without_heads_that_fail(typed: TypedAudit) -> TypedAudit:
    """The same with only the corrections of heads that can be read."""

    def is_readable(text: str) -> bool:
        try:
            read_meaning(text)
        except InvalidInput:
            return False
        return True

    heads = {head: text for head, text in typed.heads.items() if is_readable(text)}
    return replace(typed, heads=heads)


AUDIT = "/audit"
LONGEST_LINK = 4_000
"""Characters of an address that every browser, proxy and mail program lets through."""


def audit_url(typed: TypedAudit, form: str = "") -> str:
    """The page of an audit, its twin where `form` is "json", or its card for slides, "svg".

    A text that is one of the examples is called by its name.
    """
    place = "/card.svg" if form == "svg" else f".{form}" if form else ""
    path = f"{AUDIT}{place}"
    example = _example_of(typed)
    if example is not None:
        typed = replace(typed, table="", classes="", positive="")
    values: dict[str, str | None] = {name: getattr(typed, name) for name in TEXT_FIELDS}
    values |= {f"{HEAD_FIELD}{head}": text for head, text in typed.heads.items()}
    values["example"] = None if example is None else example.name
    return with_query(path, values)


def example_url(example: PublishedTable) -> str:
    return with_query(AUDIT, {"example": example.name})


def fits_link(typed: TypedAudit) -> bool:
    """Whether the address of an audit is short enough to be passed on."""
    return len(audit_url(typed)) <= LONGEST_LINK


def _example_of(typed: TypedAudit) -> PublishedTable | None:
    said = (typed.table.strip(), typed.classes, typed.positive)
    return next(
        (
            example
            for example in PUBLISHED_TABLES
            if (example.table.strip(), example.classes, example.positive) == said
        ),
        None,
    )


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
    names: tuple[Option, ...]
    units: tuple[Option, ...]
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


def _matrix(matrix: PrintedMatrix) -> PastedMatrixView | None:
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


def _choices(chosen: str, *entries: tuple[str, str]) -> tuple[Option, ...]:
    values = [value for value, _ in entries]
    kept = chosen if chosen in values else ""
    return tuple(Option(value, text, value == kept) for value, text in entries)


def _sentence(error: InvalidInput) -> str:
    text = f"{error.message[:1].upper()}{error.message[1:]}"
    return f"{text} {error.hint}" if error.hint else text
