"""Output of `offdiag sql` as tables, JSON and files, which only get their name once complete."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import open_table
from offdiag.domain.sentences import visible
from offdiag.domain.texts import csv_cell
from offdiag.errors import InvalidInput
from offdiag.services.sql import QueryResult
from offdiag.store.archive.whole_file import whole_file

ROWS_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class FirstRows:
    """The first rows of a result as plain values; `is_cut` if there are more."""

    schema: pa.Schema
    rows: list[list[Any]]
    is_cut: bool


def first_rows(answer: QueryResult, limit: int) -> FirstRows:
    """At most `limit` rows; no more than necessary are computed if the query allows that."""
    rows: list[list[Any]] = []
    for batch in answer.batches:
        rows.extend(plain_rows(batch.slice(0, limit + 1 - len(rows))))
        if len(rows) > limit:
            break
    return FirstRows(answer.schema, rows[:limit], len(rows) > limit)


def plain_rows(batch: pa.RecordBatch) -> list[list[Any]]:
    """Rows as JSON values: text for times, null for NaN and infinity."""
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
    if isinstance(value, date):  # A datetime is a date too.
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def result_dict(found: FirstRows) -> dict[str, Any]:
    """The first rows as JSON."""
    return {
        "columns": [{"name": field.name, "type": str(field.type)} for field in found.schema],
        "rows": found.rows,
        "is_cut": found.is_cut,
    }


def result_table(found: FirstRows) -> Table:
    """The first rows for people, in which null is written as NULL."""
    table = open_table()
    for field in found.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        table.add_column(Text(visible(field.name)), justify="right" if is_number else "left")
    for row in found.rows:
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: Any) -> Text:
    if value is None:
        return Text("NULL", style="dim")
    return Text(visible(f"{value:.6g}" if isinstance(value, float) else str(value)))


Writer = Callable[[BinaryIO, pa.Schema, Iterator[pa.RecordBatch]], None]


def writer_for(path: Path) -> Writer:
    """The writer for the extension of a file name. Raises `InvalidInput` for other extensions."""
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        known = ", ".join(_WRITERS)
        raise InvalidInput(
            f"{path.name!r} has none of the endings {known}.",
            field="--output",
            hint="The ending says what is written.",
        )
    return writer


def write_result(path: Path, writer: Writer, answer: QueryResult, *, limit: int | None) -> int:
    """Write a result and return its number of rows; after an error no file remains."""
    n_rows = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal n_rows
        for batch in answer.batches:
            part = batch if limit is None else batch.slice(0, limit - n_rows)
            n_rows += len(part)
            yield part
            if n_rows == limit:
                return

    with whole_file(path, private=False) as stream:
        writer(stream, answer.schema, counted())
    return n_rows


def _csv(stream: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    stream.write(_csv_lines([schema.names]))
    stream.writelines(_csv_lines(plain_rows(batch)) for batch in batches)


def _csv_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    buffer = io.StringIO(newline="")
    lines = csv.writer(buffer, lineterminator="\r\n")
    lines.writerows([_csv_cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def _csv_cell(value: Any) -> str | int | float:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    return csv_cell(value)


def _json(stream: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    stream.write(b"[")
    before = b"\n"
    for line in _lines(schema, batches):
        stream.write(before + line)
        before = b",\n"
    stream.write(b"\n]\n")


def _json_lines(stream: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    stream.writelines(line + b"\n" for line in _lines(schema, batches))


def _lines(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    twice = [name for name, count in Counter(schema.names).items() if count > 1]
    if twice:
        raise InvalidInput(
            f"two columns are called {twice[0]!r}.",
            field="query",
            hint="JSON needs a name for each: SELECT … AS name.",
        )
    for batch in batches:
        for row in plain_rows(batch):
            record = dict(zip(schema.names, row, strict=True))
            yield json.dumps(record, ensure_ascii=False, allow_nan=False).encode()


def _parquet(stream: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(stream, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _arrow(stream: BinaryIO, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
    with pa.ipc.new_file(stream, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


_WRITERS: dict[str, Writer] = {
    ".csv": _csv,
    ".json": _json,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
    ".arrow": _arrow,
}
