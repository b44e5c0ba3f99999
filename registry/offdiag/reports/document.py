"""A report as a JSON document, reading it back, and the provenance of its numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from offdiag.domain import sentences
from offdiag.domain.number_text import count
from offdiag.domain.schedule import due_text
from offdiag.reports.report import EditionSummary, Report
from offdiag.reports.scope import ReportScope, terms_text

FORMAT = 1
_DIGESTED = ("task", "n_classes", "truth", "suite_version", "runs", "slices", "leader")

_REPORT = TypeAdapter(Report)
_SCOPE = TypeAdapter(ReportScope)
_SUMMARY = TypeAdapter(EditionSummary)


def report_document(report: Report) -> dict[str, Any]:
    """The whole report with full precision; undefined values carry their reason."""
    content: dict[str, Any] = _REPORT.dump_python(report, mode="json")
    # This format calls an edition an issue.
    content["issue"] = content.pop("edition")
    for results in (*content["snapshot"]["runs"], *content["snapshot"]["slices"]):
        # Runs without weights are written as before weights existed, with the same digest.
        for name in ("has_weights", "weights"):
            if not results[name]:
                del results[name]
    return {"format": FORMAT, "data_digest": _digest(content["snapshot"]), **content}


def read_report(document: Mapping[str, Any]) -> Report | None:
    """The report in a document, None if another version of offdiag wrote a different format."""
    if document.get("format") != FORMAT:
        return None
    content = {key: document[key] for key in document if key not in {"format", "data_digest"}}
    content["edition"] = content.pop("issue", None)
    try:
        return _REPORT.validate_python(content)
    except ValidationError:
        return None


def scope_document(scope: ReportScope) -> dict[str, Any]:
    """The scope as it is stored with schedules and editions."""
    document: dict[str, Any] = _SCOPE.dump_python(scope, mode="json")
    return document


def read_scope(document: Mapping[str, Any]) -> ReportScope:
    """The scope in a stored document. Raises pydantic's `ValidationError` for another format."""
    return _SCOPE.validate_python(dict(document))


def summary_document(summary: EditionSummary) -> dict[str, Any]:
    """The summary as it is stored with its edition."""
    document: dict[str, Any] = _SUMMARY.dump_python(summary, mode="json")
    return document


def read_summary(document: Mapping[str, Any] | None) -> EditionSummary | None:
    """The summary in a document, None if there is none that this version understands."""
    if document is None:
        return None
    try:
        return _SUMMARY.validate_python(dict(document))
    except ValidationError:
        return None


def _digest(snapshot: Mapping[str, Any]) -> str:
    """SHA-256 of the reported values: editions with the same digest report the same state."""
    values = {key: snapshot[key] for key in _DIGESTED}
    for name in ("costs", "on_slices"):
        if snapshot[name]:
            values[name] = snapshot[name]
    text = json.dumps(values, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def provenance(report: Report) -> tuple[tuple[str, str], ...]:
    """Names and values of the provenance: scope, time, ground truth, versions, digest."""
    edition, snapshot, truth = report.edition, report.snapshot, report.snapshot.truth
    facts = [
        ("project", edition.project),
        ("dataset", report.scope.dataset),
        ("runs", terms_text(report.scope.terms)),
        ("edition of", due_text(edition.fire_time)),
        ("figures of", f"{edition.as_of:%Y-%m-%d %H:%M:%S} UTC"),
    ]
    if truth is not None:
        labelled = (
            ""
            if truth.n_labelled == truth.n_samples
            else f", {truth.n_labelled:,} of them labelled"
        )
        samples = count(truth.n_samples, "sample")
        facts.append(
            ("ground truth", f"version {truth.number}, {samples}{labelled}, {truth.digest[:12]}")
        )
    if snapshot.champion is not None:
        facts.append(
            ("champion", f"{sentences.name(snapshot.champion.name)} {snapshot.champion.id}")
        )
    if snapshot.costs is not None:
        unit = "" if snapshot.costs.currency is None else f", in {snapshot.costs.currency}"
        facts.append(("cost matrix", f"{snapshot.costs.text}{unit}"))
    return (
        *facts,
        ("metric suite", f"version {snapshot.suite_version}"),
        ("offdiag", snapshot.engine_version),
        ("data digest", report_document(report)["data_digest"]),
    )
