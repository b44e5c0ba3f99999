"""Scores out of files of any kind."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from offdiag.errors import InvalidInput
from offdiag.inputs.files.tables import stacked_numbers


def test_text_numbers_and_lists_become_one_table() -> None:
    columns = {"a": pa.array(["0.5", "1e-3"]), "b": pa.array([1, 2]), "c": [0.25, 4]}

    numbers = stacked_numbers(columns)

    assert np.array_equal(numbers, [[0.5, 1.0, 0.25], [0.001, 2.0, 4.0]])


def test_one_column_has_one_dimension() -> None:
    assert stacked_numbers({"a": pa.array(["0.5"])}).shape == (1,)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array(["0.5", "high"]), "index 1 of column 'p' is 'high'"),
        (pa.array(["", "0.5"]), "index 0 of column 'p' is ''"),
        (pa.array([0.5, None]), "index 1 of column 'p' is None"),
        ([0.5, "x"], "index 1 of column 'p' is 'x'"),
    ],
)
def test_what_is_no_number_is_named(column: object, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        stacked_numbers({"p": column})

    assert says in str(caught.value)
