"""Rows of a frame that is still on its engine, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import narwhals as nw
import pyarrow as pa

from offdiag.sdk.frames.opening import LazyFrame

BATCH_ROWS = 65_536
"""Rows that are held at once where the engine can tell them out: as many as a stored chunk."""


def row_batches(frame: LazyFrame) -> Iterator[pa.Table]:
    """The rows of a lazy frame in the order its engine gives them.

    Dask holds one of its partitions at a time. An engine without a way to tell out rows, as old
    releases of polars and DuckDB, is collected at once.
    """
    native: Any = frame.to_native()
    engine = frame.implementation
    if engine.is_polars() and hasattr(native, "collect_batches"):
        parts = native.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
        yield from (part.to_arrow() for part in parts)
    elif engine.is_duckdb() and hasattr(native, "to_arrow_reader"):
        yield from _of_batches(native.to_arrow_reader(BATCH_ROWS))
    elif engine.is_ibis():
        yield from _of_batches(native.to_pyarrow_batches(chunk_size=BATCH_ROWS))
    elif engine.is_dask():
        for place in range(native.npartitions):
            part = native.get_partition(place).compute()
            yield nw.from_native(part, eager_only=True).to_arrow()
    elif engine.is_pyspark() or engine.is_pyspark_connect():
        yield from _of_spark(native)
    else:
        yield frame.collect(backend="pyarrow").to_native()


def _of_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in batches)


def _of_spark(native: Any) -> Iterator[pa.Table]:
    """Rows as Spark sends them, partition by partition, put together into columns here."""
    names = list(native.columns)
    schema = _arrow_schema(native)
    rows = native.toLocalIterator()
    while batch := list(islice(rows, BATCH_ROWS)):
        columns = zip(*batch, strict=True)
        yield pa.table(dict(zip(names, map(list, columns), strict=True)), schema=schema)


def _arrow_schema(native: Any) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(native.schema)
