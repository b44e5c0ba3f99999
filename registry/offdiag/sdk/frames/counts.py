"""Logging the counts of a frame, made by its own library on its own engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import pyarrow as pa

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_samples import MAX_KINDS, too_many_kinds
from offdiag.sdk.frames.columns import EagerFrame, FrameColumns, LazyFrame
from offdiag.sdk.frames.rows import rows_in_memory
from offdiag.sdk.logging import RunArguments, run_facts
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.services.ingest.batch import GivenCounts

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


def log_counted(
    frame: EagerFrame | LazyFrame,
    columns: FrameColumns,
    *,
    dataset: str | None,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
) -> Run:
    """Store the counts of a frame, made by its own library. Raises `InvalidInput`, `Conflict`."""
    name = _require_countable(columns, dataset)
    actual, predicted = columns.actual, columns.predicted
    if actual is None or predicted is None:
        raise InvalidInput(
            "without the actual and the predicted classes there is nothing to count.",
            field="actual" if actual is None else "predicted",
            hint="Name their columns, or keep the predictions.",
        )
    at = target(arguments["url"])
    facts = run_facts(
        at,
        project=arguments["project"],
        name=arguments["name"],
        model=arguments["model"],
        params=arguments["params"],
        tags=arguments["tags"],
        client_key=arguments["client_key"],
    )
    kinds = count_kinds(frame, columns)
    given = GivenCounts(
        actual=kinds.columns[actual],
        predicted=kinds.columns[predicted],
        sizes=kinds.sizes,
        counted_on=str(frame.implementation),
        slices={name: kinds.columns[name] for name in columns.slices},
        labels=labels,
        ordinal=arguments["ordinal"],
        positive_label=arguments["positive_label"],
        hierarchy=arguments["hierarchy"],
    )
    classes = {"actual": given.actual, "predicted": given.predicted}
    try:
        run_id = at.log_counts(facts, name, given)
    except InvalidInput as error:
        if error.field not in ("actual", "predicted"):
            raise
        place = columns.place_of_column(actual if error.field == "actual" else predicted)
        raise InvalidInput(error.message, field=place, hint=error.hint) from None
    names = given.labels or {label for column in classes.values() for label in column}
    floats = [
        columns.place_of_column(actual if field == "actual" else predicted)
        for field, column in classes.items()
        if any(isinstance(label, float) for label in column)
    ]
    warn_of(label_notes(sorted(map(label_text, names)), whole_floats=floats))
    return Run(at, run_id)


def _require_countable(columns: FrameColumns, dataset: str | None) -> str:
    for field, name in (
        ("score", columns.scores[0] if columns.scores else None),
        ("sample_id", columns.sample_id),
    ):
        if name is not None:
            raise InvalidInput(
                f"column {name!r} belongs to single predictions, and none are kept.",
                field=field,
                hint="Leave it out, or keep the predictions.",
            )
    if dataset is None:
        raise InvalidInput(
            "counts do not tell which cases they are of.",
            field="dataset",
            hint="Name the dataset.",
        )
    return dataset
