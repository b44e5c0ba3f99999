"""Scores are read without losing precision, and refused where they are not numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.inputs.scores import score_table


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
