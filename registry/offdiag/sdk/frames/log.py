"""Logging a frame: what a training job or a warehouse query calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.sdk.frames.columns import (
    FrameColumns,
    LazyFrame,
    ScoreColumns,
    frame_columns,
    labels_in,
    opened,
)
from offdiag.sdk.frames.counts import log_counted
from offdiag.sdk.frames.rows import Rows, labels_on_engine, row_batches, rows_in_memory
from offdiag.sdk.logging import RunArguments, log_run, start_run
from offdiag.sdk.run import OpenRun, Run


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
    slices. It has no examples, scores or curves, and is compared without pairing.

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
        url=url,
    )
    if not keep_predictions:
        return log_counted(found, columns, dataset=dataset, labels=declared, arguments=arguments)
    if isinstance(found, nw.LazyFrame):
        return log_streamed(found, columns, dataset=dataset, labels=declared, arguments=arguments)
    rows = rows_in_memory(found)
    with rows.located(columns):
        given = rows.arguments(columns)
        return log_run(**given, dataset=dataset, labels=declared, **arguments)
