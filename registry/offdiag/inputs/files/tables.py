"""Reading columns of table files: CSV, Parquet, JSON lines and Arrow.

Labels must survive reading. Most readers turn the classes `NA` and `null` into missing values,
`007` and `7` into one class, `true` into a boolean, and shift every label by one column if a line
is too long. Here CSV is text and nothing else, every line must have the fields of the header, and
the other formats keep the types they declare. A missing value is never a label: an empty cell of
CSV is the empty text only in quotes, or if the caller says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.inputs.files.arrow_table import (
    arrow_column_names,
    parquet_column_names,
    read_arrow_columns,
    read_parquet_columns,
)
from offdiag.inputs.files.checks import FileColumn, both_readings, may_part_thousands, unreadable
from offdiag.inputs.files.csv_table import (
    csv_column_names,
    csv_delimiter,
    line_of_row,
    read_csv_columns,
    with_empty_text,
)
from offdiag.inputs.files.json_files import json_line_names, line_of_object, read_json_line_columns

_CSV = (".csv", ".tsv")
_SHEETS = (".xlsx", ".xls", ".ods")
_READERS = {
    ".parquet": read_parquet_columns,
    ".jsonl": read_json_line_columns,
    ".ndjson": read_json_line_columns,
    ".arrow": read_arrow_columns,
    ".arrows": read_arrow_columns,
    ".feather": read_arrow_columns,
}
_NAMES = {
    ".parquet": parquet_column_names,
    ".jsonl": json_line_names,
    ".ndjson": json_line_names,
}


def is_table(path: Path) -> bool:
    """Whether a file has the suffix of a format that `read_columns` reads."""
    return path.suffix.lower() in (*_CSV, *_READERS)


def column_names(path: Path) -> list[str]:
    """The names of the columns of a table file; for JSON lines, those of the first object.

    Raises `InvalidInput` like `read_columns`.
    """
    suffix = path.suffix.lower()
    _require_table(path)
    read = csv_column_names if suffix in _CSV else _NAMES.get(suffix, arrow_column_names)
    try:
        return read(path)
    except OSError as error:
        raise unreadable(path, error) from None


def _require_table(path: Path) -> None:
    if path.is_dir():
        raise InvalidInput(
            f"{str(path)!r} is a folder.", field="file", hint="Name a file with a table."
        )
    if not is_table(path):
        known = f"Use {', '.join((*_CSV, *_READERS))}"
        is_sheet = path.suffix.lower() in _SHEETS
        raise InvalidInput(
            f"the suffix of {path.name!r} is not supported.",
            field="file",
            hint=f"{known}; save a spreadsheet as CSV." if is_sheet else f"{known}.",
        )


def read_columns(
    path: Path,
    names: Sequence[str],
    *,
    empty_text: Collection[str] = (),
    with_gaps: Collection[str] = (),
) -> dict[str, FileColumn]:
    """The named columns of a table file, whose format is given by its suffix.

    In the columns `empty_text` of a CSV file an empty cell is the empty text, with or without
    quotes; elsewhere it is missing. Values may be missing in the columns `with_gaps` only. Raises
    `InvalidInput` for an unknown suffix, a file that cannot be read or is damaged, columns that
    are missing or occur twice, and missing values, naming the line or row.
    """
    suffix = path.suffix.lower()
    _require_table(path)
    try:
        wanted = list(dict.fromkeys(names))
        columns: dict[str, FileColumn] = (
            {**with_empty_text(read_csv_columns(path, wanted), empty_text)}
            if suffix in _CSV
            else _READERS[suffix](path, wanted)
        )
        require_no_gaps(
            path, {name: column for name, column in columns.items() if name not in with_gaps}
        )
    except OSError as error:
        raise unreadable(path, error) from None
    return columns


def require_decimals(path: Path, columns: Mapping[str, FileColumn]) -> None:
    """Raise `InvalidInput` if points in columns of numbers may be thousands separators: 1.250.

    In languages with a decimal comma, spreadsheets separate fields with another character and
    thousands with a point.
    """
    import pyarrow.compute as pc

    if path.suffix.lower() not in _CSV or csv_delimiter(path) == ",":
        return
    found = None
    for name, column in columns.items():
        for text in pc.filter(column, pc.match_substring(column, ".")):
            number = text.as_py().strip()
            if not may_part_thousands(number):
                return
            found = found or (name, number)
    if found is not None:
        name, number = found
        raise InvalidInput(
            f"the value {number} of column {name!r} may be {both_readings(number)}.",
            field="file",
            hint="Write thousands without a point, or a decimal more or less than three.",
        )


def stacked_numbers(columns: Mapping[str, FileColumn]) -> NDArray[np.float64]:
    """Columns of n numbers side by side, shape (n, number of columns), or (n,) for one.

    Raises `InvalidInput` naming the column and the first value that is not a number.
    """
    numbers = [_numbers(column, name) for name, column in columns.items()]
    return numbers[0] if len(numbers) == 1 else np.column_stack(numbers)


def _numbers(column: FileColumn, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        array = column if isinstance(column, pa.Array) else pa.array(column)
        if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            # As in "a, 0.5": blanks next to a number mean nothing.
            array = pc.ascii_trim_whitespace(array)
        numbers = pc.cast(array, pa.float64())
    except pa.ArrowException:
        raise _no_number(column, name) from None
    if numbers.null_count:
        raise _no_number(column, name)
    values: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
    return values


def _no_number(column: FileColumn, name: str) -> InvalidInput:
    import pyarrow as pa

    values = column.to_pylist() if isinstance(column, pa.Array) else column
    found = ((row, value) for row, value in enumerate(values) if not _is_number(value))
    row, value = next(found, (None, None))
    hint = "Scores and weights are numbers, with a point before the decimals."
    if row is None:
        kinds = " and ".join(dict.fromkeys(type(value).__name__ for value in values))
        mixed = f"column {name!r} mixes values of types {kinds}."
        return InvalidInput(mixed, field="file", hint=hint)
    what = f"the value of column {name!r}"
    return InvalidInput.of_value(what, row, f"is {value!r}.", field="file", hint=hint)


def _is_number(value: object) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(value, str):
        return isinstance(value, (int, float))
    try:
        pc.cast(pa.scalar(value.strip()), pa.float64())
    except pa.ArrowException:
        return False
    return True


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


@contextmanager
def naming_lines(path: Path) -> Iterator[None]:
    """Let errors about a value name the line of a text file, or else the row, that has it."""
    try:
        yield
    except InvalidInput as error:
        if error.index is None:
            raise
        place, _ = _place(path, error.index)
        preposition = "on" if place.startswith("line") else "in"
        raise error.at(error.index, f"{preposition} {place} of {path.name}") from None


def _place(path: Path, row: int) -> tuple[str, str]:
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return f"line {line_of_row(path, row)}", "cell"
        case ".jsonl" | ".ndjson":
            return f"line {line_of_object(path, row)}", "line"
        case _:
            return f"row {row}", "row"
