"""Counting the rows of a frame by the values in its columns, with the library that holds it.

Scores of every class are counted against the rest. Each class is one pass over the rows, and so
is the largest probability: a pass groups by an event and a cell, so what comes back does not grow
with the rows nor with combinations of classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from offdiag.domain.labels import LabelSet, label_text
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_samples import MAX_KINDS, too_many_cells, too_many_kinds
from offdiag.inputs.counted_scores import GivenClassScores, GivenEvent
from offdiag.inputs.score_columns import places_of_classes
from offdiag.inputs.slice_columns import counted_slices
from offdiag.inputs.slice_ranges import Bins
from offdiag.metrics.scores.forecasts import sum_tolerance
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame
from offdiag.sdk.frames.rows import rows_in_memory
from offdiag.sdk.frames.score_cells import AGGREGATES, CODE, as_stored, cell_columns, with_cells
from offdiag.services.ingest.batch import GivenCounts, PairedTable

SIZE = "offdiag: cases"
"""The column of how many rows there are of a kind."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """One entry for each combination of values that occurs: its values, its size.

    With a column of scores the cell of the score is one of the values.
    """

    columns: dict[str, list[Any]]
    sizes: list[int]
    scores: Mapping[str, list[Any]] | None = None


def count_kinds(frame: EagerFrame | LazyFrame, columns: FrameColumns) -> Kinds:
    """How many rows have each combination of values in the named columns.

    Of a lazy frame only the counts are collected. Raises `InvalidInput` for a frame without
    rows, too many combinations, missing values and values of several kinds in one column.
    """
    found = find_kinds(frame, columns)
    if found is None:
        raise too_many_kinds(MAX_KINDS + 1)
    return found


def counts_of(
    frame: EagerFrame | LazyFrame,
    columns: FrameColumns,
    bins: Mapping[str, Bins] | None,
    periods: Mapping[str, str] | None,
) -> GivenCounts:
    """The counts of one run; its actual and predicted column are named. Raises `InvalidInput`."""
    kinds = count_kinds(frame, columns)
    return GivenCounts(
        actual=kinds.columns[columns.actual or ""],
        predicted=kinds.columns[columns.predicted or ""],
        sizes=kinds.sizes,
        counted_on=str(frame.implementation),
        slices=_slices(kinds, columns, bins, periods),
        scores=kinds.scores,
    )


def table_of(
    kinds: Kinds,
    columns: FrameColumns,
    bins: Mapping[str, Bins] | None,
    periods: Mapping[str, str] | None,
) -> PairedTable:
    """The counts of several runs together."""
    return PairedTable(
        kinds.columns[columns.actual or ""],
        {run: kinds.columns[name] for run, name in columns.runs.items()},
        kinds.sizes,
        _slices(kinds, columns, bins, periods),
    )


def _slices(
    kinds: Kinds,
    columns: FrameColumns,
    bins: Mapping[str, Bins] | None,
    periods: Mapping[str, str] | None,
) -> Mapping[str, Sequence[object]]:
    named = {name: kinds.columns[name] for name in columns.slices}
    return counted_slices(named, kinds.sizes, bins=bins, periods=periods)


def find_kinds(frame: EagerFrame | LazyFrame, columns: FrameColumns) -> Kinds | None:
    """The same, None for too many combinations."""
    score = columns.scores[0] if columns.scores else None
    names = tuple(name for name in columns.names if name != score)
    numbered, lists = with_numbered_lists(frame, columns.slices)
    counted = _counted(numbered, names, score)
    if counted.num_rows > MAX_KINDS:
        return None
    kinds = Kinds({name: counted[name].to_pylist() for name in names}, counted[SIZE].to_pylist())
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


def _counted(frame: EagerFrame | LazyFrame, names: tuple[str, ...], score: str | None) -> pa.Table:
    if score is None:
        return grouped(frame, names, ())
    return grouped(with_cells(frame, score), (*names, CODE), AGGREGATES)


def grouped(
    frame: EagerFrame | LazyFrame, names: tuple[str, ...], aggregates: tuple[nw.Expr, ...]
) -> pa.Table:
    """How many rows have each combination of values, and aggregates of them, on the engine.

    Of more combinations than are kept one more is read.
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
    gaps = [_is_gap(value) for value in kinds.columns[name]]
    if not any(gaps):
        return
    n_gaps = sum(size for size, gap in zip(kinds.sizes, gaps, strict=True) if gap)
    where = f"{n_gaps:,} of {sum(kinds.sizes):,} rows have no value"
    if isinstance(frame, nw.DataFrame):
        # Through Arrow, since pandas has NA, which is no truth value, among others.
        rows = [_is_gap(value) for value in frame[name].to_arrow().to_pylist()]
        where += f", row {rows.index(True)} first"
    raise InvalidInput(
        f"{where}.", field=columns.place_of_column(name), hint="Filter them out, or fill them in."
    )


def _is_gap(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124  # NaN stands for a missing value.


Lists = Mapping[str, Sequence[object]]
"""By the name of a column the lists that the whole numbers in it stand for."""


def with_numbered_lists(
    frame: EagerFrame | LazyFrame, names: Sequence[str]
) -> tuple[EagerFrame | LazyFrame, Lists]:
    """The frame with a whole number in place of each list, in memory only, and these lists.

    A lazy frame stays as it is: its library groups by lists or says that it does not.
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


_HAPPENED, _TOP, _OFF = "offdiag: happened", "offdiag: top", "offdiag: off"
_FARTHEST = "offdiag: farthest"


def count_class_scores(
    frame: EagerFrame | LazyFrame,
    columns: FrameColumns,
    classes: Mapping[str, Sequence[Any]],
    labels: Sequence[object] | LabelSet | None,
) -> GivenClassScores:
    """The scores of each class in the order of the labels, and the largest one of each row.

    `classes` are the values that occur in the actual and the predicted column, by its name.
    Raises `InvalidInput` for columns that are not those of the classes, and for scores that are
    no probabilities of them.
    """
    actual = columns.actual
    assert actual is not None  # noqa: S101  # Who calls this has counted it.
    known = _label_set(classes, columns, labels)
    places = places_of_classes(columns.score_classes or columns.scores, known, field="score")
    score_of = {
        label: columns.scores[place] for label, place in zip(known.names, places, strict=True)
    }
    is_actual = _is_actual(actual, classes[actual], known)
    events, left = {}, MAX_KINDS
    for label, score in score_of.items():
        events[label] = _event(frame.with_columns(is_actual[label].alias(_HAPPENED)), score)
        left -= len(events[label].sizes)
        if left < 0:
            raise too_many_cells()
    return GivenClassScores(events, _top_event(frame, score_of, is_actual))


def _label_set(
    classes: Mapping[str, Sequence[Any]],
    columns: FrameColumns,
    labels: Sequence[object] | LabelSet | None,
) -> LabelSet:
    if isinstance(labels, LabelSet):
        return labels
    if labels is not None:
        return LabelSet.declared(labels)
    named = (name for name in (columns.actual, columns.predicted) if name is not None)
    return LabelSet.inferred_from({label_text(each) for name in named for each in classes[name]})


def _is_actual(column: str, values: Sequence[Any], labels: LabelSet) -> dict[str, nw.Expr]:
    """Whether a row is of a class, by class."""
    of_class: dict[str, list[Any]] = {label: [] for label in labels.names}
    for value in dict.fromkeys(values):
        of_class.setdefault(label_text(value), []).append(value)
    actual = nw.col(column)
    # No row has a gap there, so that a class without rows never is the actual one.
    return {
        label: actual.is_in(found) if found else actual.is_null()
        for label, found in of_class.items()
    }


def _event(
    frame: EagerFrame | LazyFrame, score: str, *further: nw.Expr, limit: float | None = None
) -> GivenEvent:
    counted = grouped(with_cells(frame, score), (_HAPPENED, CODE), (*AGGREGATES, *further))
    sizes = counted[SIZE].to_pylist()
    scores = cell_columns(counted, sizes, score)
    if limit is not None and max(counted[_FARTHEST].to_pylist()) > limit:
        raise InvalidInput(
            f"the scores of a row add up to a number that is "
            f"{max(counted[_FARTHEST].to_pylist()):.3g} away from 1.",
            field="score",
            hint="Scores are counted as probabilities; rescale them, or keep the predictions.",
        )
    return GivenEvent([bool(each) for each in counted[_HAPPENED].to_pylist()], sizes, scores)


def _top_event(
    frame: EagerFrame | LazyFrame, score_of: Mapping[str, str], is_actual: Mapping[str, nw.Expr]
) -> GivenEvent:
    """The largest probability, which is right where the first class that has it is the actual.

    Probabilities add up to 1 as far as single precision lets them, as where they are kept.
    """
    n_classes = len(score_of)
    p = [as_stored(name) for name in score_of.values()]
    with_top = frame.with_columns(
        nw.max_horizontal(*p).alias(_TOP), (nw.sum_horizontal(*p) - 1).abs().alias(_OFF)
    )
    first = nw.min_horizontal(
        *(
            nw.when(each >= nw.col(_TOP)).then(nw.lit(code)).otherwise(nw.lit(n_classes))
            for code, each in enumerate(p)
        )
    )
    actual = nw.sum_horizontal(
        *(
            nw.when(is_actual[label]).then(nw.lit(code)).otherwise(nw.lit(0))
            for code, label in enumerate(score_of)
        )
    )
    return _event(
        with_top.with_columns((first == actual).alias(_HAPPENED)),
        _TOP,
        nw.col(_OFF).max().alias(_FARTHEST),
        limit=sum_tolerance(n_classes),
    )
