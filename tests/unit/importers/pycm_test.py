"""PyCM's saved objects, as its documentation describes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput, LabelNote
from offdiag.importers import ImportedLabels, ImportedMatrix, read

SAVED = {
    "Actual-Vector": None,
    "Predict-Vector": None,
    "Matrix": [["b", [["b", 8], ["a", 2]]], ["a", [["b", 3], ["a", 17]]]],
    "Digit": 5,
    "Sample-Weight": None,
    "Transpose": True,
}


def saved(folder: Path, **changes: object) -> Path:
    path = folder / "cm.obj"
    path.write_text(json.dumps(SAVED | changes), encoding="utf-8")
    return path


def test_the_outer_key_is_the_actual_class_even_of_a_transposed_matrix(tmp_path: Path) -> None:
    assert read("pycm", saved(tmp_path)).content == ImportedMatrix(
        [[8, 2], [3, 17]], ("b", "a"), SourceOrientation.ACTUAL_ROWS
    )


def test_vectors_are_predictions(tmp_path: Path) -> None:
    vectors = {"Actual-Vector": ["b", "a"], "Predict-Vector": ["a", "a"]}

    assert read("pycm", saved(tmp_path, **vectors)).content == ImportedLabels(
        ["b", "a"], ["a", "a"], ("b", "a")
    )


def test_weighted_vectors_are_predictions_with_weights(tmp_path: Path) -> None:
    """Cells of weights that happen to be whole numbers are no counts of samples."""
    changes = {
        "Actual-Vector": ["b", "a"],
        "Predict-Vector": ["a", "a"],
        "Sample-Weight": [2, 0.5],
        "Matrix": [["b", [["b", 0], ["a", 2]]], ["a", [["b", 0], ["a", 0.5]]]],
    }

    assert read("pycm", saved(tmp_path, **changes)).content == ImportedLabels(
        ["b", "a"], ["a", "a"], ("b", "a"), sample_weight=[2, 0.5]
    )


def test_decimals_that_may_be_shares_are_noted(tmp_path: Path) -> None:
    rows = {"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0], "c": [1.0, 0.0, 0.0]}
    matrix = [[name, list(zip(rows, row, strict=True))] for name, row in rows.items()]

    with pytest.warns(LabelNote, match="every row of the matrix adds up to 1"):
        content = read("pycm", saved(tmp_path, Matrix=matrix)).content

    assert content == ImportedMatrix(
        [[1, 0, 0], [0, 1, 0], [1, 0, 0]], ("a", "b", "c"), SourceOrientation.ACTUAL_ROWS
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"Matrix": None}, "no member 'Matrix'"),
        ({"Matrix": [["a", 1]]}, "not a list of pairs"),
        ({"Matrix": [["a", [["a", 0.5]]]]}, "shares or weights"),
        ({"Matrix": [["a", [["b", 1]]]]}, "not the same on both axes"),
        ({"Matrix": [["a", [["a", 1]]], ["a", [["a", 1]]]]}, "not the same on both axes"),
        ({"Matrix": [["a", [["a", 1], ["a", 5]]]]}, "occurs twice"),
    ],
)
def test_what_is_no_saved_matrix_of_counts_is_refused(
    tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("pycm", saved(tmp_path, **changes))

    assert says in str(refused.value)


def test_stated_labels_must_be_those_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="names its classes"):
        read("pycm", saved(tmp_path), labels=["a", "b"])
