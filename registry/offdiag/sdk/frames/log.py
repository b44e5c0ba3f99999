"""Logging a frame, for training jobs and warehouse queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, overload

import narwhals as nw

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.domain.runs import MAX_TEXT_LENGTH, require_text
from offdiag.errors import InvalidInput
from offdiag.inputs.ids import require_stored_order
from offdiag.inputs.slice_columns import require_columns
from offdiag.inputs.slice_ranges import Bins
from offdiag.sdk.frames.class_scores import count_class_scores
from offdiag.sdk.frames.columns import (
    EagerFrame,
    FrameColumns,
    LazyFrame,
    ScoreColumns,
    columns_of_runs,
    frame_columns,
    labels_in,
    opened,
)
from offdiag.sdk.frames.counted_query import CountedQuery, with_query
from offdiag.sdk.frames.kinds import counts_of
from offdiag.sdk.frames.paired import arguments_of, dataset_of_counts, log_counted_together
from offdiag.sdk.frames.rows import Rows, labels_on_engine, row_batches, rows_in_memory
from offdiag.sdk.logging import AboutRun, RunArguments, facts_of, log_run, start_run
from offdiag.sdk.open_run import OpenRun
from offdiag.sdk.run import Run
from offdiag.sdk.target import target


def log_counted(
    frame: EagerFrame | LazyFrame,
    columns: FrameColumns,
    *,
    dataset: str | None,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
    query: str | None = None,
) -> Run:
    """Store counts that the library of a frame computes. Raises `InvalidInput` and `Conflict`."""
    name = _require_countable(columns, dataset)
    require_columns(columns.slices, columns.bins, columns.periods)
    if query is not None and len(columns.scores) > 1:
        raise InvalidInput(
            f"scores of {len(columns.scores)} classes cannot be counted again from a query yet.",
            field="query",
            hint="Log without query=, or with the one score of a positive class.",
        )
    if query is not None:
        arguments = with_query(arguments, CountedQuery(query, columns))
    actual, predicted = columns.actual, columns.predicted
    if actual is None or predicted is None:
        raise InvalidInput(
            "without the actual and the predicted classes there is nothing to count.",
            field="actual" if actual is None else "predicted",
            hint="Name their columns, or keep the predictions.",
        )
    at = target(arguments["url"])
    facts = facts_of(at, arguments)
    if len(columns.scores) > 1:
        given = counts_of(frame, replace(columns, scores=()))
        classes = {actual: given.actual, predicted: given.predicted}
        given = replace(given, class_scores=count_class_scores(frame, columns, classes, labels))
    else:
        given = counts_of(frame, columns)
    given = replace(
        given,
        labels=labels,
        ordinal=arguments["ordinal"],
        positive_label=arguments["positive_label"],
        hierarchy=arguments["hierarchy"],
    )
    named = {"actual": given.actual, "predicted": given.predicted}
    try:
        run_id = at.log_counts(facts, name, given)
    except InvalidInput as error:
        if error.field not in ("actual", "predicted"):
            raise
        place = columns.place_of_column(actual if error.field == "actual" else predicted)
        raise InvalidInput(error.message, field=place, hint=error.hint) from None
    names = given.labels or [label for column in named.values() for label in column]
    floats = [
        columns.place_of_column(actual if field == "actual" else predicted)
        for field, column in named.items()
        if any(isinstance(label, float) for label in column)
    ]
    # 1 and "1" are one class, which does not look like itself.
    of_labels = label_notes(sorted(set(map(label_text, names))), whole_floats=floats)
    warn_of((*given.notes, *of_labels))
    return Run(at, run_id)


def _require_countable(columns: FrameColumns, dataset: str | None) -> str:
    if columns.sample_id is not None:
        raise InvalidInput(
            f"column {columns.sample_id!r} belongs to single predictions, and none are kept.",
            field="sample_id",
            hint="Leave it out, or keep the predictions.",
        )
    if len(columns.scores) == 2:
        raise InvalidInput(
            "for two classes one column of scores is counted, but 2 are named.",
            field="score",
            hint="Name the column of the positive class, or keep the predictions.",
        )
    if len(columns.scores) > 2 and columns.slices:
        raise InvalidInput(
            "per-class scores are counted over all rows, without slices.",
            field="slices",
            hint="Count slices in a run of their own without score, or keep the predictions.",
        )
    return dataset_of_counts(dataset)


def log_streamed(
    frame: LazyFrame,
    columns: FrameColumns,
    *,
    dataset: str | None,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
) -> Run:
    """Store the rows of a lazy frame. On `InvalidInput` and `Conflict` the run stays open."""
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


class FrameArguments(AboutRun, total=False):
    """Arguments of `log_frame` that do not depend on whether it logs one run or several."""

    actual: str | None
    score: ScoreColumns | None
    sample_id: str | None
    slices: Sequence[str] | None
    bins: Mapping[str, Bins] | None
    periods: Mapping[str, str] | None
    keep_predictions: bool
    query: str | None
    dataset: str | None
    labels: Iterable[object] | None


@overload
def log_frame(
    frame: object,
    *,
    name: str | None = None,
    predicted: str | None = "yhat",
    sample_weight: str | None = None,
    **others: Unpack[FrameArguments],
) -> Run: ...


@overload
def log_frame(
    frame: object,
    *,
    name: None = None,
    predicted: Mapping[str, str],
    **others: Unpack[FrameArguments],
) -> dict[str, Run]: ...


def log_frame(
    frame: object,
    *,
    name: str | None = None,
    actual: str | None = "y",
    predicted: str | Mapping[str, str] | None = "yhat",
    score: ScoreColumns | None = None,
    sample_id: str | None = None,
    slices: Sequence[str] | None = None,
    sample_weight: str | None = None,
    bins: Mapping[str, Bins] | None = None,
    periods: Mapping[str, str] | None = None,
    keep_predictions: bool = True,
    query: str | None = None,
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
) -> Run | dict[str, Run]:
    """Store the predictions in a frame as a run, or only their counts by class and slice.

    Returns the `Run`; if `predicted` is a mapping, a dict {run: `Run`}.

    * `frame`: a pandas, polars, pyarrow, DuckDB, Dask, Ibis or PySpark frame, eager or lazy.
    * `name`: as in `log_run`. Leave it out if `predicted` is a mapping.
    * `actual`: the column of actual classes. Default: "y". None if the dataset has ground truth.
    * `predicted`: the column of predicted classes. Default: "yhat". None if the scores predict. A
      mapping {run: column} logs one run for each column; see below.
    * `score`: the column with the scores of the positive class, or one column for each class: a
      mapping from class to column, or a list of columns in any order named after the classes, with
      the same text around all names or around none (p_cat, p_dog).
    * `sample_id`: the column of sample identifiers.
    * `slices`: a list of slice columns.
    * `sample_weight`: the column of weights; only for one run with kept predictions.
    * `bins`, `periods`: ranges of numbers and periods of dates among the slices, as in
      `add_slices`; only with `keep_predictions=False`. With kept predictions, call `add_slices`
      instead.
    * `keep_predictions`: False stores only counts; see below. Default: True.
    * `query`: the text of the query that made the frame, at most 5,000 characters; only for
      counts. It is stored as the parameter `counted.query`, readable by everyone who can read the
      run. After labels changed where the rows are, `offdiag.recount` counts its new result.
    * `dataset`: as in `log_run`; required for a lazy frame and for counts.
    * `project`, `model`, `labels`, `positive_label`, `ordinal`, `hierarchy`, `params`, `tags`,
      `client_key`, `unique_name`, `url`: as in `log_run`.

    Lazy frames are stored batch by batch, so they need not fit into memory. They are read twice
    if labels are neither declared nor known to the dataset. An error on the way leaves the run
    open; the same call with the same `client_key` continues it.

    Counts (`keep_predictions=False`): the library of the frame counts the rows by actual class,
    predicted class and slice values, and only these counts are stored. The run has its matrix, all
    metrics of it and its slices. It has no examples, and is compared without pairing unless it was
    counted together with the other run.

    With `score`, counts include narrow bins of the probability of the positive class of two, so
    the run also has areas, losses, calibration, curves, thresholds and costs;
    `MetricValue.error_bound` says how far a value may be off. With a column for each of three or
    more classes, each class is counted against the rest, in a pass of its own and without slices.
    Averages over pairs of classes, and whatever needs the forecast of a single row, are then
    undefined.

    Several runs: with a mapping as `predicted`, counts are made by all columns together, so
    that these runs are compared with pairing. `frame` may then be a mapping {run: frame}; the
    frames are joined by `sample_id`.

    Raises `InvalidInput` naming the column and, where rows are read, the row counted from 0, and
    `Conflict` for contradictions to stored data.
    """
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
    declared = labels_in(labels, score)
    counted: dict[str, Any] = {
        "dataset": dataset,
        "labels": declared,
        "arguments": arguments,
        "query": query,
    }
    if query is not None:
        _require_recountable(frame, query, keep_predictions=keep_predictions)
    if isinstance(predicted, Mapping):
        _require_of_each(name, sample_weight)
        several = columns_of_runs(
            actual=actual, predicted=predicted, score=score, sample_id=sample_id, slices=slices
        )
        several = replace(several, bins=bins, periods=periods)
        if not keep_predictions:
            return log_counted_together(frame, several, **counted)
        return _log_each(frame, several, arguments, dataset=dataset, labels=declared)
    columns = frame_columns(
        actual=actual,
        predicted=predicted,
        score=score,
        sample_id=sample_id,
        slices=slices,
        labels=declared,
        sample_weight=sample_weight,
    )
    found = opened(frame, columns)
    if not keep_predictions and sample_weight is not None:
        raise InvalidInput(
            "rows with weights are not counted in place.",
            field="sample_weight",
            hint="Log them with keep_predictions=True; any lazy frame is read batch by batch.",
        )
    if not keep_predictions:
        columns = replace(columns, bins=bins, periods=periods)
        return log_counted(found, columns, **counted)
    if bins or periods:
        raise InvalidInput(
            "ranges and periods of kept predictions are not declared here.",
            field="bins" if bins else "periods",
            hint="Log without these columns, and add them with offdiag.add_slices.",
        )
    if isinstance(found, nw.LazyFrame):
        return log_streamed(found, columns, dataset=dataset, labels=declared, arguments=arguments)
    if columns.actual is None and columns.sample_id is None:
        require_stored_order(frame=found.to_native())
    rows = rows_in_memory(found)
    with rows.located(columns):
        given = rows.arguments(columns)
        return log_run(**given, dataset=dataset, labels=declared, **arguments)


def _require_recountable(frame: object, query: object, *, keep_predictions: bool) -> None:
    require_text(query, "query", MAX_TEXT_LENGTH)
    if not str(query).strip():
        raise InvalidInput("the query is empty.", field="query", hint="Leave it out.")
    if keep_predictions:
        raise InvalidInput(
            "predictions that are kept are not counted again.",
            field="query",
            hint="Leave it out: revise_truth corrects their labels.",
        )
    if isinstance(frame, Mapping):
        raise InvalidInput(
            "several frames have no single query.",
            field="query",
            hint="Join them in one query, with a column of predictions for each run.",
        )


def _require_of_each(name: str | None, sample_weight: str | None) -> None:
    if sample_weight is not None:
        raise InvalidInput(
            "several columns of predictions take no weights at once.",
            field="sample_weight",
            hint="Log each column in a call of its own.",
        )
    if name is not None:
        raise InvalidInput(
            "the runs have their names in predicted=.",
            field="name",
            hint="Leave it out, or name one column.",
        )


def _log_each(
    frame: object, columns: FrameColumns, arguments: RunArguments, **others: Any
) -> dict[str, Run]:
    """Log a run for each predicted column, one after the other, with its predictions."""
    if columns.scores:
        raise InvalidInput(
            "scores of several runs cannot be distinguished.",
            field="score",
            hint="Log each run with its scores alone.",
        )
    frames = frame if isinstance(frame, Mapping) else dict.fromkeys(columns.runs, frame)
    return {
        run: log_frame(
            frames[run],
            actual=columns.actual,
            predicted=name,
            sample_id=columns.sample_id,
            slices=columns.slices,
            bins=columns.bins,
            periods=columns.periods,
            **others,
            **arguments_of(arguments, run),
        )
        for run, name in columns.runs.items()
    }
