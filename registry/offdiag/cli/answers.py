"""Answers to questions in SQL as tables and JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import open_table
from offdiag.cli.text import printable
from offdiag.services.querying.query import Answer

ROWS_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of an answer as plain values; `is_cut` where there are more."""

    schema: pa.Schema
    rows: list[list[Any]]
    is_cut: bool


def first_rows(answer: Answer, limit: int) -> FirstRows:
    """At most `limit` rows; no more than that are computed where the query allows it."""
    rows: list[list[Any]] = []
    for batch in answer.batches:
        rows.extend(plain_rows(batch.slice(0, limit + 1 - len(rows))))
        if len(rows) > limit:
            break
    return FirstRows(answer.schema, rows[:limit], len(rows) > limit)


def plain_rows(batch: pa.RecordBatch) -> list[list[Any]]:
    """Rows as JSON can hold them: text for times, NULL for what is not finite."""
    columns = [
        [_plain(value) for value in column.to_pylist(maps_as_pydicts="lossy")]
        for column in batch.columns
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {str(key): _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case _:
            return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, date):  # A moment is a date too.
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def answer_dict(found: FirstRows) -> dict[str, Any]:
    """The first rows as JSON."""
    return {
        "columns": [{"name": field.name, "type": str(field.type)} for field in found.schema],
        "rows": found.rows,
        "is_cut": found.is_cut,
    }


def answer_table(found: FirstRows) -> Table:
    """The first rows for people; what is NULL is written so."""
    table = open_table()
    for field in found.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(Text(printable(field.name)), justify="right" if is_number else "left")
    for row in found.rows:
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: Any) -> Text:
    if value is None:
        return Text("NULL", style="dim")
    return Text(printable(f"{value:.6g}" if isinstance(value, float) else str(value)))
