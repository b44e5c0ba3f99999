"""Finding missing values in columns of files, and reporting their line or row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from offdiag.errors import InvalidInput
from offdiag.inputs.files.checks import FileColumn
from offdiag.inputs.files.csv_table import line_of_row
from offdiag.inputs.files.json_files import line_of_object

_WAY_OUT = {
    "line": "Fill it in or drop the line.",
    "row": "Fill it in or drop the row; rows are counted from 0.",
    "cell": "Fill it in or drop the line. Where the empty text is a class, write it in quotes "
    '("") or name it among the labels.',
}


def require_no_gaps(path: Path, columns: Mapping[str, FileColumn]) -> None:
    """Raise `InvalidInput` naming the line or row of the first missing value.

    Empty cells of a CSV file without quotes, null, and NaN count as missing.
    """
    for name, column in columns.items():
        row = _first_gap(column)
        if row is not None:
            place, way_out = _place(path, row)
            raise InvalidInput(
                f"{place} of {path.name} has no value in column {name!r}.",
                field=name,
                hint=_WAY_OUT[way_out],
            )


def _first_gap(column: FileColumn) -> int | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, list):
        return next((row for row, value in enumerate(column) if value is None), None)
    # A dictionary may hold the missing value as one of its entries.
    values = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
    row = int(pc.index(values.is_null(nan_is_null=True), True).as_py())
    return None if row < 0 else row


def _place(path: Path, row: int) -> tuple[str, str]:
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return f"line {line_of_row(path, row)}", "cell"
        case ".jsonl" | ".ndjson":
            return f"line {line_of_object(path, row)}", "line"
        case _:
            return f"row {row}", "row"
