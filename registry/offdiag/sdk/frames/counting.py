"""Counting the cases of a frame by its own library, on its own engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import pyarrow as pa

from offdiag.errors import InvalidInput
from offdiag.inputs.counted_cases import MAX_KINDS, too_many_kinds
from offdiag.sdk.frames.columns import FrameColumns
from offdiag.sdk.frames.opening import EagerFrame, LazyFrame
from offdiag.sdk.frames.rows import rows_in_memory

_SIZE = "offdiag: cases"


@dataclass(frozen=True, slots=True)
class Kinds:
    """One entry for each combination of values that occurs: its values, its size."""

    columns: dict[str, list[Any]]
    sizes: list[int]


def count_kinds(frame: EagerFrame | LazyFrame, columns: FrameColumns) -> Kinds:
    """How many rows have each combination of values in the named columns.

    Of a lazy frame only the counts are collected. Raises `InvalidInput` for a frame without
    rows, too many combinations, missing values and values of several kinds in one column.
    """
    counted = _counted(frame, columns.names)
    kinds = Kinds(
        {name: counted[name].to_pylist() for name in columns.names}, counted[_SIZE].to_pylist()
    )
    if not kinds.sizes:
        raise InvalidInput(
            "there are no rows.", field="frame", hint="Log at least one prediction."
        )
    if len(kinds.sizes) > MAX_KINDS:
        raise too_many_kinds(len(kinds.sizes))
    for name in columns.names:
        _require_no_gaps(frame, name, kinds, columns)
    return kinds


def _counted(frame: EagerFrame | LazyFrame, names: tuple[str, ...]) -> pa.Table:
    if isinstance(frame, nw.LazyFrame):
        few = frame.group_by(*names).agg(nw.len().alias(_SIZE)).head(MAX_KINDS + 1)
        # Polars keeps nothing but the counts in memory only where it is asked to.
        how: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        return few.collect(**how).to_arrow()
    return rows_in_memory(frame.group_by(*names).agg(nw.len().alias(_SIZE))).values


def _require_no_gaps(
    frame: EagerFrame | LazyFrame, name: str, kinds: Kinds, columns: FrameColumns
) -> None:
    gaps = [_is_gap(value) for value in kinds.columns[name]]
    if not any(gaps):
        return
    n_gaps = sum(size for size, gap in zip(kinds.sizes, gaps, strict=True) if gap)
    where = f"{n_gaps:,} of {sum(kinds.sizes):,} rows have no value"
    if isinstance(frame, nw.DataFrame):
        rows = [_is_gap(value) for value in frame[name].to_list()]
        where += f", row {rows.index(True)} first"
    raise InvalidInput(
        f"{where}.", field=columns.place_of_column(name), hint="Filter them out, or fill them in."
    )


def _is_gap(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124  # NaN stands for a missing value.
