"""The classes that occur in a frame, found by its engine."""

from __future__ import annotations

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from offdiag.domain.labels import MAX_CLASSES, LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.labels import infer_labels
from offdiag.sdk.frames.batches import row_batches
from offdiag.sdk.frames.columns import FrameColumns
from offdiag.sdk.frames.opening import LazyFrame


def labels_on_engine(frame: LazyFrame, columns: FrameColumns) -> LabelSet:
    """The sorted labels of both columns, marked as inferred.

    Raises `InvalidInput` for a column that has gaps, naming the first, and for values that are
    no labels.
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
