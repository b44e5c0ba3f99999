"""Logging a frame: what a training job or a warehouse query calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import pyarrow as pa

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.errors import InvalidInput
from offdiag.inputs.counted_samples import MAX_KINDS, too_many_kinds
from offdiag.inputs.counted_slices import counted_slices
from offdiag.inputs.slice_columns import require_columns
from offdiag.inputs.slice_ranges import Bins
from offdiag.sdk.frames.columns import (
    EagerFrame,
    FrameColumns,
    LazyFrame,
    ScoreColumns,
    frame_columns,
    labels_in,
    opened,
)
from offdiag.sdk.frames.rows import Rows, labels_on_engine, row_batches, rows_in_memory
from offdiag.sdk.frames.score_cells import AGGREGATES, CODE, cell_columns, with_cells
from offdiag.sdk.frames.tags import with_numbered_lists
from offdiag.sdk.logging import RunArguments, log_run, run_facts, start_run
from offdiag.sdk.open_run import OpenRun
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.services.ingest.batch import GivenCounts

_SIZE = "offdiag: cases"


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
    score = columns.scores[0] if columns.scores else None
    names = tuple(name for name in columns.names if name != score)
    numbered, lists = with_numbered_lists(frame, columns.slices)
    counted = _counted(numbered, names, score)
    kinds = Kinds({name: counted[name].to_pylist() for name in names}, counted[_SIZE].to_pylist())
    for name, known in lists.items():
        kinds.columns[name] = [known[at] for at in kinds.columns[name]]
    if not kinds.sizes:
        raise InvalidInput(
            "there are no rows.", field="frame", hint="Log at least one prediction."
        )
    if len(kinds.sizes) > MAX_KINDS:
        raise too_many_kinds(len(kinds.sizes))
    for name in names:
        _require_no_gaps(frame, name, kinds, columns)
    if score is None:
        return kinds
    return replace(kinds, scores=cell_columns(counted, kinds.sizes, score))


def _counted(frame: EagerFrame | LazyFrame, names: tuple[str, ...], score: str | None) -> pa.Table:
    wanted: tuple[nw.Expr, ...] = (nw.len().alias(_SIZE),)
    if score is not None:
        frame, names = with_cells(frame, score), (*names, CODE)
        wanted = (*wanted, *AGGREGATES)
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
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
) -> Run:
    """Store the counts of a frame, made by its own library. Raises `InvalidInput`, `Conflict`."""
    name = _require_countable(columns, dataset)
    require_columns(columns.slices, bins, periods)
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
        unique_name=arguments["unique_name"],
    )
    kinds = count_kinds(frame, columns)
    given = GivenCounts(
        actual=kinds.columns[actual],
        predicted=kinds.columns[predicted],
        sizes=kinds.sizes,
        counted_on=str(frame.implementation),
        slices=counted_slices(
            {name: kinds.columns[name] for name in columns.slices},
            kinds.sizes,
            bins=bins,
            periods=periods,
        ),
        labels=labels,
        ordinal=arguments["ordinal"],
        positive_label=arguments["positive_label"],
        hierarchy=arguments["hierarchy"],
        scores=kinds.scores,
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
    if columns.sample_id is not None:
        raise InvalidInput(
            f"column {columns.sample_id!r} belongs to single predictions, and none are kept.",
            field="sample_id",
            hint="Leave it out, or keep the predictions.",
        )
    if len(columns.scores) > 1:
        raise InvalidInput(
            f"scores of one class are counted, and {len(columns.scores)} columns are named.",
            field="score",
            hint="Name the column of the positive class of two, or keep the predictions.",
        )
    if dataset is None:
        raise InvalidInput(
            "counts do not tell which samples they are of.",
            field="dataset",
            hint="Name the dataset.",
        )
    return dataset


def log_streamed(
    frame: LazyFrame,
    columns: FrameColumns,
    *,
    dataset: str | None,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
) -> Run:
    """Store the rows of a lazy frame. Raises `InvalidInput` and `Conflict`; the run stays open."""
    if dataset is None:
        raise InvalidInput(
            "a lazy frame is stored batch by batch, before all of its truth is known.",
            field="dataset",
            hint="Name the dataset, or collect the frame first.",
        )
    first = 0
    with _opened_run(frame, columns, dataset, labels, arguments) as run:
        for batch in row_batches(frame):
            rows = Rows(batch, first)
            if len(rows):
                with rows.located(columns):
                    run.log(**rows.arguments(columns))
            first += len(rows)
        return run.finish()


def _opened_run(
    frame: LazyFrame,
    columns: FrameColumns,
    dataset: str,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
) -> OpenRun:
    try:
        return start_run(dataset=dataset, labels=labels, **arguments)
    except InvalidInput as error:
        is_new = labels is None and error.field == "labels"
        if not is_new or columns.actual is None or arguments["ordinal"]:
            raise
    found = labels_on_engine(frame, columns)
    return start_run(dataset=dataset, labels=found, **arguments)


def log_frame(
    frame: object,
    *,
    name: str,
    actual: str | None = "y",
    predicted: str | None = "yhat",
    score: ScoreColumns | None = None,
    sample_id: str | None = None,
    slices: Sequence[str] | None = None,
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
    keep_predictions: bool = True,
    project: str | None = None,
    dataset: str | None = None,
    model: str | None = None,
    labels: Iterable[object] | None = None,
    positive_label: object | None = None,
    ordinal: bool = False,
    hierarchy: Mapping[Any, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    tags: Mapping[str, Any] | None = None,
    client_key: str | None = None,
    unique_name: bool = False,
    url: str | None = None,
) -> Run:
    """Store the predictions in a frame, or only how often each occurs.

    `frame` is a pandas, polars, pyarrow, DuckDB, Dask, Ibis or PySpark frame, eager or lazy.
    `actual`, `predicted` and `sample_id` name columns, `slices` several; `score` names the
    column with the scores of the positive class, or one column for each class in any order: a
    mapping from class to column, or a list of columns that are called after the classes, with
    the same text around all or none (p_cat, p_dog). `actual` may be None where the dataset has
    ground truth, `predicted` where the scores are to predict. The other arguments are those of
    `log_run`.

    Rows of a lazy frame are stored batch by batch, so they need not fit into memory; such a
    frame is read twice where nobody declared the labels, and needs a `dataset`. An error on the
    way leaves an open run, which the same call with the same `client_key` goes on with.

    With `keep_predictions=False` the rows stay where they are: the library of the frame counts
    them by actual and predicted class and by the values of `slices`, and only the counts are
    stored, under the name of a `dataset`. Such a run has its matrix, every metric of it and its
    slices. It has no examples, and is compared without pairing. With `score`, probabilities of
    the positive class of two, rows are counted by narrow bins of the score, too: areas, losses,
    calibration, curves, thresholds and costs come from the counts, with a bound of how far each
    may be off (`MetricValue.error_bound`). `bins` and `periods` say which ranges of numbers and
    which periods of dates are slices, as `add_slices` takes them; where predictions are kept, it
    is `add_slices` that takes them.

    Raises `InvalidInput` naming the column and, where rows are read, the row counted from 0;
    `Conflict` for contradictions to what is stored.
    """
    declared = labels_in(labels, score)
    columns = frame_columns(
        actual=actual,
        predicted=predicted,
        score=score,
        sample_id=sample_id,
        slices=slices,
        labels=declared,
    )
    found = opened(frame, columns)
    arguments = RunArguments(
        name=name,
        project=project,
        model=model,
        positive_label=positive_label,
        ordinal=ordinal,
        hierarchy=hierarchy,
        params=params,
        tags=tags,
        client_key=client_key,
        unique_name=unique_name,
        url=url,
    )
    if not keep_predictions:
        return log_counted(
            found,
            columns,
            dataset=dataset,
            labels=declared,
            arguments=arguments,
            bins=bins,
            periods=periods,
        )
    if bins or periods:
        raise InvalidInput(
            "ranges and periods of kept predictions are not declared here.",
            field="bins" if bins else "periods",
            hint="Log without these columns, and add them with offdiag.add_slices.",
        )
    if isinstance(found, nw.LazyFrame):
        return log_streamed(found, columns, dataset=dataset, labels=declared, arguments=arguments)
    rows = rows_in_memory(found)
    with rows.located(columns):
        given = rows.arguments(columns)
        return log_run(**given, dataset=dataset, labels=declared, **arguments)
