"""Reading columns of Parquet and Arrow files. Only the requested columns are read.

The sizes that a file claims are checked against the limits before anything is unpacked, and the
data is counted batch by batch, because the claims may be forged.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from offdiag.errors import InvalidInput
from offdiag.inputs.arrow_descriptions import describe_batch
from offdiag.inputs.files.checks import (
    FileColumn,
    damaged,
    no_samples,
    require_columns,
    require_few_bytes,
    require_few_rows,
)

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1 << 20
_MOST_IN_LIST = 1_000_000
"""Limit on the entries of a list in the metadata of a Parquet file."""


def read_parquet_columns(path: Path, names: list[str]) -> dict[str, FileColumn]:
    """The named columns with the types the file declares. Raises `InvalidInput`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as source, _in_words(path, "Parquet"):
        file = pq.ParquetFile(source, thrift_container_size_limit=_MOST_IN_LIST)
        require_columns(names, file.schema_arrow.names, path)
        require_few_rows(file.metadata.num_rows, path.name)
        batches = file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=names)
        schema = pa.schema([file.schema_arrow.field(name) for name in names])
        return _columns(schema, batches, path)


def parquet_column_names(path: Path) -> list[str]:
    """The names of the columns. Raises `InvalidInput`."""
    import pyarrow.parquet as pq

    with path.open("rb") as source, _in_words(path, "Parquet"):
        file = pq.ParquetFile(source, thrift_container_size_limit=_MOST_IN_LIST)
        return list(file.schema_arrow.names)


def arrow_column_names(path: Path) -> list[str]:
    """The names of the columns of an Arrow file or stream. Raises `InvalidInput`."""
    import pyarrow as pa

    require_few_bytes(path.stat().st_size, path.name)
    with _in_words(path, "Arrow"):
        return list(_arrow_batches(pa.py_buffer(path.read_bytes()), path.name)[0].names)


def read_arrow_columns(path: Path, names: list[str]) -> dict[str, FileColumn]:
    """The named columns of an Arrow file or stream. Raises `InvalidInput`."""
    import pyarrow as pa

    require_few_bytes(path.stat().st_size, path.name)
    # Reading from the file, Arrow would reserve memory for a message that claims more than exists.
    content = pa.py_buffer(path.read_bytes())
    with _in_words(path, "Arrow"):
        schema, batches = _arrow_batches(content, path.name)
        require_columns(names, schema.names, path)
        wanted = (batch.select(names) for batch in batches)
        return _columns(pa.schema([schema.field(name) for name in names]), wanted, path)


def _arrow_batches(content: pa.Buffer, name: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The batches of a file or a stream: an Arrow file is a stream between two markers."""
    import pyarrow as pa
    from pyarrow import ipc

    is_file = content.slice(0, 6).equals(pa.py_buffer(b"ARROW1"))
    stream = content.slice(8) if is_file else content
    require_few_bytes(_promised_bytes(ipc.MessageReader.open_stream(stream)), name)
    reader = ipc.open_stream(stream)
    return reader.schema, iter(reader)


def _promised_bytes(messages: Iterable[pa.ipc.Message]) -> int:
    """Bytes of the largest batch after unpacking, which Arrow does before it can be checked."""
    largest = 0
    for message in messages:
        if message.type in {"record batch", "dictionary"}:
            found = describe_batch(
                message.metadata.to_pybytes(),
                memoryview(message.body or b""),
                of_dictionary=message.type == "dictionary",
            )
            largest = max(largest, found.n_bytes)
    return largest


def _columns(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: Path
) -> dict[str, FileColumn]:
    import pyarrow as pa

    kept = []
    n_rows = n_bytes = 0
    for batch in batches:
        batch.validate(full=True)
        n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
        require_few_rows(n_rows, path.name)
        require_few_bytes(n_bytes, path.name)
        kept.append(batch)
    if n_rows == 0:
        raise no_samples(path)
    table = pa.Table.from_batches(kept, schema=kept[0].schema if kept else schema)
    return {name: table.column(name).combine_chunks() for name in table.column_names}


@contextmanager
def _in_words(path: Path, kind: str) -> Iterator[None]:
    """Raise Arrow's errors about a damaged file as `InvalidInput`."""
    import pyarrow as pa

    try:
        yield
    except InvalidInput:
        raise
    except (pa.ArrowException, ValueError, struct.error, OverflowError, MemoryError) as error:
        raise damaged(path, kind, error) from None
    except OSError as error:
        # Arrow reports some damage as a system error, but then without an error number.
        if error.errno is not None:
            raise
        raise damaged(path, kind, error) from None
