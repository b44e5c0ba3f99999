"""The columns of each relation with type and meaning, and the columns and runs of a query.

Record batches are built from rows and from arrays that stand for constant text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray
from pyarrow import fs
from sqlalchemy import select
from sqlalchemy.orm import Session

from offdiag.store.bi_views import VIEWS
from offdiag.store.models import DatasetRow, ProjectRow, RunRow


@dataclass(frozen=True, eq=False)
class RequestedColumns:
    """Columns in order, including those of the `condition` on rows, if there is one."""

    schema: pa.Schema
    condition: ds.Expression | None

    @classmethod
    def of(
        cls, schema: pa.Schema, columns: Sequence[str] | None, condition: ds.Expression | None
    ) -> RequestedColumns:
        """All columns if none are named."""
        if columns is None:
            return cls(schema, condition)
        # An expression does not list its columns. A name that merely occurs in its text costs an
        # unnecessary column and is never wrong.
        text = "" if condition is None else str(condition)
        fields = [field for field in schema if field.name in columns or field.name in text]
        return cls(pa.schema(fields), condition)

    def __contains__(self, column: str) -> bool:
        return column in self.schema.names

    def possible(self, guarantees: Sequence[ds.Expression]) -> list[int]:
        """Which of the guarantees leave it possible that the condition holds.

        A guarantee is known to hold for all rows of some part, such as that they belong to one
        run.
        """
        if self.condition is None:
            return list(range(len(guarantees)))
        # Arrow skips files by what is known of their partition; none is ever opened.
        parts = ds.FileSystemDataset.from_paths(
            [str(number) for number in range(len(guarantees))],
            schema=self.schema,
            format=ds.IpcFileFormat(),
            filesystem=fs.LocalFileSystem(),
            partitions=list(guarantees),
        )
        return [int(part.path) for part in parts.get_fragments(filter=self.condition)]


_TEXT = pa.string()
_MOMENT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Column:
    """One column, and what a reader of its values must know."""

    name: str
    type: pa.DataType
    text: str


_RUN = Column("run_id", _TEXT, "The run.")
_PROJECT = Column("project", _TEXT, "Its project.")
_DATASET = Column("dataset", _TEXT, "Its dataset.")
_TEXTS_OF_RUNS = next(view.columns for view in VIEWS if view.name == "runs")


def _of_runs(kind: pa.DataType, *names: str) -> list[Column]:
    """Columns of runs, which have the texts of the view for BI tools."""
    return [Column(name, kind, _TEXTS_OF_RUNS[name]) for name in names]


RELATIONS: Mapping[str, tuple[Column, ...]] = {
    "runs": (
        *_of_runs(_TEXT, "run_id", "project", "dataset", "task"),
        Column("name", _TEXT, _TEXTS_OF_RUNS["run_name"]),
        *_of_runs(_TEXT, "model", "state", "author", "git_sha", "source_orientation"),
        *_of_runs(_MOMENT, "created_at", "finished_at"),
        *_of_runs(pa.int64(), "n_predictions", "truth_version"),
        *_of_runs(pa.bool_(), "hides_minority", "may_hide_minority", "is_weighted"),
        *_of_runs(_TEXT, "params", "tags"),
    ),
    "metrics": (
        _RUN,
        Column("key", _TEXT, "Key of the metric in the catalogue."),
        Column("class", _TEXT, "Class; NULL for the whole matrix."),
        Column("value", pa.float64(), "The value; NULL where it is undefined."),
        Column("reason", _TEXT, "Why it is undefined."),
        Column("tends_to", _TEXT, "Limit of an undefined value, if there is one."),
        Column("ci_low", pa.float64(), "Lower end of its 95 % interval."),
        Column("ci_high", pa.float64(), "Upper end of its 95 % interval."),
        Column("ci_method", _TEXT, "How the interval was computed."),
    ),
    "cells": (
        _RUN,
        Column("actual", _TEXT, "Actual class."),
        Column("predicted", _TEXT, "Predicted class."),
        Column(
            "count",
            pa.int64(),
            "Examples in the cell, whatever their weights; empty cells are left out.",
        ),
    ),
    "predictions": (
        _RUN,
        _PROJECT,
        _DATASET,
        Column("position", pa.int64(), "Position of the sample in the ground truth, from 0."),
        Column("sample_id", _TEXT, "Its identifier as text; without one, its position."),
        Column("actual", _TEXT, "Actual class; NULL while it has no label."),
        Column("predicted", _TEXT, "Predicted class."),
        Column("score", pa.float32(), "Score of the positive class, if known."),
        Column(
            "scores",
            pa.list_(pa.float32()),
            "All logged scores: one, or one for each class in order.",
        ),
        Column(
            "slices",
            pa.map_(pa.string(), pa.string()),
            "Slice columns of the sample: `slices['country']`.",
        ),
    ),
    "flags": (
        _RUN,
        Column("rule", _TEXT, "Rule that raised it, such as `F4`."),
        Column("class", _TEXT, "Class; NULL for the whole run."),
        Column("slice", _TEXT, "Slice, such as `site=z`; NULL for all samples."),
        Column("severity", _TEXT, "Severity."),
        Column("state", _TEXT, "`open`, `acknowledged`, `snoozed`, `dismissed` or `closed`."),
        Column("message", _TEXT, "Message."),
        Column("in_badge", pa.bool_(), "Whether it sets the red warning, accuracy hides a class."),
        Column(
            "may_hide", pa.bool_(), "Whether it sets the amber warning, accuracy may hide a class."
        ),
        Column("reason", _TEXT, "Reason of the dismissal."),
        Column("assignee", _TEXT, "Assignee."),
        Column("first_seen", _MOMENT, "When it was first raised."),
        Column("last_seen", _MOMENT, "When it was last raised."),
        Column("closed_at", _MOMENT, "When it was closed."),
    ),
}


def schema_of(relation: str) -> pa.Schema:
    """All columns of a relation with their types."""
    return pa.schema([(column.name, column.type) for column in RELATIONS[relation]])


def batch_of_rows(
    rows: Iterable[Sequence[Any]], schema: pa.Schema, wanted: RequestedColumns
) -> pa.Table:
    """Rows in the order of `schema`, narrowed to the wanted columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = {
        field.name: pa.array(column, field.type)
        for field, column in zip(schema, columns, strict=True)
        if field.name in wanted
    }
    return pa.table(arrays, schema=wanted.schema)


def batch_of_arrays(
    arrays: Mapping[str, Callable[[], pa.Array]], wanted: RequestedColumns
) -> pa.Table:
    """Arrays by the name of their column; only the wanted ones are built."""
    return pa.table(
        [arrays[field.name]().cast(field.type) for field in wanted.schema], schema=wanted.schema
    )


def repeated(text: str, n: int) -> pa.Array:
    """The same text n times."""
    return pa.repeat(pa.scalar(text, pa.string()), n)


def named(names: Sequence[str | None], codes: NDArray[Any]) -> pa.Array:
    """The name of each code, shape (n,); a code beyond the names has none."""
    known = pa.array([*names, None], pa.string())
    return known.take(pa.array(np.minimum(codes, len(names))))


@dataclass(frozen=True, slots=True)
class RunScope:
    """Runs by id, by the name of their dataset and of their project; () matches any."""

    runs: Sequence[str] = ()
    datasets: Sequence[str] = ()
    projects: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ScopedRun:
    """A run with its dataset and project."""

    id: str
    project: str
    dataset: str


def runs_in_scope(session: Session, scope: RunScope) -> list[ScopedRun]:
    """All runs that are not deleted, those of a dataset together, oldest first."""
    statement = (
        select(RunRow.id, ProjectRow.name, DatasetRow.name)
        .join(ProjectRow, ProjectRow.id == RunRow.project_id)
        .join(DatasetRow, DatasetRow.id == RunRow.dataset_id)
        .where(RunRow.deleted_at.is_(None))
        .order_by(RunRow.dataset_id, RunRow.created_at, RunRow.id)
    )
    for column, wanted in (
        (RunRow.id, scope.runs),
        (DatasetRow.name, scope.datasets),
        (ProjectRow.name, scope.projects),
    ):
        if wanted:
            statement = statement.where(column.in_(wanted))
    return [ScopedRun(*row) for row in session.execute(statement)]


def possible_runs(runs: Sequence[ScopedRun], wanted: RequestedColumns) -> list[ScopedRun]:
    """The runs that may have wanted rows, judging by their dataset and project."""
    if wanted.condition is None:
        return list(runs)
    known = {"run_id", "project", "dataset"} & set(wanted.schema.names)
    if not known:
        return list(runs)
    guarantees = [_place(run, known) for run in runs]
    return [runs[number] for number in wanted.possible(guarantees)]


def _place(run: ScopedRun, known: set[str]) -> ds.Expression:
    facts = {"run_id": run.id, "project": run.project, "dataset": run.dataset}
    conditions = [ds.field(name) == value for name, value in facts.items() if name in known]
    guarantee = conditions[0]
    for condition in conditions[1:]:
        guarantee &= condition
    return guarantee
