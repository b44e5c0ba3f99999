"""Columns of a CSV table that somebody sent, every value as the text it is written as."""

from __future__ import annotations

import pyarrow as pa

from offdiag.arrays.bodies.columns import ACTUAL, PREDICTED, require_known_columns
from offdiag.arrays.bodies.limits import require_few_columns, require_few_rows
from offdiag.arrays.files.csv_table import column_names, read_csv_columns, with_empty_text
from offdiag.arrays.files.gaps import require_no_gaps
from offdiag.arrays.scratch import scratch_folder
from offdiag.domain.labels import LabelSet


def read_csv_body(body: bytes, labels: LabelSet) -> dict[str, pa.Array]:
    """The columns of a table with a header, of a run with such labels.

    Raises as `read_csv_columns` does, `InvalidInput` for empty cells without quotes unless the
    empty text is a class, `TooLarge`, and `StorageFull` where there is no room for
    the table in the temporary folder.
    """
    # The reader of files looks at the text twice: to read it, and to say what is wrong.
    with scratch_folder("chunk") as folder:
        path = folder / "chunk.csv"
        path.write_bytes(body)
        names = column_names(path)
        require_few_columns(len(names))
        require_known_columns(names)
        columns = read_csv_columns(path, names)
        if "" in labels.index:
            columns = with_empty_text(columns, (ACTUAL, PREDICTED))
        require_no_gaps(path, columns)
    require_few_rows(len(columns[names[0]]))
    return {name: pa.array(column) for name, column in columns.items()}
