"""The pasted tables drawn again, every cell marked with what the audit says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.audit.findings import AuditVerdict, Finding
from offdiag.audit.table_text.audit import TableTextAudit
from offdiag.audit.table_text.blocks import Block
from offdiag.audit.table_text.cells import Value
from offdiag.audit.table_text.numbers import Place
from offdiag_web.components import numbers

_LONGEST = 28


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said of a cell, by symbol and words; `css` only colours it."""

    symbol: str
    text: str
    css: str


AGREES = Mark("✓", "agrees", "agrees")
CONTRADICTS = Mark("✕", "contradicts", "contradicts")
OTHER_METRIC = Mark("▲", "another metric", "doubtful")
TRANSPOSED = Mark("▲", "axes exchanged", "doubtful")
GIVEN = Mark("·", "given", "open")
"""A count that the other numbers are held against."""
NOT_CHECKABLE = Mark("–", "not checkable", "open")
_MARKS = {
    AuditVerdict.CONSISTENT: AGREES,
    AuditVerdict.OTHER_DEFINITION: OTHER_METRIC,
    AuditVerdict.TRANSPOSED: TRANSPOSED,
    AuditVerdict.IMPOSSIBLE: CONTRADICTS,
}


@dataclass(frozen=True, slots=True)
class MarkedCell:
    """The number as it was printed, and its mark; None where the cell holds no number."""

    text: str
    mark: Mark | None
    url: str | None


@dataclass(frozen=True, slots=True)
class MarkedTable:
    """One table of the text; `heads` may be empty, and so may the names of its rows."""

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[MarkedCell, ...]], ...]


@dataclass(frozen=True, slots=True)
class MarkedCount:
    """How many cells have a mark."""

    mark: Mark
    count: str


@dataclass(frozen=True, slots=True)
class MarkedTables:
    """All tables, and how many of their numbers got which mark, the gravest first."""

    tables: tuple[MarkedTable, ...]
    counts: tuple[MarkedCount, ...]


def marked_tables(audit: TableTextAudit, reasons: Mapping[tuple[str, int], str]) -> MarkedTables:
    """Present the tables. `reasons` leads from a model and a place in its findings to an
    element of the page that says why."""
    found: dict[Place, tuple[Finding, str]] = {}
    for each in audit.models:
        own = [number for number in audit.reading.numbers if number.model == each.model]
        for at, (number, finding) in enumerate(zip(own, each.report.findings, strict=True)):
            before = found.get(number.place)
            if before is None or before[0].verdict.rank < finding.verdict.rank:
                found[number.place] = (finding, reasons[each.model, at])
    tables = tuple(
        _table(table, block, found, of=len(audit.reading.tables))
        for table, block in enumerate(audit.reading.tables)
    )
    marks = [cell.mark for table in tables for _, cells in table.rows for cell in cells]
    return MarkedTables(
        tables,
        tuple(
            MarkedCount(mark, numbers.count(marks.count(mark)))
            for mark in (CONTRADICTS, TRANSPOSED, OTHER_METRIC, AGREES, NOT_CHECKABLE, GIVEN)
            if mark in marks
        ),
    )


def _table(
    table: int, block: Block, found: Mapping[Place, tuple[Finding, str]], *, of: int
) -> MarkedTable:
    return MarkedTable(
        name="Your table, cell by cell" if of == 1 else f"Table {table + 1} of {of}",
        heads=tuple(numbers.shortened(head, longest=_LONGEST) for head in block.heads)
        if any(block.heads)
        else (),
        rows=tuple(
            (
                numbers.shortened(row.label, longest=_LONGEST),
                tuple(
                    _cell(value, found.get(Place(table, at, column)))
                    for column, value in enumerate(row.values)
                ),
            )
            for at, row in enumerate(block.rows)
        ),
    )


def _cell(value: Value | None, found: tuple[Finding, str] | None) -> MarkedCell:
    if value is None or not value.numbers:
        return MarkedCell("", None, None)
    text = f"{' = '.join(value.numbers)}{' ±' if value.has_spread else ''}"
    if found is None:
        return MarkedCell(text, NOT_CHECKABLE if value.count is None else GIVEN, None)
    finding, reason = found
    mark = _MARKS[finding.verdict] if finding.is_checked else NOT_CHECKABLE
    return MarkedCell(text, mark, None if mark in (AGREES, NOT_CHECKABLE) else f"#{reason}")
