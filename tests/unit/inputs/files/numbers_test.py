"""Scores out of files of any kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from offdiag.errors import InvalidInput
from offdiag.inputs.files.tables import read_columns, require_decimals, stacked_numbers


def test_text_numbers_and_lists_become_one_table() -> None:
    columns = {"a": pa.array(["0.5", "1e-3"]), "b": pa.array([1, 2]), "c": [0.25, 4]}

    numbers = stacked_numbers(columns)

    assert np.array_equal(numbers, [[0.5, 1.0, 0.25], [0.001, 2.0, 4.0]])


def test_one_column_has_one_dimension() -> None:
    assert stacked_numbers({"a": pa.array(["0.5"])}).shape == (1,)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (pa.array(["0.5", "high"]), "the value of column 'p' at index 1 is 'high'"),
        (pa.array(["", "0.5"]), "the value of column 'p' at index 0 is ''"),
        (pa.array([0.5, None]), "the value of column 'p' at index 1 is None"),
        ([0.5, "x"], "the value of column 'p' at index 1 is 'x'"),
    ],
)
def test_what_is_no_number_is_named(column: object, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        stacked_numbers({"p": column})

    assert says in str(caught.value)


def table(folder: Path, text: str, name: str = "run.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def read(path: Path) -> None:
    require_decimals(path, read_columns(path, ["w", "p"]))


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("w;p\n850;0\n1.250;1\n", "run.csv", "value 1.250 of column 'w' may be 1.25 or 1250."),
        ("w\tp\n2\t 1.000\n1\t0\n", "run.tsv", "value 1.000 of column 'p' may be 1 or 1000."),
        ("w;p\n12.500;1\n1.250;0,5\n", "run.csv", "value 12.500 .* may be 12.5 or 12500."),
    ],
)
def test_points_that_may_part_thousands_are_refused(
    tmp_path: Path, text: str, name: str, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        read(table(tmp_path, text, name))


@pytest.mark.parametrize(
    "text",
    [
        "w;p\n850;0\n1250;1\n",
        "w;p\n1.250;0.5\n850;1\n",
        "w;p\n1.250;0\n1.2500;1\n",
        "w;p\n1.250;0\n0.250;1\n",
        "w,p\n850,0\n1.250,1\n",
    ],
)
def test_points_that_another_number_of_the_file_settles_part_decimals(
    tmp_path: Path, text: str
) -> None:
    read(table(tmp_path, text))
