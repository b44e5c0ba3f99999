"""Rows of a frame, in memory or batch by batch from its engine, and the classes in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from offdiag.domain.labels import MAX_CLASSES, LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.columns import chunks_of_stream, is_missing, refuse_mixed_zones
from offdiag.inputs.labels import infer_labels
from offdiag.inputs.score_columns import PickedColumns
from offdiag.inputs.scores import single_precision
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame

_INDEX = re.compile(r"\bat (?:index (\d+)|\[(\d+)\])")


@dataclass(frozen=True, slots=True)
class Rows:
    """Consecutive rows of a frame by columns; `first` is the number of the first row, from 0."""

    values: pa.Table
    first: int

    def __len__(self) -> int:
        return int(self.values.num_rows)

    def arguments(self, columns: FrameColumns) -> dict[str, Any]:
        """The arguments of `log_run` that are arrays. Raises `InvalidInput` for scores."""
        given: dict[str, Any] = {}
        if columns.predicted is not None:
            given["y_pred"] = self.values[columns.predicted]
        if columns.actual is not None:
            given["y_true"] = self.values[columns.actual]
        if columns.scores:
            names = columns.score_classes or columns.scores
            given["y_score"] = PickedColumns(self._scores(columns.scores), names)
        if columns.sample_id is not None:
            given["sample_ids"] = self.values[columns.sample_id]
        if columns.weight is not None:
            given["sample_weight"] = self.values[columns.weight]
        if columns.slices:
            given["slices"] = {name: self.values[name] for name in columns.slices}
        return given

    @contextmanager
    def located(self, columns: FrameColumns) -> Iterator[None]:
        """Make errors name the column and row of the frame instead of argument and index."""
        try:
            yield
        except InvalidInput as error:
            # The ingest counts within what it was given, which is this part of the frame.
            message = _INDEX.sub(self._row, str(error.message))
            raise InvalidInput(
                message, field=columns.place_of(error.field), hint=error.hint
            ) from None

    def _row(self, found: re.Match[str]) -> str:
        return f"in row {self.first + int(found[1] or found[2])}"

    def _scores(self, names: tuple[str, ...]) -> NDArray[np.float32]:
        table = np.stack([self._score(name) for name in names], axis=-1)
        return table[:, 0] if len(names) == 1 else table

    def _score(self, name: str) -> NDArray[np.float32]:
        column = self.values[name]
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise InvalidInput(
                f"values of type {column.type} are not scores.",
                field=f"score={name!r}",
                hint="Scores are finite numbers; give lists as one column for each class.",
            )
        values = single_precision(column.to_numpy())
        broken = ~np.isfinite(values)
        if broken.any():
            place = int(np.argmax(broken))
            held = column[place].as_py()
            raise InvalidInput(
                f"the score in row {self.first + place} is {'missing' if held is None else held}.",
                field=f"score={name!r}",
                hint="Scores are finite numbers that float32 can hold; drop the row or repair it.",
            )
        return values


def rows_in_memory(frame: EagerFrame) -> Rows:
    """All rows of a frame that is in memory.

    Raises `InvalidInput` for a column with values of several kinds, naming the first row that
    differs from the rows before it.
    """
    columns = {name: _arrow(frame[name].to_native(), name) for name in frame.columns}
    return Rows(pa.table(columns), 0)


def _arrow(values: Any, name: str) -> pa.ChunkedArray:
    try:
        if hasattr(values, "__arrow_c_stream__"):
            column = chunks_of_stream(values)
        else:
            column = pa.chunked_array([pa.array(values, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        row, kinds = _first_other_kind(list(values))
        raise InvalidInput(
            f"row {row} of column {name!r} holds {kinds}, unlike the rows before it."
            if kinds
            else f"column {name!r} cannot be read ({str(error).splitlines()[0]}).",
            field="frame",
            hint="Use one type for all values of a column: str, int or bool.",
        ) from None
    refuse_mixed_zones(values, column.type, field=f"slices[{name!r}]")
    return column


def _first_other_kind(values: list[object]) -> tuple[int, str]:
    """Number and type name of the first value whose type differs from the values before it."""
    kind = None
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        if kind is not None and type(value) is not kind:
            return row, type(value).__name__
        kind = type(value)
    return 0, ""


BATCH_ROWS = 65_536
"""Rows held at once, if the engine can return rows in batches: as many as in a stored chunk."""


def row_batches(frame: LazyFrame) -> Iterator[pa.Table]:
    """The rows of a lazy frame in the order in which its engine returns them.

    Dask holds one of its partitions at a time. An engine that cannot return rows in batches, such
    as an old release of polars or DuckDB, is collected at once.
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
    """Rows as Spark sends them, partition by partition, assembled into columns here."""
    native = _in_utc(native)
    names = list(native.columns)
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(native.schema)
    rows = native.toLocalIterator()
    while batch := list(islice(rows, BATCH_ROWS)):
        columns = zip(*batch, strict=True)
        yield pa.table(dict(zip(names, map(list, columns), strict=True)), schema=schema)


def _in_utc(native: Any) -> Any:
    """The frame with times in UTC, as for counts, instead of the time zone of this process."""
    from pyspark.sql import functions
    from pyspark.sql.types import TimestampType

    times = {
        field.name: functions.convert_timezone(
            None, functions.lit("UTC"), functions.col(f"`{field.name}`").cast("timestamp_ntz")
        )
        for field in native.schema
        if isinstance(field.dataType, TimestampType)
    }
    return native.withColumns(times)


def labels_on_engine(frame: LazyFrame, columns: FrameColumns) -> LabelSet:
    """The sorted labels of both columns, marked as inferred.

    Raises `InvalidInput` for a column with missing values, naming the first, and for values that
    are not labels.
    """
    roles = {"actual": columns.actual, "predicted": columns.predicted}
    named = {role: name for role, name in roles.items() if name is not None}
    return infer_labels(
        *((f"{role}={name!r}", _distinct(frame, role, name)) for role, name in named.items())
    )


def _distinct(frame: LazyFrame, role: str, name: str) -> pa.ChunkedArray:
    # Grouping is what every engine can do; dropping duplicates is not.
    groups = frame.group_by(name).agg(nw.len().alias(f"{name} occurs"))
    values = groups.select(name).head(MAX_CLASSES + 1).collect(backend="pyarrow").to_native()[name]
    if _gap_in(values) is not None:
        row = _first_gap(frame, name)
        raise InvalidInput(
            f"the value in row {row} is missing.",
            field=f"{role}={name!r}",
            hint="Drop the row or fill in its value.",
        )
    return values


def _first_gap(frame: LazyFrame, name: str) -> int:
    first = 0
    for batch in row_batches(frame.select(name)):
        place = _gap_in(batch[name])
        if place is not None:
            return first + place
        first += batch.num_rows
    raise AssertionError  # The engine found one.


def _gap_in(values: pa.ChunkedArray) -> int | None:
    place = int(pc.index(values.is_null(nan_is_null=True), True).as_py())
    return None if place < 0 else place
