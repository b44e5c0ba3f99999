"""Numbers of a table with what they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from offdiag.flags.audit.names import CLASS_KEYS
from offdiag.flags.audit.pasted.blocks import Block
from offdiag.flags.audit.pasted.meaning import COUNTS, Meaning, combined
from offdiag.flags.audit.pasted.roles import Roles
from offdiag.flags.audit.pasted.values import Value


@dataclass(frozen=True, slots=True)
class Number:
    """One published number: of which metric, class and model, under which name, in which line.

    `label` is None for aggregates and for class metrics that name no class, `model` is empty
    where there is only one. `has_spread` tells of a mean over several tests.
    """

    name: str
    key: str
    label: str | None
    model: str
    text: str
    line: int
    has_spread: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number of cases: what it counts, of which class and model."""

    what: str
    label: str | None
    model: str
    count: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell with a value, and what its row and its column make of it."""

    row: int
    column: int
    meaning: Meaning
    value: Value


def cells_of(block: Block, roles: Roles) -> Iterator[Cell]:
    """Every cell with a value, row by row."""
    for at, (row, row_meaning) in enumerate(zip(block.rows, roles.rows, strict=True)):
        for place, value in enumerate(row.values):
            if value is not None and value.numbers:
                meaning = combined(row_meaning, roles.columns[place])
                yield Cell(at, place, meaning, value)


def numbers_of(block: Block, roles: Roles) -> list[Number]:
    """The metrics in a block, chains of equations as several numbers."""
    return [
        Number(
            name=_name(block, roles, cell),
            key=cell.meaning.what or "",
            label=cell.meaning.label if cell.meaning.what in CLASS_KEYS else None,
            model=cell.meaning.model or "",
            text=_with_point(text),
            line=block.rows[cell.row].line,
            has_spread=cell.value.has_spread,
        )
        for cell in cells_of(block, roles)
        if cell.meaning.is_metric
        for text in cell.value.numbers
    ]


def counts_of(block: Block, roles: Roles) -> list[Count]:
    """The numbers of cases in a block that are not cells of a matrix."""
    found = []
    for cell in cells_of(block, roles):
        what, count = cell.meaning.what, cell.value.count
        if what in COUNTS and count is not None:
            found.append(Count(what, cell.meaning.label, cell.meaning.model or "", count))
    return found


def _name(block: Block, roles: Roles, cell: Cell) -> str:
    """The name a number was published under: the head of its metric, with that of an average."""
    row, column = roles.rows[cell.row], roles.columns[cell.column]
    row_head, column_head = block.rows[cell.row].label, block.heads[cell.column]
    if row.is_metric and (row.is_aggregate or not column.is_metric):
        return row_head if column.average is None else f"{column_head} {row_head}"
    return column_head if row.average is None else f"{row_head} {column_head}"


def _with_point(text: str) -> str:
    """ "1,000" under a metric has a decimal comma."""
    return text.replace(",", ".") if text.count(",") == 1 else text
