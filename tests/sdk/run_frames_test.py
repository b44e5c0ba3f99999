"""Predictions and curves of a stored run, as data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import offdiag
from offdiag.errors import Conflict, InvalidInput
from offdiag.sdk.run import Run
from offdiag.store.database import Database

EVENT: dict[str, Any] = {
    "project": "p",
    "name": "r",
    "dataset": "d",
    "y_true": [0, 1, 0, 1, 0],
    "y_pred": [0, 1, 1, 1, 0],
    "y_score": [0.1, 0.9, 0.8, 0.7, 0.2],
    "positive_label": 1,
}


def _log(database: Database, **given: Any) -> Run:
    return offdiag.log_run(url=database.url, **(EVENT | given))


def test_a_cell_comes_with_its_samples_scores_and_slices(sqlite_database: Database) -> None:
    run = _log(
        sqlite_database,
        sample_ids=["a", "b", "c", "d", "e"],
        slices={"country": ["DE", "FR", "FR", "DE", "DE"]},
    )

    frame = run.examples(actual=0, predicted=1)

    assert frame.index.tolist() == [2]
    (row,) = frame.to_dict("records")
    assert (row["sample"], row["actual"], row["predicted"], row["country"]) == (
        "c",
        "0",
        "1",
        "FR",
    )
    assert row["confidence"] == pytest.approx(0.8)
    assert row["margin"] == pytest.approx(0.6)


def test_kinds_can_be_asked_for_and_the_surest_come_first(sqlite_database: Database) -> None:
    run = _log(sqlite_database)

    right = run.examples(kind="right", limit=2)

    assert right["confidence"].round(6).tolist() == [0.9, 0.9]
    assert len(run.examples()) == 1
    assert len(run.examples(kind="all")) == 5


def test_the_thresholds_of_a_class_count_exactly(sqlite_database: Database) -> None:
    run = _log(sqlite_database)
    run.evaluation()

    frame = run.operating_points()

    assert frame["true_positives"].tolist() == [0, 1, 1, 2, 2, 2]
    assert frame["false_positives"].tolist() == [0, 0, 1, 1, 2, 3]
    for scores in (np.array(EVENT["y_score"]), np.array(EVENT["y_score"], np.float32)):
        reported = [np.count_nonzero(scores >= threshold) for threshold in frame["threshold"]]
        assert reported == (frame["true_positives"] + frame["false_positives"]).tolist()
    assert run.operating_points(positive=0)["true_positives"].tolist() == [0, 1, 2, 2, 3, 3]


def test_what_is_not_there_is_refused_with_a_reason(sqlite_database: Database) -> None:
    matrix = offdiag.log_matrix(
        [[3, 1], [0, 2]],
        labels=["a", "b"],
        orientation="actual_rows",
        project="p",
        name="m",
        dataset="matrix",
        url=sqlite_database.url,
    )
    several = _log(
        sqlite_database,
        dataset="several",
        # Of 0 and 1 the positive class would be 1 by convention.
        y_true=["a", "b", "a", "b", "a"],
        y_pred=["a", "b", "b", "b", "a"],
        y_score=[[0.9, 0.1]] * 5,
        positive_label=None,
    )
    several.evaluation()

    with pytest.raises(Conflict, match="has no predictions"):
        matrix.examples()
    with pytest.raises(Conflict, match="no scores"):
        matrix.operating_points()
    with pytest.raises(Conflict, match="no positive class"):
        several.operating_points()
    with pytest.raises(InvalidInput):
        several.examples(actual="maybe")
