"""The findings of a gate for people who read a log."""

from __future__ import annotations

from rich.text import Text

from offdiag.cli.output import print_tables
from offdiag.cli.tables import open_table
from offdiag.cli.text import printable
from offdiag.gate.conditions import MetricCondition, Side
from offdiag.gate.evaluate_conditions import Finding
from offdiag.services.gating.gate import GateResult


def print_gate(result: GateResult) -> None:
    """One line for each condition, and the outcome in the last one."""
    failed = sum(not finding.passed for finding in result.findings)
    outcome = "The gate is open" if result.passed else "The gate is closed"
    count = f"{len(result.findings) - failed} of {len(result.findings)} conditions hold"
    not_paired = "" if result.not_paired is None else f" Not paired: {result.not_paired}."
    table = open_table(caption=f"{outcome}: {count}.{not_paired}")
    for name in ("", "condition", "found", "note"):
        table.add_column(name)
    for finding in result.findings:
        table.add_row(
            Text("holds" if finding.passed else "FAILS", style="" if finding.passed else "bold"),
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
