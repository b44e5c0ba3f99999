"""Reading columns from an Arrow stream, a Parquet file or a CSV table in a request body.

Parquet unpacks pages to the size in their headers, so a forged file of a few hundred bytes can ask
for gigabytes, and a badly damaged one can crash the process that reads it. That process does
nothing else, and has limits on memory and time.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput, Malformed, TooLarge
from offdiag.inputs.arrow_descriptions import describe_batch
from offdiag.inputs.bodies.columns import (
    ACTUAL,
    PREDICTED,
    is_of_numbers,
    require_few_bytes,
    require_few_columns,
    require_few_rows,
    require_known_columns,
)
from offdiag.inputs.files.csv_table import csv_column_names, read_csv_columns, with_empty_text
from offdiag.inputs.files.tables import require_decimals, require_no_gaps
from offdiag.inputs.scratch import scratch_folder

if TYPE_CHECKING:
    import pyarrow as pa

_OF_DICTIONARY = {"dictionary": True, "record batch": False}


def read_arrow_body(body: bytes) -> dict[str, pa.Array]:
    """The columns of a stream of batches, compressed or not, with every value validated.

    Raises `Malformed` for anything that is not such a stream, `TooLarge` before it is unpacked,
    and `InvalidInput` for other columns than those of a chunk.
    """
    import pyarrow as pa

    try:
        _require_small(body)
        with pa.ipc.open_stream(body) as reader:
            require_known_columns(reader.schema.names)
            table = reader.read_all()
        table.validate(full=True)
        return {name: _plain(_whole(table.column(name))) for name in table.column_names}
    except InvalidInput:
        raise
    except (pa.ArrowException, ValueError, OSError, struct.error, OverflowError) as error:
        raise _damaged_stream(error) from None


def _require_small(body: bytes) -> None:
    """Check the sizes that every message claims, without unpacking or copying anything."""
    import pyarrow as pa

    n_rows = n_bytes = 0
    for message in pa.ipc.MessageReader.open_stream(body):
        if message.type == "schema":
            require_few_columns(len(pa.ipc.read_schema(message)))
            continue
        if message.type not in _OF_DICTIONARY:
            raise ValueError(f"it holds a {message.type}")
        of_dictionary = _OF_DICTIONARY[message.type]
        found = describe_batch(
            message.metadata.to_pybytes(),
            memoryview(message.body or b""),
            of_dictionary=of_dictionary,
        )
        n_rows += 0 if of_dictionary else found.n_rows
        n_bytes += found.n_bytes
        require_few_rows(max(n_rows, found.n_rows))
        require_few_bytes(n_bytes)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """The whole column; without copying if there is only one batch, as in most streams."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _plain(column: pa.Array) -> pa.Array:
    """The stored values of a column; extension types only say how to show them."""
    import pyarrow as pa

    storage = column.storage if isinstance(column, pa.ExtensionArray) else column
    # Concatenating no batches at all gives a chunked array again.
    return storage.combine_chunks() if isinstance(storage, pa.ChunkedArray) else storage


def _damaged_stream(error: Exception) -> Malformed:
    lines = str(error).splitlines()
    return Malformed(
        f"the body is not a valid Arrow stream ({lines[0] if lines else type(error).__name__}).",
        field="body",
        hint="Write it with Arrow's stream writer, and send all of it.",
    )


_READER = "offdiag.inputs.bodies.parquet_reader"
_REFUSED = 3
"""Exit code of the reader when it reports what is wrong."""
_MOST_SECONDS = 20
_MOST_DESCRIPTION = 4 << 20
_KINDS = {kind.code: kind for kind in (InvalidInput, Malformed, TooLarge)}


def read_parquet_body(body: bytes) -> dict[str, pa.Array]:
    """The columns of a Parquet file. Raises the same as `read_arrow_body`."""
    _require_short_description(body)
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; the body is its input
            [sys.executable, "-P", "-m", _READER],
            input=body,
            capture_output=True,
            timeout=_MOST_SECONDS,
            check=False,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise _damaged_file(f"reading it took more than {_MOST_SECONDS} s") from None
    if done.returncode == 0:
        return read_arrow_body(done.stdout)
    if done.returncode == _REFUSED:
        said = json.loads(done.stderr.splitlines()[-1])
        raise _KINDS[said["code"]](said["message"], field=said["field"], hint=said["hint"])
    raise _damaged_file("its reader crashed")


def _require_short_description(body: bytes) -> None:
    if len(body) < 12 or not body.startswith(b"PAR1") or not body.endswith(b"PAR1"):
        raise _damaged_file("its PAR1 markers are missing")
    (size,) = struct.unpack_from("<I", body, len(body) - 8)
    if size > len(body) - 12:
        raise _damaged_file("its metadata is longer than the file")
    if size > _MOST_DESCRIPTION:
        raise TooLarge(
            f"the Parquet metadata has {size:,} bytes.",
            field="body",
            hint="Send only the columns of a chunk, in few row groups.",
        )


def _damaged_file(why: str) -> Malformed:
    return Malformed(
        f"the body is not a valid Parquet file ({why}).",
        field="body",
        hint="Write it again; Arrow streams are read faster.",
    )


def read_csv_body(body: bytes, labels: LabelSet) -> dict[str, pa.Array]:
    """The columns of a CSV table with a header, for a run with these labels.

    Raises the same as `read_csv_columns` and `require_decimals`, `InvalidInput` for empty cells
    without quotes unless the empty text is a class, `TooLarge`, and `StorageFull` if the temporary
    folder has no room for the table.
    """
    import pyarrow as pa

    # The file reader may read the text twice: for its values, and to say what is wrong.
    with scratch_folder("chunk") as folder:
        path = folder / "chunk.csv"
        path.write_bytes(body)
        names = csv_column_names(path)
        require_few_columns(len(names))
        require_known_columns(names)
        columns = read_csv_columns(path, names)
        if "" in labels.index:
            columns = with_empty_text(columns, (ACTUAL, PREDICTED))
        require_no_gaps(path, columns)
        require_decimals(path, {name: columns[name] for name in names if is_of_numbers(name)})
    require_few_rows(len(columns[names[0]]))
    return {name: pa.array(column) for name, column in columns.items()}
