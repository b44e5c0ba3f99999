"""Scores are read without losing precision, and refused where they are not numbers."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.scores import read_scores, score_table


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ([0.1, 0.9], "float64"),
        ([0, 1], "float64"),
        ([True, False], "float64"),
        (np.array([0.1, 0.9], dtype=np.float32), "float32"),
        (np.array([0.1, 0.9], dtype=np.float16), "float32"),
        (np.array([0.1, 0.9], dtype=np.longdouble), "float64"),
        (pd.Series([0.1, 0.9]), "float64"),
        (pl.Series([0.1, 0.9]), "float64"),
        (np.array([0.1, 0.9], dtype=object), "float64"),
    ],
)
def test_one_score_for_each_case_becomes_one_column(given: object, kind: str) -> None:
    table = score_table(given, n_samples=2)

    assert table.shape == (2, 1)
    assert table.dtype == kind


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_named_with_its_row(broken: float) -> None:
    table: NDArray[Any] = np.full((4, 3), 0.5)
    table[2, 1] = broken

    with pytest.raises(InvalidInput, match="index 2, column 1") as caught:
        score_table(table, n_samples=4)

    assert caught.value.field == "y_score"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0.5], "there are 2 samples"),
        (np.zeros((2, 2, 2)), r"the shape is \(2, 2, 2\)"),
        ([[0.5, 0.5], [1.0]], "differ in length"),
        (["a", "b"], "are not scores"),
        ([object(), object()], "cannot be read as numbers"),
        ([1j, 2j], "are not scores"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(given: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        score_table(given, n_samples=2)


TWO, THREE = LabelSet.declared(["a", "b"]), LabelSet.declared(["a", "b", "c"])
ROWS = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]


@pytest.mark.parametrize(
    "given",
    [
        pd.Series(ROWS),
        pd.Series([tuple(row) for row in ROWS], index=[7, 3]),
        pd.DataFrame({"proba": [np.array(row) for row in ROWS]}),
        pd.Series(ROWS).to_numpy(),
        pl.Series(ROWS),
        pl.Series(ROWS, dtype=pl.Array(pl.Float32, 3)),
        pa.array(ROWS),
        pa.chunked_array([ROWS[:1], ROWS[1:]], pa.list_(pa.float32(), 3)),
    ],
)
def test_a_column_with_a_list_of_scores_for_each_sample_is_a_table(given: Any) -> None:
    (stored,) = astuple(read_scores(given, n_samples=2, labels=THREE, positive_label=None))

    assert stored.tolist() == ROWS
    assert score_table(given, n_samples=2, labels=THREE).tolist() == ROWS


def test_a_column_of_records_is_read_by_the_names_of_its_fields() -> None:
    given = pl.Series([dict(zip("cab", np.roll(row, 1).tolist(), strict=True)) for row in ROWS])

    (stored,) = astuple(read_scores(given, n_samples=2, labels=THREE, positive_label=None))

    assert stored.tolist() == ROWS
    assert score_table(given, n_samples=2, labels=THREE).tolist() == ROWS
    with pytest.raises(InvalidInput, match="'c', 'a', 'b'"):
        read_scores(given, n_samples=2, labels=TWO, positive_label="yes")


@pytest.mark.parametrize("rows", [[[0.5, 0.5], [1.0]], [[0.5, 0.5], None]])
@pytest.mark.parametrize("of", [pd.Series, pl.Series, pa.array, lambda rows: {"a": rows}])
def test_lists_of_scores_of_different_lengths_are_refused(rows: Any, of: Any) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_scores(of(rows), n_samples=2, labels=TWO, positive_label="yes")
