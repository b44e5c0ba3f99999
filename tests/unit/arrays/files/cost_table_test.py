"""Costs out of pasted text."""

from __future__ import annotations

import pytest

from offdiag.arrays.files.cost_table import read_cost_table
from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.matrix import cost_matrix

LABELS = LabelSet.declared(["nv", "mel", "b k l"])
EXPECTED = [[0, 1, 1], [20, 0, 8], [2, 4, 0]]


def weights(text: str, labels: LabelSet = LABELS) -> list[list[float]]:
    return cost_matrix(read_cost_table(text, labels), labels=labels).weights.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "text",
    [
        "0\t1\t1\n20\t0\t8\n2\t4\t0",
        "0\t1\t1\r\n20\t0\t8\r\n2\t4\t0\r\n",
        "0,1,1\n20,0,8\n2,4,0\n",
        "0; 1; 1\n20; 0; 8\n2; 4; 0",
        "0 1 1\n20  0 8\n\n2 4 0",
        "\ufeff\tnv\tmel\tb k l\nnv\t0\t1\t1\nmel\t20\t0\t8\nb k l\t2\t4\t0",
        "true \\ pred\tnv\tmel\tb k l\nnv\t0\t1\t1\nmel\t20\t0\t8\nb k l\t2\t4\t0",
        'x,mel,"b k l",nv\nb k l,4,0,2\nnv,1,1,0\nmel,0,8,20\n',
    ],
    ids=["tabs", "windows", "commas", "semicolons", "blanks", "names", "corner", "other order"],
)
def test_a_table_is_read_whatever_parts_its_fields(text: str) -> None:
    assert weights(text) == EXPECTED


def test_names_that_are_numbers_are_told_from_costs_by_the_shape() -> None:
    labels = LabelSet.declared(["0", "1"])

    assert weights("\t1\t0\n1\t0\t9\n0\t3\t0", labels) == [[0, 3], [9, 0]]
    assert weights("0\t3\n9\t0", labels) == [[0, 3], [9, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is nothing in it"),
        (" \n\n", "there is nothing in it"),
        ("0\t1\n20\t0", "2 lines of 2 costs for 3 classes"),
        ("0\t1\t1\n20\t0\n2\t4\t0", "line 2 has 2 fields, the first line 3"),
        ("0\t1\t1\n20\t0\tmuch\n2\t4\t0", "'much' in line 2 is no cost"),
        ("0\t1\t1\n20\t0\t0,5\n2\t4\t0", "'0,5' in line 2 is no cost"),
        ("0\t1\t1\n20\t0\tnan\n2\t4\t0", "'nan' in line 2 is no cost"),
        (
            "\tnv\tnv\tmel\nnv\t0\t1\t1\nmel\t1\t1\t1\nx\t1\t1\t1",
            "more than once in the first line",
        ),
        ("\tnv\tmel\tx\nnv\t0\t1\t1\nnv\t1\t1\t1\nx\t1\t1\t1", "in the first column"),
        ("predicted (rows)\tnv\tmel\tb k l\nnv\t0\t1\t1", "seem to be predicted classes"),
        ('"nv,1\n2', "cannot be read as a table"),
    ],
)
def test_what_is_no_table_of_costs_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        read_cost_table(text, LABELS)

    assert caught.value.field == "weights"
    assert caught.value.hint


def test_names_that_are_no_labels_are_refused() -> None:
    with pytest.raises(InvalidInput, match="is not one of the labels"):
        weights("\tnv\tmel\tdf\nnv\t0\t1\t1\nmel\t20\t0\t8\ndf\t2\t4\t0")
