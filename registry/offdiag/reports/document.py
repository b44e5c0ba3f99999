"""A report as a JSON document, and back: what is frozen with an issue and what is exported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from offdiag.reports.report import Report
from offdiag.reports.scope import ReportScope
from offdiag.reports.summary import IssueSummary

FORMAT = 1
_DIGESTED = ("task", "n_classes", "truth", "suite_version", "runs", "slices", "leader")

_REPORT = TypeAdapter(Report)
_SCOPE = TypeAdapter(ReportScope)
_SUMMARY = TypeAdapter(IssueSummary)


def report_document(report: Report) -> dict[str, Any]:
    """The whole report with full precision; undefined values carry their reason."""
    content: dict[str, Any] = _REPORT.dump_python(report, mode="json")
    return {"format": FORMAT, "data_digest": _digest(content["snapshot"]), **content}


def read_report(document: Mapping[str, Any]) -> Report | None:
    """The report in a document, None where another version of offdiag wrote it differently."""
    if document.get("format") != FORMAT:
        return None
    content = {key: document[key] for key in document if key not in {"format", "data_digest"}}
    try:
        return _REPORT.validate_python(content)
    except ValidationError:
        return None


def scope_document(scope: ReportScope) -> dict[str, Any]:
    """A scope as it is stored."""
    document: dict[str, Any] = _SCOPE.dump_python(scope, mode="json")
    return document


def read_scope(document: Mapping[str, Any]) -> ReportScope:
    """The scope in a stored document."""
    return _SCOPE.validate_python(dict(document))


def summary_document(summary: IssueSummary) -> dict[str, Any]:
    """A summary as it is stored."""
    document: dict[str, Any] = _SUMMARY.dump_python(summary, mode="json")
    return document


def read_summary(document: Mapping[str, Any] | None) -> IssueSummary | None:
    """The summary in a document, None where there is none that this version understands."""
    if document is None:
        return None
    try:
        return _SUMMARY.validate_python(dict(document))
    except ValidationError:
        return None


def _digest(snapshot: Mapping[str, Any]) -> str:
    """SHA-256 of the figures: two issues with the same digest say the same about the present."""
    figures = {key: snapshot[key] for key in _DIGESTED}
    if snapshot["costs"] is not None:
        figures["costs"] = snapshot["costs"]
    text = json.dumps(figures, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
