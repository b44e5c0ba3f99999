"""Columns and matrices out of files: CSV, Parquet, JSON lines, Arrow and JSON.

Labels must survive reading. Most readers turn the classes `NA` and `null` into missing values,
`007` and `7` into one class, `true` into a boolean, and move every label by one column where a
line is too long. Here CSV is text and nothing else, every line must have the fields of the
header, and the other formats keep the types they declare.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from offdiag.arrays.files.arrow_table import read_arrow_columns, read_parquet_columns
from offdiag.arrays.files.checks import FileColumn, unreadable
from offdiag.arrays.files.csv_table import read_csv_columns
from offdiag.arrays.files.json_lines import read_json_line_columns
from offdiag.arrays.files.matrix import MatrixFile, read_matrix
from offdiag.arrays.files.numbers import stacked_numbers
from offdiag.errors import InvalidInput

__all__ = ["MatrixFile", "is_table", "read_columns", "read_matrix", "stacked_numbers"]

_READERS = {
    ".csv": read_csv_columns,
    ".tsv": read_csv_columns,
    ".parquet": read_parquet_columns,
    ".jsonl": read_json_line_columns,
    ".ndjson": read_json_line_columns,
    ".arrow": read_arrow_columns,
    ".arrows": read_arrow_columns,
    ".feather": read_arrow_columns,
}


def is_table(path: Path) -> bool:
    """Whether a file has the suffix of a format that `read_columns` reads."""
    return path.suffix.lower() in _READERS


def read_columns(path: Path, names: Sequence[str]) -> dict[str, FileColumn]:
    """The named columns of a table file, whose suffix tells its format.

    Raises `InvalidInput` for an unknown suffix, a file that cannot be read or is damaged, and
    columns that are missing or stand twice.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InvalidInput(
            f"the suffix of {path.name!r} names no format that is known.",
            field="file",
            hint=f"Known are {', '.join(_READERS)}.",
        )
    try:
        return reader(path, list(dict.fromkeys(names)))
    except OSError as error:
        raise unreadable(path, error) from None
