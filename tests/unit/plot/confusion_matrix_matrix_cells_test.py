"""Numbers and colours of the cells of a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from offdiag.plot.axes import CORRECT, ERROR, PAGE
from offdiag.plot.confusion_matrix import matrix_cells, number_text, percent_text

COUNTS = np.array([[80, 20, 0], [1, 9, 0], [0, 0, 0]])


@pytest.mark.parametrize(
    ("normalize", "share", "text"),
    [("actual", 0.2, "20 %"), ("predicted", 20 / 29, "69 %"), ("all", 20 / 110, "18 %")],
)
def test_shares_refer_to_what_was_asked_for(normalize: str, share: float, text: str) -> None:
    cells = matrix_cells(COUNTS, normalize)

    assert cells.shares[0, 1] == pytest.approx(share)
    assert cells.share_text(0, 1) == text
    assert cells.count_text(0, 1) == "20"


def test_a_share_of_an_empty_class_is_undefined() -> None:
    assert matrix_cells(COUNTS, "actual").share_text(2, 0) == "undefined"
    assert matrix_cells(COUNTS, "predicted").share_text(0, 2) == "undefined"
    assert matrix_cells(COUNTS, "predicted").share_text(2, 0) == "0 %"


def test_correct_cells_are_blue_and_errors_orange_by_their_square_root() -> None:
    cells = matrix_cells(COUNTS, "actual")

    assert cells.colour(0, 0) == CORRECT[8]
    assert cells.colour(1, 1) == CORRECT[9]
    assert cells.colour(0, 1) == ERROR[10]
    assert cells.colour(1, 0) == ERROR[7]
    assert cells.colour(0, 2) == PAGE
    assert cells.ends_text() == ("100 %", "20 %")


def test_without_shares_colours_follow_the_counts() -> None:
    cells = matrix_cells(COUNTS, None)

    assert cells.share_text(0, 0) == ""
    assert cells.colour(0, 0) == CORRECT[10]
    assert cells.colour(1, 1) == CORRECT[1]
    assert cells.ends_text() == ("80", "20")


def test_a_single_error_among_a_million_can_be_seen() -> None:
    cells = matrix_cells(np.array([[999_999, 1], [400_000, 600_000]]), "actual")

    assert cells.colour(0, 1) == ERROR[1]
    assert cells.share_text(0, 1) == "<1 %"
    assert cells.share_text(0, 0) == ">99 %"


def test_nothing_right_and_nothing_at_all_have_no_colour() -> None:
    assert matrix_cells(np.array([[0, 5], [5, 0]]), "all").colour(0, 0) == PAGE
    assert matrix_cells(np.zeros((2, 2), np.int64), "all").colour(0, 1) == PAGE


@pytest.mark.parametrize(
    ("number", "text"), [(12_345, "12,345"), (np.int64(0), "0"), (2.0, "2"), (0.12345, "0.1235")]
)
def test_counts_have_separators_and_weights_four_digits(number: float, text: str) -> None:
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.004, "<1 %"),
        (0.01, "1 %"),
        (0.353, "35 %"),
        (0.999, ">99 %"),
        (1.0, "100 %"),
        (float("nan"), "undefined"),
    ],
)
def test_percentages_never_hide_a_case(share: float, text: str) -> None:
    assert percent_text(share) == text
