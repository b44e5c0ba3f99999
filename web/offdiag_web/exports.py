"""CSV and JSON twins of pages: full precision, safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from flask import Response

Cell = str | int | float | None
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(value: Cell) -> str | int | float:
    """A cell as written: numbers stay numbers, undefined is empty, text is only text.

    A spreadsheet runs what begins like a formula. Labels and names are anybody's input, so
    such text gets an apostrophe in front, the spreadsheet's own mark for text.
    """
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """The table as CSV text with a header line."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([csv_cell(name) for name in header])
    writer.writerows([csv_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()


def csv_response(name: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Response:
    """CSV to be saved as `<name>.csv`; `name` is made by us, never by a user."""
    response = Response(csv_text(header, rows), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
