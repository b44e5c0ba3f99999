"""A matrix out of JSON or CSV, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.inputs.files.matrix import read_matrix

MATRIX = [[8, 3], [1, 17]]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_json_says_matrix_labels_and_orientation(tmp_path: Path) -> None:
    content = {"labels": ["a", 7], "matrix": MATRIX, "orientation": "actual_columns"}

    found = read_matrix(write(tmp_path, "m.json", json.dumps(content)))

    assert found.matrix == MATRIX
    assert found.labels == ["a", "7"]
    assert found.orientation is SourceOrientation.ACTUAL_COLUMNS


def test_axes_of_json_say_the_orientation(tmp_path: Path) -> None:
    content = {"matrix": MATRIX, "labels": ["a", "b"], "axes": ["predicted", "actual"], "n": 5}

    found = read_matrix(write(tmp_path, "m.json", json.dumps(content)))

    assert found.orientation is SourceOrientation.ACTUAL_COLUMNS


def test_json_may_leave_out_labels_and_orientation(tmp_path: Path) -> None:
    found = read_matrix(write(tmp_path, "m.json", json.dumps({"matrix": MATRIX})))

    assert (found.labels, found.orientation) == (None, None)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_square_csv_has_labels_on_both_axes_and_no_orientation(
    tmp_path: Path, separator: str
) -> None:
    text = "\ufeffclass,NA,007\r\nNA,8,3\r\n007,1,17\r\n".replace(",", separator)
    found = read_matrix(write(tmp_path, "m.csv", text))

    assert found.matrix == MATRIX
    assert found.labels == ["NA", "007"]
    assert found.orientation is None


def test_the_long_form_names_its_axes_and_leaves_empty_cells_out(tmp_path: Path) -> None:
    text = "actual,predicted,count\na,a,8\nb,a,1\na,b,3\n"

    found = read_matrix(write(tmp_path, "m.csv", text))

    assert found.labels == ["a", "b"]
    assert found.matrix == [[8, 3], [1, 0]]
    assert found.orientation is SourceOrientation.ACTUAL_ROWS


@pytest.mark.parametrize(
    ("text", "orientation"),
    [
        ("actual,predicted,count,share_of_all\na,a,8,.2\na,b,3,.1\nb,a,1,0\nb,b,17,.7\n", "rows"),
        ("predicted,actual,count\na,a,8\nb,a,3\na,b,1\nb,b,17\n", "rows"),
        ("actual (rows) / predicted (columns),a,b\na,8,3\nb,1,17\n", "rows"),
        ("predicted (rows) / actual (columns),a,b\na,8,3\nb,1,17\n", "columns"),
    ],
)
def test_what_the_dashboard_exports_is_read_back_with_its_orientation(
    tmp_path: Path, text: str, orientation: str
) -> None:
    found = read_matrix(write(tmp_path, "m.csv", text))

    assert found.matrix == MATRIX
    assert found.labels == ["a", "b"]
    assert found.orientation == f"actual_{orientation}"


def test_counts_beyond_double_precision_stay_exact(tmp_path: Path) -> None:
    large = 2**53 + 1

    found = read_matrix(write(tmp_path, "m.csv", f",a\na,{large}\n"))

    assert found.matrix == [[large]]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("m.csv", ",a,b\na,1,2\nc,3,4\n", "label 2 is 'b' in the first line but 'c'"),
        ("m.csv", ",a,b\na,1,2\n", "row 0 has 2 cells, but there are 1 rows"),
        ("m.csv", ",a,b\na,1\nb,3,4\n", "line 2 has 2 fields, the header has 3"),
        ("m.csv", ",a,b\na,1,0.5\nb,3,4\n", "the cell at line 2 is '0.5'"),
        ("m.csv", ",a,b\na,1,\nb,3,4\n", "the cell at line 2 is ''"),
        ("m.csv", "a\n", "holds no matrix"),
        ("m.csv", "class;a;\na;1;2\n;3;4\n", "line 1 of m.csv leaves the name of a class empty"),
        ("m.csv", "actual,predicted,count\na,a,1\na,a,2\n", "occurs twice"),
        ("m.csv", "actual,predicted,count\na,a\n", "line 2 has 2 fields"),
        ("m.json", "[[1]]", "has no member 'matrix'"),
        ("m.json", '[{"y_true": "a", "y_pred": "a"}]', "Predictions are read from .jsonl"),
        ("m.json", '{"y": "a"}\n{"y": "b"}\n', "name the file .jsonl"),
        ("m.json", '{"matrix": [[1, 2], 3]}', "row 1 is 3"),
        ("m.json", '{"matrix": [[1.5]]}', "the cell at [0][0] is 1.5"),
        ("m.json", '{"matrix": [[true]]}', "the cell at [0][0] is True"),
        ("m.json", '{"matrix": [[1, 2, 3], [4, 5, 6]]}', "row 0 has 3 cells"),
        ("m.json", '{"matrix": [[NaN]]}', "NaN is not JSON"),
        ("m.json", '{"matrix": [[1]], "labels": "a"}', "'labels' is not a list"),
        ("m.json", '{"matrix": [[1]], "orientation": "rows"}', "orientation: 'rows' is not known"),
        ("m.json", '{"matrix": [[1]], "matrix": [[2]]}', "a member occurs twice"),
        ("m.json", '{"matrix": [[1]], "label": ["a"]}', "a member 'label'. Call it 'labels'"),
        ("m.json", '{"matrix": [[1]], "Labels": ["a"]}', "a member 'Labels'. Call it 'labels'"),
        ("m.json", '{"matrix": [[1]], "classes": ["a"]}', "a member 'classes'. Call it 'labels'"),
        (
            "m.json",
            '{"matrix": [[1]], "Orientation": "actual_columns"}',
            "a member 'Orientation'. Call it 'orientation'",
        ),
        (
            "m.json",
            '{"matrix": [[1]], "orientation": "actual_rows", "axes": ["predicted", "actual"]}',
            "its axes say 'actual_columns'",
        ),
        ("m.xlsx", "", "Use .json or .csv"),
    ],
)
def test_an_unusable_matrix_file_is_refused_with_the_place(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    path = write(tmp_path, name, text)

    with pytest.raises(InvalidInput) as caught:
        read_matrix(path)

    assert says in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["45,5\n5,45\n", "9,1,2\n1,8,3\n2,3,7\n", "0;1\n1;0\n"])
def test_a_symmetric_matrix_of_numbers_alone_has_no_labels(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match="seem to be counts") as caught:
        read_matrix(write(tmp_path, "m.csv", text))

    assert "import it as one of scikit-learn" in str(caught.value.hint)
    labelled = write(tmp_path, "n.csv", ",1,2\n1,8,3\n2,3,7\n")
    assert read_matrix(labelled).labels == ["1", "2"]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_matrix(tmp_path / "m.json")
