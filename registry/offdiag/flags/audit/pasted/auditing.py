"""Audits of a pasted text: one for each model in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.flags.audit.audit import AuditedTable, audited_together
from offdiag.flags.audit.claims import Claim
from offdiag.flags.audit.facts import Facts
from offdiag.flags.audit.findings import AuditReport, AuditVerdict
from offdiag.flags.audit.headline import as_sentence, headline_of_many
from offdiag.flags.audit.pasted.classes import ClassFacts, place_of
from offdiag.flags.audit.pasted.corrections import Corrections
from offdiag.flags.audit.pasted.meaning import CELLS_OF_TWO
from offdiag.flags.audit.pasted.numbers import Number
from offdiag.flags.audit.pasted.reading import Reading, read_pasted
from offdiag.flags.audit.printed import printed
from offdiag.metrics.confusion import confusion_matrix

Counts = NDArray[np.int64]
_TWO_CLASSES = ("positive", "negative")


@dataclass(frozen=True)
class ModelAudit:
    """What became of the numbers of one model; `model` is empty where only one is meant.

    `lines` has the line of the text of each finding.
    """

    model: str
    report: AuditReport
    lines: tuple[int, ...]


@dataclass(frozen=True)
class PastedAudit:
    """A text as it was read, and the audit of each model in it."""

    reading: Reading
    models: tuple[ModelAudit, ...]

    @property
    def verdict(self) -> AuditVerdict:
        """The gravest verdict on any model."""
        return max((each.report.verdict for each in self.models), key=lambda v: v.rank)

    @property
    def headline(self) -> str:
        """What came out of it, in one plain sentence."""
        return as_sentence(headline_of_many([(each.model, each.report) for each in self.models]))


def audit_pasted(text: str, corrections: Corrections | None = None) -> PastedAudit:
    """Read a text and audit its numbers.

    Where cells of a matrix ran together, the way of parting them that the numbers agree with
    best is taken. Raises `InvalidInput` for a text without a number that can be audited, one
    that is too long, and corrections that cannot be read.
    """
    readings = read_pasted(text, corrections)
    if readings[0].matrix is None:
        # However the cells are parted, they make no matrix to hold the numbers against.
        readings = readings[:1]
    audits = [_audit(reading) for reading in readings]
    troubles = [_trouble(audit) for audit in audits]
    best = audits[troubles.index(min(troubles))]
    equal = troubles.count(min(troubles))
    if equal == 1:
        return best
    remark = f"{equal} ways of parting the cells fit equally well; this is one of them."
    reading = replace(best.reading, remarks=(*best.reading.remarks, remark))
    return replace(best, reading=reading)


def _audit(reading: Reading) -> PastedAudit:
    if not reading.numbers:
        raise InvalidInput(
            "no number in the text was recognised as a metric.",
            field="table",
            hint="Paste the heads, too, such as accuracy, macro F1 or recall; numbers without a "
            "name cannot be audited.",
        )
    reports = audited_together([_table(reading, model) for model in reading.models])
    return PastedAudit(
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
    """The printed matrix, turned if words in the text say that its rows are predictions."""
    if reading.matrix is None:
        return None
    return confusion_matrix(
        np.array(reading.matrix.counts, np.int64),
        labels=LabelSet(reading.matrix.labels),
        orientation=reading.matrix.orientation or SourceOrientation.ACTUAL_ROWS,
    ).counts


def _own_matrix(reading: Reading, model: str) -> tuple[ClassFacts, Counts] | None:
    """The matrix of two classes whose four counts are printed with the numbers of a model."""
    found: Mapping[str, int] = {
        count.what: count.count for count in reading.counts if count.model == model
    }
    if reading.matrix is not None or not set(CELLS_OF_TWO) <= set(found):
        return None
    names: Sequence[str] = () if reading.classes is None else reading.classes.names
    if len(names) != 2:
        names = _TWO_CLASSES
    elif reading.positive == names[1]:
        names = (names[1], names[0])
    cells = [[found["tp"], found["fn"]], [found["fp"], found["tn"]]]
    return ClassFacts(tuple(names)), np.array(cells, np.int64)


def _trouble(audit: PastedAudit) -> tuple[int, int]:
    """Matrices whose axes the numbers contradict, and how grave the findings are together."""
    contradictions = sum(
        each.report.matrix is not None and each.report.matrix.decided_by == "contradiction"
        for each in audit.models
    )
    findings = (finding for each in audit.models for finding in each.report.findings)
    return contradictions, sum(finding.verdict.rank for finding in findings)
