"""Audits and gates as tables."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from offdiag.audit.findings import AuditReport, AuditVerdict
from offdiag.audit.table_text.audit import TableTextAudit
from offdiag.audit.table_text.interpretation import Reading
from offdiag.cli.output import print_tables
from offdiag.cli.tables import open_table
from offdiag.cli.text import label, printable
from offdiag.gate.conditions import MetricCondition, Side
from offdiag.gate.evaluate_conditions import Finding
from offdiag.services.gate import GateResult

MOST_NUMBERS_SHOWN = 6
"""Next to a header, to recognise it by."""


def print_audit(report: AuditReport) -> None:
    """The verdict on each number with its reason, and on the table as a whole."""
    print_tables(_table(report, title=None))


def print_table_text_audit(audit: TableTextAudit) -> None:
    """How a text was read, and the verdicts for each model in it."""
    print_tables(
        _reading_table(audit.reading),
        *(_table(each.report, title=each.model or None) for each in audit.models),
    )


def _table(report: AuditReport, *, title: str | None) -> Table:
    table = open_table(
        title=None if title is None else printable(title),
        caption=printable(" ".join(_conclusions(report))),
    )
    for name in ("number", "reported", "verdict", "reason"):
        table.add_column(name)
    for finding in report.findings:
        is_fine = finding.verdict is AuditVerdict.CONSISTENT
        table.add_row(
            Text(printable(finding.claim.place_name(report.labels))),
            Text(printable(finding.claim.printed.text)),
            Text(finding.verdict.value.replace("_", " "), style="" if is_fine else "bold"),
            Text(printable(finding.why)),
        )
    return table


def _reading_table(reading: Reading) -> Table:
    """Headers with their meaning, and notes."""
    table = open_table(
        title="How the text was read; correct it with --read 'HEADER=MEANING'",
        caption=printable(" ".join(_facts(reading))) or None,
    )
    for name in ("header", "meaning", "numbers"):
        table.add_column(name)
    for head in reading.heads:
        numbers = list(head.numbers[:MOST_NUMBERS_SHOWN])
        if len(numbers) < len(head.numbers):
            numbers.append("…")
        table.add_row(
            Text(label(head.head)),
            Text(printable(head.meaning), style="bold" if head.is_corrected else ""),
            Text(printable("  ".join(numbers))),
        )
    return table


def _facts(reading: Reading) -> list[str]:
    lines = []
    if reading.classes is not None:
        lines.append(f"Classes: {reading.classes.written()}.")
    if reading.matrix is not None:
        lines.append(f"A matrix of {len(reading.matrix.labels)} classes was found.")
    lines += reading.remarks
    if reading.unread:
        lines.append(f"Not read: {'; '.join(f'line {n}: {text}' for n, text in reading.unread)}.")
    return lines


def _conclusions(report: AuditReport) -> list[str]:
    lines = [report.headline]
    if report.reading:
        lines.append(f"Read as: {report.reading}.")
    if report.matrix is not None:
        lines.append(f"The matrix: {report.matrix.why}.")
    if report.tables is not None and report.tables.is_complete:
        lines.append(f"Matrices of whole numbers that fit: {report.tables.count}.")
    return lines


def print_gate(result: GateResult) -> None:
    """One line for each condition, and the outcome in the last one."""
    failed = sum(not finding.passed for finding in result.findings)
    outcome = "Passed" if result.passed else "Failed"
    count = f"{len(result.findings) - failed} of {len(result.findings)} conditions passed"
    not_paired = "" if result.not_paired is None else f" Not paired: {result.not_paired}."
    table = open_table(caption=f"{outcome}: {count}.{not_paired}")
    for name in ("", "condition", "found", "note"):
        table.add_column(name)
    for finding in result.findings:
        table.add_row(
            Text("passed" if finding.passed else "FAILED", style="" if finding.passed else "bold"),
            Text(printable(finding.condition.text)),
            Text(_found(finding)),
            Text(printable(finding.note)),
        )
    print_tables(table)


def _found(finding: Finding) -> str:
    """The number that was compared, with the value and interval it belongs to."""
    if finding.value is None:
        return "" if finding.reason is None else str(finding.reason)
    if finding.measured is None:
        return f"undefined ({finding.reason})"
    low, high = finding.value.ci_low, finding.value.ci_high
    interval = f"[{_end(low, '-∞')}, {_end(high, '∞')}]"
    has_interval = finding.value.ci_method is not None
    condition = finding.condition
    if isinstance(condition, MetricCondition) and condition.side is not Side.VALUE:
        return f"{_number(finding.measured)} of {_number(finding.value.value)} {interval}"
    return f"{_number(finding.measured)} {interval}" if has_interval else _number(finding.measured)


def _end(end: float | None, otherwise: str) -> str:
    return otherwise if end is None else _number(end)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"
