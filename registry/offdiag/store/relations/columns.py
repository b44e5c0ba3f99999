"""Names, types and meaning of the columns of each relation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

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

RELATIONS: Mapping[str, tuple[Column, ...]] = {
    "runs": (
        Column("run_id", _TEXT, "Identifier of the run."),
        _PROJECT,
        _DATASET,
        Column("task", _TEXT, "`binary`, `multiclass` or `multilabel`."),
        Column("name", _TEXT, "Its name, which other runs may have too."),
        Column("model", _TEXT, "The model that predicted; NULL if nobody said."),
        Column("state", _TEXT, "`open`, `finished`, `evaluated` or `failed`."),
        Column("author", _TEXT, "Who logged it."),
        Column("git_sha", _TEXT, "The commit it was logged from."),
        Column(
            "source_orientation",
            _TEXT,
            "`predictions`, or what the rows of an uploaded matrix were.",
        ),
        Column("created_at", _MOMENT, "When it was opened."),
        Column("finished_at", _MOMENT, "When it was complete; NULL while it is open."),
        Column("n_predictions", pa.int64(), "Number of its predictions, 0 for a matrix."),
        Column("truth_version", pa.int64(), "Version of the ground truth its numbers are of."),
        Column(
            "hides_minority",
            pa.bool_(),
            "Whether its accuracy hides a class; NULL where nothing can be said.",
        ),
        Column(
            "may_hide_minority",
            pa.bool_(),
            "Whether it may hide one: a large gap in recall is in sight, none is proved.",
        ),
        Column("params", _TEXT, "Parameters as JSON: `params->>'lr'`."),
        Column("tags", _TEXT, "Tags as JSON."),
    ),
    "metrics": (
        _RUN,
        Column("key", _TEXT, "Key of the metric in the catalogue."),
        Column("class", _TEXT, "The class it is of; NULL for the whole matrix."),
        Column("value", pa.float64(), "The value; NULL where it is undefined."),
        Column("reason", _TEXT, "Why it is undefined."),
        Column("tends_to", _TEXT, "What an undefined value tends to, if to anything."),
        Column("ci_low", pa.float64(), "Lower end of its 95 % interval."),
        Column("ci_high", pa.float64(), "Upper end of its 95 % interval."),
        Column("ci_method", _TEXT, "How the interval was computed."),
    ),
    "cells": (
        _RUN,
        Column("actual", _TEXT, "Actual class."),
        Column("predicted", _TEXT, "Predicted class."),
        Column("count", pa.int64(), "Cases in the cell; empty cells are left out."),
    ),
    "predictions": (
        _RUN,
        _PROJECT,
        _DATASET,
        Column("position", pa.int64(), "Place of the sample in the ground truth, from 0."),
        Column("sample_id", _TEXT, "Its identifier as text; without one, its position."),
        Column("actual", _TEXT, "Actual class; NULL while it has no label."),
        Column("predicted", _TEXT, "Predicted class."),
        Column("score", pa.float32(), "Score of the positive class, where one is known."),
        Column(
            "scores",
            pa.list_(pa.float32()),
            "All scores as they were logged: one, or one for each class in order.",
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
        Column("class", _TEXT, "The class it is about; NULL for the whole run."),
        Column("severity", _TEXT, "How serious it is."),
        Column("state", _TEXT, "`open`, `acknowledged`, `snoozed`, `dismissed` or `closed`."),
        Column("message", _TEXT, "What was found."),
        Column("in_badge", pa.bool_(), "Whether it says that accuracy hides a class."),
        Column("may_hide", pa.bool_(), "Whether it says that accuracy may hide a class."),
        Column("reason", _TEXT, "Why somebody dismissed it."),
        Column("assignee", _TEXT, "Who looks after it."),
        Column("first_seen", _MOMENT, "When it was first raised."),
        Column("last_seen", _MOMENT, "When it was last raised."),
        Column("closed_at", _MOMENT, "When it no longer held."),
    ),
}


def schema_of(relation: str) -> pa.Schema:
    """All columns of a relation with their types."""
    return pa.schema([(column.name, column.type) for column in RELATIONS[relation]])
