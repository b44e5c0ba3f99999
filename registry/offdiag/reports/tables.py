"""The tables of a report in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from offdiag.reports import figures_tables, findings_tables
from offdiag.reports.report import Report
from offdiag.reports.table import Table

Maker = Callable[[Report], Table | None]

_FINDINGS: Sequence[Maker] = (
    findings_tables.alerts_table,
    findings_tables.evidence_table,
    findings_tables.changes_table,
    findings_tables.flags_table,
    findings_tables.rank_changes_table,
    findings_tables.revisions_table,
)
_FIGURES: Sequence[Maker] = (
    figures_tables.runs_table,
    figures_tables.slices_table,
    figures_tables.worst_classes_table,
    figures_tables.worst_of_each_table,
    figures_tables.confusions_table,
    findings_tables.absent_table,
)


def tables_of_findings(report: Report) -> tuple[Table, ...]:
    """What follows from the figures, most urgent first; tables without rows are left out."""
    return _made(_FINDINGS, report)


def tables_of_figures(report: Report) -> tuple[Table, ...]:
    """The figures themselves; tables without rows are left out."""
    return _made(_FIGURES, report)


def _made(makers: Sequence[Maker], report: Report) -> tuple[Table, ...]:
    made = (make(report) for make in makers)
    return tuple(table for table in made if table is not None)
