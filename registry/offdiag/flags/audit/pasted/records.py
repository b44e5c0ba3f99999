"""A pasted text and its audit as plain values."""

from __future__ import annotations

from typing import Any

from offdiag.flags.audit.pasted.auditing import ModelAudit, PastedAudit
from offdiag.flags.audit.pasted.matrices import PastedMatrix
from offdiag.flags.audit.pasted.reading import Reading


def audit_record(audit: PastedAudit) -> dict[str, Any]:
    """Everything there is, ready for `json.dumps(..., allow_nan=False)`."""
    return {
        "verdict": audit.verdict.value,
        "headline": audit.headline,
        "reading": reading_record(audit.reading),
        "models": [_model_record(each) for each in audit.models],
    }


def reading_record(reading: Reading) -> dict[str, Any]:
    """How a text was understood. The meanings are in the form in which they can be corrected."""
    return {
        "heads": [
            {
                "head": head.head,
                "meaning": head.meaning,
                "numbers": list(head.numbers),
                "is_corrected": head.is_corrected,
            }
            for head in reading.heads
        ],
        "classes": None
        if reading.classes is None
        else {
            "names": list(reading.classes.names),
            "counts": None if reading.classes.counts is None else list(reading.classes.counts),
        },
        "positive": reading.positive,
        "matrix": None if reading.matrix is None else _matrix_record(reading.matrix),
        "unread": [{"line": line, "text": text} for line, text in reading.unread],
        "remarks": list(reading.remarks),
    }


def _matrix_record(matrix: PastedMatrix) -> dict[str, Any]:
    return {
        "labels": list(matrix.labels),
        "counts": [list(line) for line in matrix.counts],
        "orientation_in_text": None if matrix.orientation is None else matrix.orientation.value,
    }


def _model_record(each: ModelAudit) -> dict[str, Any]:
    record = each.report.to_dict()
    for number, line in zip(record["numbers"], each.lines, strict=True):
        number["line"] = line
    return {"model": each.model or None, **record}
