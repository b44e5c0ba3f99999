import csv
import io

import pytest

from offdiag_web.app.exports import csv_cell, csv_text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@cmd", "\tx", "\rx", "\nx", "＝1", "'=1"])
def test_text_that_begins_like_a_formula_is_marked_as_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1, -0.5, 0, 1e-300])
def test_numbers_stay_numbers(value: float) -> None:
    assert csv_cell(value) == value


def test_undefined_is_empty() -> None:
    assert csv_cell(None) == ""


def test_floats_are_written_in_full_precision() -> None:
    (_, (text,)) = _read(csv_text(["value"], [[0.1 + 0.2]]))

    assert float(text) == 0.1 + 0.2


def test_commas_quotes_and_line_breaks_survive_a_round_trip() -> None:
    label = 'a, "b"\nc'

    assert _read(csv_text(["label"], [[label]])) == [["label"], [label]]


def test_hostile_column_names_are_marked_too() -> None:
    assert _read(csv_text(["=1+1"], [])) == [["'=1+1"]]


def _read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))
