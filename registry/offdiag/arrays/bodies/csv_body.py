"""Columns of a CSV table that somebody sent, every value as the text it is written as."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa

from offdiag.arrays.bodies.columns import require_known_columns
from offdiag.arrays.bodies.limits import require_few_columns, require_few_rows
from offdiag.arrays.files.csv_table import column_names, read_csv_columns


def read_csv_body(body: bytes) -> dict[str, pa.Array]:
    """The columns of a table with a header. Raises as `read_csv_columns` does, and `TooLarge`."""
    # The reader of files looks at the text twice: to read it, and to say what is wrong.
    with tempfile.TemporaryDirectory(prefix="offdiag-") as folder:
        path = Path(folder) / "chunk.csv"
        path.write_bytes(body)
        names = column_names(path)
        require_few_columns(len(names))
        require_known_columns(names)
        columns = read_csv_columns(path, names)
    require_few_rows(len(columns[names[0]]))
    return {name: pa.array(column) for name, column in columns.items()}
