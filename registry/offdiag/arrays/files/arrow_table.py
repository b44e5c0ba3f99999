"""Columns of Parquet and Arrow files. Only the columns asked for are read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from offdiag.arrays.files.checks import FileColumn, damaged, no_cases, require_columns


def read_parquet_columns(path: Path, names: list[str]) -> dict[str, FileColumn]:
    """The named columns with the types the file declares. Raises `InvalidInput`."""
    import pyarrow.parquet as pq

    with path.open("rb") as source:
        try:
            file = pq.ParquetFile(source)
            require_columns(names, file.schema_arrow.names, path)
            table = file.read(columns=names)
        except pa.ArrowException as error:
            raise damaged(path, "Parquet", error) from None
        return _columns(table, names, path)


def read_arrow_columns(path: Path, names: list[str]) -> dict[str, FileColumn]:
    """The named columns of an Arrow file or stream. Raises `InvalidInput`."""
    from pyarrow import ipc

    with path.open("rb") as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        try:
            reader = ipc.open_file(source) if is_file else ipc.open_stream(source)
            require_columns(names, reader.schema.names, path)
            table = reader.read_all()
        except pa.ArrowException as error:
            raise damaged(path, "Arrow", error) from None
        return _columns(table, names, path)


def _columns(table: pa.Table, names: list[str], path: Path) -> dict[str, FileColumn]:
    if table.num_rows == 0:
        raise no_cases(path)
    return {name: table.column(name).combine_chunks() for name in names}
