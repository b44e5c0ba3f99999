"""An audit for people who read a terminal."""

from __future__ import annotations

from rich.text import Text

from offdiag.cli.output import print_tables
from offdiag.cli.tables import open_table
from offdiag.cli.text import printable
from offdiag.flags.audit.findings import AuditReport, AuditVerdict


def print_audit(report: AuditReport) -> None:
    """The verdict on each number with its reason, and on the table as a whole."""
    table = open_table(caption=printable(" ".join(_conclusions(report))))
    for name in ("number", "reported", "verdict", "why"):
        table.add_column(name)
    for finding in report.findings:
        is_fine = finding.verdict is AuditVerdict.CONSISTENT
        table.add_row(
            Text(printable(finding.claim.place_name(report.labels))),
            Text(printable(finding.claim.printed.text)),
            Text(finding.verdict.value.replace("_", " "), style="" if is_fine else "bold"),
            Text(printable(finding.why)),
        )
    print_tables(table)


def _conclusions(report: AuditReport) -> list[str]:
    lines = [f"{report.verdict.value.replace('_', ' ').capitalize()}: {report.why}."]
    if report.reading:
        lines.append(f"Read as: {report.reading}.")
    if report.matrix is not None:
        lines.append(f"The matrix: {report.matrix.why}.")
    if report.tables is not None and report.tables.is_complete:
        lines.append(f"Matrices of whole numbers that fit: {report.tables.count}.")
    return lines
