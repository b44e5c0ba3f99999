"""Exports of pages as CSV and JSON: full precision, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from flask import Response, jsonify

from offdiag.domain.texts import Cell, csv_cell
from offdiag.records.base import ResponseBody

__all__ = [
    "Cell",
    "attachment",
    "csv_cell",
    "csv_response",
    "csv_stream",
    "csv_text",
    "json_response",
    "json_stream",
]

Item = TypeVar("Item")
_SENT_AT_ONCE = 1_000


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """The table as CSV text with a header line."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([csv_cell(name) for name in header])
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def csv_stream(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Response:
    """CSV of rows that are generated while it is sent, so a long list is never in memory."""
    return attachment(_csv_parts(header, rows), "text/csv", f"{name}.csv")


def json_stream(
    head: Mapping[str, object], name: str, records: Iterable[Mapping[str, object]]
) -> Response:
    """A JSON object whose last value, a list named `name`, is generated while it is sent."""
    return Response(_json_parts(head, name, records), mimetype="application/json")


def _csv_parts(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    yield csv_text(header, ())
    for some in _batched(rows):
        yield csv_text((), some).removeprefix("\r\n")


def _json_parts(
    head: Mapping[str, object], name: str, records: Iterable[Mapping[str, object]]
) -> Iterator[str]:
    opening = json.dumps({**head, name: []}, ensure_ascii=False, allow_nan=False)
    yield opening.removesuffix("]}")
    comma = ""
    for some in _batched(records):
        texts = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in some)
        yield comma + ",".join(texts)
        comma = ","
    yield "]}\n"


def json_response(document: ResponseBody) -> Response:
    """A document as a JSON file that belongs to a page."""
    return jsonify(document.plain())


def csv_response(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Response:
    """CSV to be saved as `<name>.csv`."""
    return attachment(csv_text(header, rows), "text/csv", f"{name}.csv")


def attachment(content: str | Iterable[str], mimetype: str, name: str) -> Response:
    """A file to be saved under a name that is chosen by us, never by a user."""
    response = Response(content, mimetype=mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _batched(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, _SENT_AT_ONCE)):
        yield some
