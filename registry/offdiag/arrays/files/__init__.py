"""Columns and matrices out of files: CSV, Parquet, JSON lines, Arrow and JSON.

Labels must survive reading. Most readers turn the classes `NA` and `null` into missing values,
`007` and `7` into one class, `true` into a boolean, and move every label by one column where a
line is too long. Here CSV is text and nothing else, every line must have the fields of the
header, and the other formats keep the types they declare. What is missing is never a label: an
empty cell of CSV is the empty text only in quotes, or where the caller says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from offdiag.arrays.files.arrow_table import read_arrow_columns, read_parquet_columns
from offdiag.arrays.files.checks import FileColumn, unreadable
from offdiag.arrays.files.csv_table import read_csv_columns, with_empty_text
from offdiag.arrays.files.gaps import require_no_gaps
from offdiag.arrays.files.json_lines import read_json_line_columns
from offdiag.arrays.files.matrix import MatrixFile, read_matrix
from offdiag.arrays.files.numbers import stacked_numbers
from offdiag.errors import InvalidInput

__all__ = ["MatrixFile", "is_table", "read_columns", "read_matrix", "stacked_numbers"]

_CSV = (".csv", ".tsv")
_READERS = {
    ".parquet": read_parquet_columns,
    ".jsonl": read_json_line_columns,
    ".ndjson": read_json_line_columns,
    ".arrow": read_arrow_columns,
    ".arrows": read_arrow_columns,
    ".feather": read_arrow_columns,
}


def is_table(path: Path) -> bool:
    """Whether a file has the suffix of a format that `read_columns` reads."""
    return path.suffix.lower() in (*_CSV, *_READERS)


def read_columns(
    path: Path,
    names: Sequence[str],
    *,
    empty_text: Collection[str] = (),
    with_gaps: Collection[str] = (),
) -> dict[str, FileColumn]:
    """The named columns of a table file, whose suffix tells its format.

    In the columns `empty_text` of a CSV file an empty cell is the empty text, whether it has
    quotes or not; elsewhere it is missing. Values may be missing in the columns `with_gaps`
    only. Raises `InvalidInput` for an unknown suffix, a file that cannot be read or is damaged,
    columns that are missing or stand twice, and missing values, naming the line or row.
    """
    suffix = path.suffix.lower()
    if not is_table(path):
        raise InvalidInput(
            f"the suffix of {path.name!r} names no format that is known.",
            field="file",
            hint=f"Known are {', '.join((*_CSV, *_READERS))}.",
        )
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
