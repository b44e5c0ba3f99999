"""What a number in a report can be traced back with."""

from __future__ import annotations

from offdiag.reports import wording
from offdiag.reports.document import report_document
from offdiag.reports.report import Report
from offdiag.reports.scope import RunTerm, TermField


def provenance(report: Report) -> tuple[tuple[str, str], ...]:
    """Names and texts: scope, time, ground truth, versions, digest."""
    issue, snapshot, truth = report.issue, report.snapshot, report.snapshot.truth
    facts = [
        ("project", issue.project),
        ("dataset", report.scope.dataset),
        ("runs", _terms(report.scope.terms)),
        ("issued for", issue.fire_time),
        ("figures of", f"{issue.as_of:%Y-%m-%d %H:%M:%S} UTC"),
    ]
    if truth is not None:
        labelled = (
            ""
            if truth.n_labelled == truth.n_samples
            else f", {truth.n_labelled:,} of them labelled"
        )
        samples = wording.count(truth.n_samples, "sample")
        facts.append(
            ("ground truth", f"version {truth.number}, {samples}{labelled}, {truth.digest[:12]}")
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


def _terms(terms: tuple[RunTerm, ...]) -> str:
    return " and ".join(map(_term, terms)) if terms else "all of the dataset"


def _term(term: RunTerm) -> str:
    if term.field is TermField.NAME:
        return f"name contains {wording.name(term.text)}"
    if term.field is TermField.MODEL:
        return f"model is {wording.name(term.text)}"
    if term.value is None:
        return f"has the tag {wording.name(term.text)}"
    return f"tag {wording.name(term.text)} is {wording.name(term.value)}"
