"""Cells of matrices without gaps between them."""

from __future__ import annotations

import pytest

from offdiag.audit.table_text.blocks import Row, rows_and_words
from offdiag.audit.table_text.cells import line_of
from offdiag.audit.table_text.joined_cells import MOST_WAYS, ways_to_read


def matrices(text: str) -> list[list[list[str]]]:
    """The cells of all rows, once for each way."""
    lines = [line_of(number, line) for number, line in enumerate(text.splitlines(), start=1)]
    return [
        [[v.last or "" for v in part.values if v] for part in way if isinstance(part, Row)]
        for way in ways_to_read(rows_and_words(lines))
    ]


def test_totals_leave_one_way() -> None:
    text = "Predicted A B C Total\nActual A 726280\nB 86 1 15\nC 21 2 5\nTotal 82 13 5 100"

    assert matrices(text) == [
        [["72", "6", "2", "80"], ["8", "6", "1", "15"], ["2", "1", "2", "5"],
         ["82", "13", "5", "100"]],
    ]  # fmt: skip


def test_a_table_that_was_copied_as_one_line_is_parted_as_well() -> None:
    text = "Predicted A B Total Actual A 72880 B 86 14 Total 801494"

    assert matrices(text) == [[["72", "8", "80"], ["8", "6", "14"], ["80", "14", "94"]]]


@pytest.mark.parametrize(
    "text",
    [
        "Predicted 0 (Class 1) Predicted 1 (Class 2)\nActual 0 (Class 1)83\nActual 1 (Class 2)57",
        "Predicted:\nClass 1\nPredicted:\nClass 2\nActual: Class 183\nActual: Class 257",
        "Predicted + -\nTrue +83\nTrue -57",
    ],
)
def test_digits_glued_to_the_name_of_a_class_are_found(text: str) -> None:
    assert matrices(text) == [[["8", "3"], ["5", "7"]]]


def test_without_totals_every_way_is_left_to_be_tried() -> None:
    text = "Predicted A B C\nActual A 838\nActual B 1173\nActual C 527"

    rows = [way[1] for way in matrices(text)]

    assert rows == [["1", "1", "73"], ["1", "17", "3"], ["11", "7", "3"]]


def test_no_number_begins_with_a_zero() -> None:
    text = "Predicted A B\nActual A 100\nActual B 20"

    assert matrices(text) == [[["10", "0"], ["2", "0"]]]


def test_with_too_many_ways_nothing_is_parted() -> None:
    text = "Predicted A B C\nActual A 123456789\nActual B 123456789\nActual C 123456789"

    assert MOST_WAYS < 28
    assert matrices(text) == [[["123456789"], ["123456789"], ["123456789"]]]


@pytest.mark.parametrize(
    "text",
    [
        "Predicted A B\nActual A 8 3\nActual B 5 7",
        "A B\nA 83\nB 57",
        "Predicted A B\nActual A 0.83\nActual B 0.57",
        "Predicted A B\nActual A 83",
    ],
)
def test_other_tables_stay_as_they_are(text: str) -> None:
    lines = [line_of(number, line) for number, line in enumerate(text.splitlines(), start=1)]
    parts = rows_and_words(lines)

    assert ways_to_read(parts) == [parts]
