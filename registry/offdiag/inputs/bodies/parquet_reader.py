"""A process that reads one Parquet file from its input and writes an Arrow stream.

It is started by `offdiag.inputs.bodies.formats`. If the file is refused, the last line of the
error output says why, as JSON, and the exit code is 3; any other failure means that the file
crashed the reader.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import TYPE_CHECKING, BinaryIO

from offdiag.errors import InvalidInput, Malformed
from offdiag.inputs.bodies.columns import (
    require_few_bytes,
    require_few_columns,
    require_few_rows,
    require_known_columns,
)

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_MOST_MEMORY = 2 << 30
_MOST_CPU_S = 15
_ROWS_AT_ONCE = 16_384
_MOST_IN_LIST = 200_000
"""Entries of a list in the metadata of a file: one for each column of each row group."""


def main() -> int:
    """Read the file and write the stream; the exit code says whether that worked."""
    import pyarrow as pa

    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_S, _MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _copy(sys.stdin.buffer.read(), sys.stdout.buffer)
    except InvalidInput as error:
        return _refuse(error)
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError) as error:
        lines = str(error).splitlines()
        return _refuse(
            Malformed(
                "the body is not a valid Parquet file "
                f"({lines[0] if lines else type(error).__name__}).",
                field="body",
                hint="Write it again; Arrow streams are read faster.",
            )
        )
    return 0


def _copy(body: bytes, sink: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(
        pa.BufferReader(body),
        thrift_container_size_limit=_MOST_IN_LIST,
        pre_buffer=False,
    ) as file:
        _require_small(file.metadata)
        require_known_columns(file.schema_arrow.names)
        n_rows = n_bytes = 0
        with pa.ipc.new_stream(sink, file.schema_arrow.remove_metadata()) as writer:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False):
                n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
                require_few_rows(n_rows)
                require_few_bytes(n_bytes)
                writer.write_batch(batch)


def _require_small(description: pq.FileMetaData) -> None:
    """Check what the file says about itself against the limits before any page is read."""
    require_few_columns(description.num_columns)
    require_few_rows(description.num_rows)
    groups = [description.row_group(at) for at in range(description.num_row_groups)]
    require_few_rows(sum(group.num_rows for group in groups))
    require_few_bytes(sum(group.total_byte_size for group in groups))
    for group in groups:
        for at in range(group.num_columns):
            column = group.column(at)
            require_few_bytes(column.total_uncompressed_size)
            if column.total_uncompressed_size < 0 or column.num_values < 0:
                raise ValueError("a length is negative")


def _refuse(error: InvalidInput) -> int:
    sys.stderr.write(f"{json.dumps(error.to_dict())}\n")
    return 3


if __name__ == "__main__":
    sys.exit(main())
