"""Counting the rows of a frame by the values in its columns, with the library of the frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from offdiag.errors import InvalidInput
from offdiag.inputs.columns import is_missing
from offdiag.inputs.counted_samples import MAX_KINDS, counted_slice_notes, too_many_kinds
from offdiag.inputs.slice_columns import range_note, read_slices
from offdiag.inputs.slice_ranges import DEFAULT_QUANTILES, MOST_BINS, Bins, counted_quantiles
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame
from offdiag.sdk.frames.rows import rows_in_memory
from offdiag.sdk.frames.score_cells import AGGREGATES, CODE, cell_columns, with_cells
from offdiag.services.ingest.batch import GivenCounts, PairedTable

SIZE = "offdiag: cases"
"""The column with the number of rows of a kind."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """One entry for each combination of values that occurs: the values and the number of rows.

    With a column of scores, the cell of the score is one of the values.
    """

    columns: dict[str, list[Any]]
    sizes: list[int]
    scores: Mapping[str, list[Any]] | None = None


def count_kinds(frame: EagerFrame | LazyFrame, columns: FrameColumns) -> Kinds:
    """How many rows have each combination of values in the named columns.

    From a lazy frame only the counts are collected. Raises `InvalidInput` for a frame without
    rows, too many combinations, missing values and values of several kinds in one column.
    """
    found = find_kinds(frame, columns)
    if found is None:
        raise too_many_kinds(MAX_KINDS + 1)
    return found


def counts_of(frame: EagerFrame | LazyFrame, columns: FrameColumns) -> GivenCounts:
    """The counts of one run by actual and predicted class. Raises `InvalidInput`."""
    kinds = count_kinds(frame, columns)
    slices, notes = _slices(kinds, columns)
    return GivenCounts(
        actual=kinds.columns[columns.actual or ""],
        predicted=kinds.columns[columns.predicted or ""],
        sizes=kinds.sizes,
        counted_on=str(frame.implementation),
        slices=slices,
        scores=kinds.scores,
        notes=notes,
    )


def table_of(kinds: Kinds, columns: FrameColumns) -> PairedTable:
    """The counts of several runs together."""
    slices, notes = _slices(kinds, columns)
    return PairedTable(
        kinds.columns[columns.actual or ""],
        {run: kinds.columns[name] for run, name in columns.runs.items()},
        kinds.sizes,
        slices,
        notes,
    )


def _slices(
    kinds: Kinds, columns: FrameColumns
) -> tuple[Mapping[str, Sequence[object]], tuple[str, ...]]:
    """The slice columns, and notes on values that may have been read differently than meant."""
    found, of_ranges = _counted_slices(kinds, columns)
    return found, (*of_ranges, *counted_slice_notes(found, kinds.sizes))


def _counted_slices(
    kinds: Kinds, columns: FrameColumns
) -> tuple[dict[str, Sequence[object]], list[str]]:
    """Slice columns of kinds, with categories in place of other values.

    Numbers with a fraction, and columns in `bins`, become ranges: between cut points, or at the
    given number of quantiles of the samples, quartiles by default. Dates, and columns in
    `periods`, become periods, months by default, and `country/site` also gives a column `country`,
    as in `read_slices`. Lists of tags stay as they are. Numbers that may be names of groups are
    noted. Raises `InvalidInput` for values that are not numbers or dates.
    """
    found: dict[str, Sequence[object]] = {}
    notes: list[str | None] = []
    bins, periods = columns.bins or {}, columns.periods or {}
    named: dict[str, Sequence[object]] = {name: kinds.columns[name] for name in columns.slices}
    for name, values in named.items():
        cuts, period = bins.get(name), periods.get(name)
        if cuts is None and period is None and any(isinstance(value, float) for value in values):
            cuts = DEFAULT_QUANTILES
        is_date = period is not None or isinstance(next(iter(values), None), date)
        if cuts is None and not is_date and "/" not in name:
            found[name] = values
            continue
        if isinstance(cuts, int):
            cuts = _points(values, kinds.sizes, cuts)
        read = read_slices(
            {name: list(values)},
            n_samples=len(values),
            bins=None if cuts is None else {name: cuts},
            periods=None if period is None else {name: period},
        )
        if cuts is not None and name not in bins:
            numbers = np.unique(np.asarray(values, dtype=np.float64))
            notes.append(range_note(numbers, read[name], f"slices[{name!r}]"))
        found |= {
            part: [column.levels[code] for code in column.codes.tolist()]
            for part, column in read.items()
            if part == name or part not in named
        }
    for name, values in found.items():
        if "" in values:
            raise InvalidInput(
                "there is an empty text, whose samples would be in no slice.",
                field=f"slices[{name!r}]",
                hint="Fill it with a name, as 'unknown'.",
            )
    return found, [note for note in notes if note is not None]


def _points(values: Sequence[object], sizes: Sequence[int], n: int) -> Bins:
    """The cut points at n quantiles of the samples; n itself for `read_slices` to report an error.

    Quantiles of samples that are all equal are also those of their kinds.
    """
    if not 2 <= n <= MOST_BINS or not all(isinstance(each, int | float) for each in values):
        return n
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        return n
    return counted_quantiles(numbers, np.asarray(sizes, dtype=np.int64), n) or n


def find_kinds(frame: EagerFrame | LazyFrame, columns: FrameColumns) -> Kinds | None:
    """As `count_kinds`, but None for too many combinations."""
    score = columns.scores[0] if columns.scores else None
    names = tuple(name for name in columns.names if name != score)
    numbered, lists = with_numbered_lists(frame, columns.slices)
    counted = _counted(numbered, names, score)
    if counted.num_rows > MAX_KINDS:
        return None
    kinds = Kinds({name: _values(counted[name]) for name in names}, counted[SIZE].to_pylist())
    for name, known in lists.items():
        kinds.columns[name] = [known[at] for at in kinds.columns[name]]
    if not kinds.sizes:
        raise InvalidInput(
            "there are no rows.", field="frame", hint="Log at least one prediction."
        )
    for name in names:
        _require_no_gaps(frame, name, kinds, columns)
    if score is None:
        return kinds
    return replace(kinds, scores=cell_columns(counted, kinds.sizes, score))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values as Python has them: a float of 16 or 32 bits as it is written, such as 0.7."""
    if pa.types.is_float16(column.type) or pa.types.is_float32(column.type):
        kind = column.type.to_pandas_dtype()
        return [None if each is None else float(str(kind(each))) for each in column.to_pylist()]
    values: list[Any] = column.to_pylist()
    return values


def _counted(frame: EagerFrame | LazyFrame, names: tuple[str, ...], score: str | None) -> pa.Table:
    if score is None:
        return grouped(frame, names, ())
    return grouped(with_cells(frame, score), (*names, CODE), AGGREGATES)


def grouped(
    frame: EagerFrame | LazyFrame, names: tuple[str, ...], aggregates: tuple[nw.Expr, ...]
) -> pa.Table:
    """How many rows have each combination of values, and aggregates of them, on the engine.

    At most one combination more than the limit is read.
    """
    wanted = (nw.len().alias(SIZE), *aggregates)
    if isinstance(frame, nw.LazyFrame):
        few = frame.group_by(*names).agg(*wanted).head(MAX_KINDS + 1)
        # Polars keeps nothing but the counts in memory only where it is asked to.
        how: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        return few.collect(**how).to_arrow()
    return rows_in_memory(frame.group_by(*names).agg(*wanted)).values


def _require_no_gaps(
    frame: EagerFrame | LazyFrame, name: str, kinds: Kinds, columns: FrameColumns
) -> None:
    gaps = [is_missing(value) for value in kinds.columns[name]]
    if not any(gaps):
        return
    n_gaps = sum(size for size, gap in zip(kinds.sizes, gaps, strict=True) if gap)
    where = f"{n_gaps:,} of {sum(kinds.sizes):,} rows have no value"
    if isinstance(frame, nw.DataFrame):
        # Through Arrow, since pandas has NA, which is no truth value, among others.
        rows = [is_missing(value) for value in frame[name].to_arrow().to_pylist()]
        where += f", row {rows.index(True)} first"
    raise InvalidInput(
        f"{where}.", field=columns.place_of_column(name), hint="Filter them out, or fill them in."
    )


Lists = Mapping[str, Sequence[object]]
"""By column, the lists that its whole numbers represent."""


def with_numbered_lists(
    frame: EagerFrame | LazyFrame, names: Sequence[str]
) -> tuple[EagerFrame | LazyFrame, Lists]:
    """An in-memory frame with a whole number in place of each list, and the lists by number.

    A lazy frame stays as it is: its library groups by lists or reports that it cannot.
    """
    if isinstance(frame, nw.LazyFrame):
        return frame, {}
    lists: dict[str, Sequence[object]] = {}
    for name in names:
        series = frame[name]
        if not isinstance(series.dtype, nw.List | nw.Object):
            continue
        # What pandas reads from Parquet are arrays.
        values = [
            value.tolist() if isinstance(value, np.ndarray) else value
            for value in series.to_list()
        ]
        if not any(isinstance(value, list | tuple) for value in values):
            continue
        places: dict[object, int] = {}
        numbers = [
            places.setdefault(tuple(value) if isinstance(value, list) else value, len(places))
            for value in values
        ]
        # In the index of a frame that has one.
        numbered = nw.new_series(name, numbers, nw.Int64, backend=frame.implementation)
        native = frame.to_native()
        if hasattr(native, "index"):
            aligned = numbered.to_native()
            aligned.index = native.index
            numbered = nw.from_native(aligned, series_only=True)
        frame = frame.with_columns(numbered.alias(name))
        lists[name] = [list(each) if isinstance(each, tuple) else each for each in places]
    return frame, lists
