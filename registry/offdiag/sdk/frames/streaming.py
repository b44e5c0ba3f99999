"""Logging a frame that is still on its engine, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.sdk.api import start_run
from offdiag.sdk.frames.arguments import RunArguments
from offdiag.sdk.frames.batches import row_batches
from offdiag.sdk.frames.columns import FrameColumns
from offdiag.sdk.frames.distinct import labels_on_engine
from offdiag.sdk.frames.opening import LazyFrame
from offdiag.sdk.frames.rows import Rows
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
