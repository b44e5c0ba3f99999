"""Answers to questions in SQL as files, written row by row and named once they are complete."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from offdiag.cli.answers import plain_rows
from offdiag.domain.texts import csv_cell
from offdiag.errors import InvalidInput
from offdiag.services.querying.query import Answer
from offdiag.store.archive.whole_file import whole_file

Writer = Callable[[BinaryIO, pa.Schema, Iterator[pa.RecordBatch]], None]


def writer_for(path: Path) -> Writer:
    """What writes the form that the name ends with. Raises `InvalidInput` for another end."""
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        known = ", ".join(_WRITERS)
        raise InvalidInput(
            f"{path.name!r} has none of the endings {known}.",
            field="--output",
            hint="The ending says what is written.",
        )
    return writer


def write_answer(path: Path, writer: Writer, answer: Answer, *, limit: int | None) -> int:
    """Write an answer, and return its number of rows. Nothing is left behind by an error."""
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
