"""Audits of a table text, one for each model in it, and their record as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.audit.audit import AuditedTable, audited_together
from offdiag.audit.findings import AuditReport, AuditVerdict, headline_of_many
from offdiag.audit.printed import printed
from offdiag.audit.reported_values import Claim, Facts
from offdiag.audit.table_text.classes import ClassFacts, place_of
from offdiag.audit.table_text.headers import CELLS_OF_TWO
from offdiag.audit.table_text.interpretation import (
    Corrections,
    Reading,
    read_table_text,
)
from offdiag.audit.table_text.numbers import Number
from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.sentences import as_sentence
from offdiag.errors import InvalidInput
from offdiag.metrics.confusion import confusion_matrix

Counts = NDArray[np.int64]
_TWO_CLASSES = ("positive", "negative")
_PASTE_HEADERS = (
    "Paste the headers, too, such as accuracy, macro F1 or recall; numbers without a name cannot "
    "be audited."
)


@dataclass(frozen=True)
class ModelAudit:
    """The audit of the numbers of one model; `model` is empty if there is only one.

    `lines` has the line of the text for each finding.
    """

    model: str
    report: AuditReport
    lines: tuple[int, ...]


@dataclass(frozen=True)
class TableTextAudit:
    """A text as it was read, and the audit of each model in it."""

    reading: Reading
    models: tuple[ModelAudit, ...]

    @property
    def verdict(self) -> AuditVerdict:
        """The most severe verdict on any model."""
        return max((each.report.verdict for each in self.models), key=lambda v: v.rank)

    @property
    def headline(self) -> str:
        """The outcome, in one plain sentence."""
        return as_sentence(headline_of_many([(each.model, each.report) for each in self.models]))


def audit_table_text(text: str, corrections: Corrections | None = None) -> TableTextAudit:
    """Read a text and audit its numbers.

    Raises `InvalidInput` for a text without a number that can be audited, one that is too long or
    whose cells cannot be separated, a unit that has to be stated, and corrections that cannot be
    read.
    """
    reading = read_table_text(text, corrections)
    if reading.question is not None:
        raise reading.question
    if not reading.numbers:
        raise InvalidInput(
            "no number in the text was recognised as a metric.",
            field="table",
            hint=" ".join((*reading.remarks, _PASTE_HEADERS)),
        )
    reports = audited_together([_table(reading, model) for model in reading.models])
    return TableTextAudit(
        reading,
        tuple(
            ModelAudit(model, report, tuple(number.line for number in _numbers(reading, model)))
            for model, report in zip(reading.models, reports, strict=True)
        ),
    )


def _numbers(reading: Reading, model: str) -> list[Number]:
    return [number for number in reading.numbers if number.model == model]


def _table(reading: Reading, model: str) -> AuditedTable:
    own = _own_matrix(reading, model)
    classes, counts = own or (reading.classes, _canonical(reading))
    names = () if classes is None else classes.names
    claims = tuple(
        Claim(
            number.name,
            number.key,
            None if number.label is None else place_of(number.label, names),
            printed(number.text, field="table"),
        )
        for number in _numbers(reading, model)
    )
    positive = None if reading.positive is None else place_of(reading.positive, names)
    facts = Facts(
        labels=LabelSet(names) if names else None,
        class_counts=None if classes is None else classes.counts,
        positive=0 if own is not None and positive is None else positive,
    )
    return AuditedTable(claims, facts, counts)


def _canonical(reading: Reading) -> Counts | None:
    """The printed matrix, transposed if words in the text say that its rows are predictions."""
    if reading.matrix is None:
        return None
    return confusion_matrix(
        np.array(reading.matrix.counts, np.int64),
        labels=LabelSet(reading.matrix.labels),
        orientation=reading.matrix.orientation or SourceOrientation.ACTUAL_ROWS,
    ).counts


def _own_matrix(reading: Reading, model: str) -> tuple[ClassFacts, Counts] | None:
    """The matrix of two classes whose four counts are printed with the numbers of a model.

    If they are printed for several classes, there must be two whose counts mirror each other.
    """
    by_class: dict[str | None, dict[str, int]] = {}
    for count in reading.counts:
        if count.model == model and count.what in CELLS_OF_TWO:
            by_class.setdefault(count.label, {})[count.what] = count.count
    cells = [
        [[found["tp"], found["fn"]], [found["fp"], found["tn"]]]
        for found in by_class.values()
        if set(CELLS_OF_TWO) <= set(found)
    ]
    if reading.matrix is not None or not cells or len(cells) < len(by_class):
        return None
    names: Sequence[str] = () if reading.classes is None else reading.classes.names
    if len(cells) > 1:
        (hits, misses), (alarms, rejections) = cells[0]
        if cells[1:] != [[[rejections, alarms], [misses, hits]]] or None in by_class:
            return None
        names = [label for label in by_class if label is not None]
    elif len(names) != 2:
        names = _TWO_CLASSES
    elif reading.positive == names[1]:
        names = (names[1], names[0])
    return ClassFacts(tuple(names)), np.array(cells[0], np.int64)


def audit_record(audit: TableTextAudit) -> dict[str, Any]:
    """The whole audit, ready for `json.dumps(..., allow_nan=False)`."""
    return {
        "verdict": audit.verdict.value,
        "headline": audit.headline,
        "reading": reading_record(audit.reading),
        "models": [_model_record(each) for each in audit.models],
    }


def reading_record(reading: Reading) -> dict[str, Any]:
    """How a text was understood. The meanings are in the form in which they can be corrected."""
    matrix = reading.matrix
    return {
        "heads": [asdict(head) for head in reading.heads],
        "classes": None if reading.classes is None else asdict(reading.classes),
        "positive": reading.positive,
        "matrix": None
        if matrix is None
        else {
            "labels": matrix.labels,
            "counts": matrix.counts,
            "orientation_in_text": matrix.orientation and matrix.orientation.value,
        },
        "unread": [{"line": line, "text": text} for line, text in reading.unread],
        "remarks": reading.remarks,
    }


def _model_record(each: ModelAudit) -> dict[str, Any]:
    record = each.report.to_dict()
    for number, line in zip(record["numbers"], each.lines, strict=True):
        number["line"] = line
    return {"model": each.model or None, **record}
