"""scikit-learn: an array has no labels; a report has them, and tells swapped arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import classification_report, confusion_matrix

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput, LabelNote
from offdiag.importers import ImportedMatrix, read

MATRIX = [[8, 2], [3, 17]]
REPORT = {
    "cat": {"precision": 0.7, "recall": 0.8, "f1-score": 0.7, "support": 10.0},
    "dog": {"precision": 0.9, "recall": 0.85, "f1-score": 0.9, "support": 20.0},
    "accuracy": 0.83,
    "macro avg": {"precision": 0.8, "recall": 0.8, "f1-score": 0.8, "support": 30.0},
    "weighted avg": {"precision": 0.8, "recall": 0.8, "f1-score": 0.8, "support": 30.0},
}


def array(folder: Path, matrix: Any = MATRIX) -> Path:
    np.save(folder / "cm.npy", np.array(matrix))
    return folder / "cm.npy"


def report(folder: Path, content: object = REPORT) -> Path:
    path = folder / "report.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_rows_are_actual_classes(tmp_path: Path) -> None:
    found = read("sklearn", array(tmp_path), labels=["cat", "dog"])

    assert found.content == ImportedMatrix(MATRIX, ("cat", "dog"), SourceOrientation.ACTUAL_ROWS)
    assert found.convention.startswith("Rows are actual")


def test_names_without_an_order_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a list of labels in their order"):
        read("sklearn", array(tmp_path), labels={"cat", "dog"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cm.json", "[[8, 2], [3, 17]]"),
        ("cm.csv", "8,2\n3,17\n"),
        ("cm.csv", "8.000;2.000\n3.000;17.000\n"),
        ("cm.txt", "8.000000000000000000e+00 2.000000000000000000e+00\n3e0 1.7e1\n"),
    ],
)
def test_arrays_may_be_written_as_text(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    content = read("sklearn", tmp_path / name, labels=["cat", "dog"]).content

    assert isinstance(content, ImportedMatrix)
    assert content.matrix == MATRIX


def test_points_that_may_part_thousands_are_refused(tmp_path: Path) -> None:
    (tmp_path / "cm.csv").write_text("8;2\n3;17.000\n", encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"the cell 17\.000 may be 17 or 17000"):
        read("sklearn", tmp_path / "cm.csv", labels=["cat", "dog"])


@pytest.mark.parametrize(
    "text",
    [",cat,dog\ncat,8,2\ndog,3,17\n", "  precision recall\ncat 0.7 0.8\n", "1_0,2\n3,17\n"],
)
def test_text_that_is_no_array_is_refused_with_what_reads_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "cm.csv").write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInput, match="does not hold numbers alone") as refused:
        read("sklearn", tmp_path / "cm.csv", labels=["cat", "dog"])

    assert "`offdiag log FILE --matrix`" in str(refused.value)
    assert "`offdiag audit FILE`" in str(refused.value)


def test_decimals_that_may_be_shares_are_noted(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "cm.txt", np.eye(3))

    with pytest.warns(LabelNote, match="every row of the matrix adds up to 1"):
        content = read("sklearn", tmp_path / "cm.txt", labels=["a", "b", "c"]).content

    assert isinstance(content, ImportedMatrix)
    assert content.matrix == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_a_report_names_the_classes(tmp_path: Path) -> None:
    content = read("sklearn", array(tmp_path), report=report(tmp_path)).content

    assert isinstance(content, ImportedMatrix)
    assert content.labels == ("cat", "dog")


def test_without_labels_nothing_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no class names"):
        read("sklearn", array(tmp_path))


def test_the_support_tells_a_transposed_matrix(tmp_path: Path) -> None:
    swapped = array(tmp_path, [[8, 3], [2, 17]])

    with pytest.raises(InvalidInput) as refused:
        read("sklearn", swapped, report=report(tmp_path))

    assert "columns of the matrix add up to the support" in str(refused.value)
    assert "confusion_matrix takes y_true first" in str(refused.value)


def test_the_support_tells_a_matrix_of_other_predictions(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not of the same predictions"):
        read("sklearn", array(tmp_path, [[7, 2], [3, 17]]), report=report(tmp_path))


def test_a_report_with_sorted_names_does_not_name_a_balanced_matrix(tmp_path: Path) -> None:
    y_true = ["well"] * 50 + ["ill"] * 50
    y_pred = ["well"] * 45 + ["ill"] * 35 + ["well"] * 20
    matrix = array(tmp_path, confusion_matrix(y_true, y_pred, labels=["well", "ill"]))
    found = classification_report(y_true, y_pred, labels=["well", "ill"], output_dict=True)

    assert read("sklearn", matrix, report=report(tmp_path, found)).content == ImportedMatrix(
        [[45, 5], [20, 30]], ("well", "ill"), SourceOrientation.ACTUAL_ROWS
    )
    with pytest.raises(InvalidInput, match=r"recall of 'ill' is 0\.6 in report\.json") as refused:
        read("sklearn", matrix, report=report(tmp_path, dict(sorted(found.items()))))
    assert "sort_keys" in str(refused.value)


def test_the_precision_tells_a_matrix_of_other_predictions(tmp_path: Path) -> None:
    y_true = ["a"] * 10 + ["b"] * 10 + ["c"] * 10
    y_pred = ["a"] * 7 + ["b"] * 3 + ["b"] * 7 + ["c"] * 3 + ["c"] * 5 + ["a"] * 5
    found = classification_report(y_true, y_pred, output_dict=True)
    matrix = confusion_matrix(y_true, y_pred)
    matrix[2] = [3, 2, 5]  # Another row of the same support and recall.

    with pytest.raises(InvalidInput, match=r"precision of 'a' is 0\.58"):
        read("sklearn", array(tmp_path, matrix), report=report(tmp_path, found))


NEARLY_ALL = [[499, 1], [1, 499]]


@pytest.mark.parametrize("written", ["1.0", "1.00", "1"])
def test_rates_rounded_by_hand_are_compared_as_they_are_written(
    tmp_path: Path, written: str
) -> None:
    text = f"""{{"cat": {{"precision": {written}, "recall": {written}, "support": 500.0}},
        "dog": {{"precision": 1.00, "recall": 1.0, "support": 500}}}}"""
    (tmp_path / "report.json").write_text(text, encoding="utf-8")

    content = read("sklearn", array(tmp_path, NEARLY_ALL), report=tmp_path / "report.json").content

    assert isinstance(content, ImportedMatrix)
    assert content.labels == ("cat", "dog")


@pytest.mark.parametrize("rates", ["1.000", "0.96", "1.0, 0.9980"])
def test_a_whole_rate_has_the_digits_of_the_report(tmp_path: Path, rates: str) -> None:
    recall, _, precision = rates.partition(", ")
    text = f"""{{"cat": {{"precision": {precision or 1.0}, "recall": {recall}, "support": 500.0}},
        "dog": {{"recall": 1.0, "support": 500.0}}}}"""
    (tmp_path / "report.json").write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInput, match=r"of '(cat|dog)' is (1\.0|1\.000|0\.96) in report"):
        read("sklearn", array(tmp_path, NEARLY_ALL), report=tmp_path / "report.json")


def test_a_rate_without_examples_is_not_compared(tmp_path: Path) -> None:
    y_true, y_pred = ["a", "a", "b"], ["a", "a", "a"]
    labels = ["a", "b", "c"]
    found = classification_report(y_true, y_pred, labels=labels, output_dict=True, zero_division=1)

    content = read(
        "sklearn",
        array(tmp_path, confusion_matrix(y_true, y_pred, labels=labels)),
        report=report(tmp_path, found),
    ).content

    assert isinstance(content, ImportedMatrix)
    assert content.labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.8, 0.2], [0.15, 0.85]], "without normalising"),
        ([[8, 2]], "row 0 has 2 cells, but there are 1 rows"),
        ([8, 2], "is not a matrix"),
        ([[-8, 2], [3, 17]], "is -8"),
        ([[True, False], [False, True]], "is True"),
    ],
)
def test_an_array_that_is_no_matrix_of_counts_is_refused(
    tmp_path: Path, matrix: Any, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("sklearn", array(tmp_path, matrix), labels=["cat", "dog"])

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([1, 2], "not a classification report"),
        ({"accuracy": 0.5}, "not a classification report"),
        ({"cat": {"support": 10}}, "1 labels are named"),
        ({"cat": {"support": 10.5}, "dog": {"support": 20}}, "support of 'cat'"),
    ],
)
def test_a_report_that_is_none_or_does_not_fit_is_refused(
    tmp_path: Path, content: object, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("sklearn", array(tmp_path), report=report(tmp_path, content))

    assert says in str(refused.value)


def test_labels_and_report_must_agree(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="names its classes"):
        read("sklearn", array(tmp_path), labels=["dog", "cat"], report=report(tmp_path))


def test_an_array_of_objects_runs_no_code(tmp_path: Path) -> None:
    class Canary:
        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "canary",))

    path = tmp_path / "cm.npy"
    np.save(path, np.array([[Canary()]], dtype=object), allow_pickle=True)
    (tmp_path / "canary").unlink(missing_ok=True)

    with pytest.raises(InvalidInput, match="not a valid npy file"):
        read("sklearn", path, labels=["a"])

    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("cm.csv", ",a,b\na,1,2\nb,3,4\n", "does not hold numbers alone"),
        ("cm.npy", "not numpy", "not a valid npy file"),
        ("cm.json", "[[1, NaN], [1, 1]]", "not valid JSON"),
        ("cm.pkl", "", "is not supported"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(InvalidInput) as refused:
        read("sklearn", tmp_path / name, labels=["a", "b"])

    assert says in str(refused.value)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read("sklearn", tmp_path / "cm.npy", labels=["a"])
    with pytest.raises(InvalidInput, match="cannot be read"):
        read("sklearn", array(tmp_path), report=tmp_path / "gone.json")
