"""caret: rows are predictions, printed or as CSV; whatever is not a table of counts is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag import evaluate_matrix
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers import ImportedMatrix, read

# Zeng 2025 (Mathematics 13(16) 2609), Table 9, as caret would print it.
WINE = """\
Confusion Matrix and Statistics

          Reference
Prediction  1  2  3
         1  8  1  5
         2  3 17  2
         3  8  3  7

Overall Statistics

               Accuracy : 0.5926
                 95% CI : (0.4503, 0.7243)
"""

BINARY = """\
Confusion Matrix and Statistics

              Reference
Prediction     very ill well
  very ill            9    4
  well                1   86
{padding}
               Accuracy : 0.95{padding}

       'Positive' Class : very ill{padding}
""".format(padding=" " * 8)  # R fills its lines up.


def content(folder: Path, name: str, text: str) -> ImportedMatrix:
    (folder / name).write_text(text, encoding="utf-8")
    found = read("caret", folder / name)
    assert isinstance(found.content, ImportedMatrix)
    return found.content


def test_printed_rows_are_predictions(tmp_path: Path) -> None:
    found = content(tmp_path, "wine.txt", WINE)

    assert found == ImportedMatrix(
        [[8, 1, 5], [3, 17, 2], [8, 3, 7]], ("1", "2", "3"), SourceOrientation.ACTUAL_COLUMNS
    )
    evaluation = evaluate_matrix(
        found.matrix, labels=found.labels, orientation=found.orientation.value
    )
    assert evaluation.per_class["recall"]["2"].value == pytest.approx(17 / 21)


def test_names_may_hold_spaces_and_the_positive_class_is_kept(tmp_path: Path) -> None:
    (tmp_path / "cm.txt").write_text(BINARY, encoding="utf-8")

    found = read("caret", tmp_path / "cm.txt")

    assert isinstance(found.content, ImportedMatrix)
    assert found.content.labels == ("very ill", "well")
    assert found.params == {"caret.positive_class": "very ill"}
    assert found.convention.startswith("Rows are predictions")


def test_names_may_end_in_numbers(tmp_path: Path) -> None:
    text = """\
            Reference
Prediction   class 1 class 2
  class 1          8       1
  class 2          3      17
"""

    assert content(tmp_path, "cm.txt", text).labels == ("class 1", "class 2")


@pytest.mark.parametrize("separator", [",", ";"], ids=["write.csv", "write.csv2"])
def test_a_table_written_as_wide_csv_has_predictions_in_its_rows(
    tmp_path: Path, separator: str
) -> None:
    text = '"","a","b"\n"a",8,1\n"b",3,17\n'.replace(",", separator)

    found = content(tmp_path, "cm.csv", text)

    assert found == ImportedMatrix([[8, 1], [3, 17]], ("a", "b"), SourceOrientation.ACTUAL_COLUMNS)


@pytest.mark.parametrize("separator", [",", ";"], ids=["write.csv", "write.csv2"])
def test_a_table_written_as_a_data_frame_names_its_columns(tmp_path: Path, separator: str) -> None:
    text = (
        '"","Prediction","Reference","Freq"\n'
        '"1","a","a",8\n"2","b","a",3\n"3","a","b",1\n"4","b","b",17\n'
    ).replace(",", separator)

    found = content(tmp_path, "cm.csv", text)

    assert found == ImportedMatrix([[8, 3], [1, 17]], ("a", "b"), SourceOrientation.ACTUAL_ROWS)


def test_counts_added_up_over_resamples_are_read(tmp_path: Path) -> None:
    (tmp_path / "cm.txt").write_text(
        "Cross-Validated (10 fold) Confusion Matrix \n\n"
        "(entries are un-normalized aggregated counts)\n \n"
        "          Reference\nPrediction  a  b\n         a 30 10\n         b 20 40\n"
    )

    found = read("caret", tmp_path / "cm.txt").content

    assert isinstance(found, ImportedMatrix)
    assert found.matrix == [[30, 10], [20, 40]]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("cm.txt", "Accuracy : 0.9\n", "no table with the rows Prediction"),
        ("cm.txt", WINE.replace("Reference", "Truth"), "no table with the rows Prediction"),
        ("cm.txt", WINE.replace("Prediction ", "Predicted  "), "no table with the rows"),
        ("cm.txt", WINE.replace("  1  2  3", "  2  1  3"), "the columns '2 1 3'"),
        ("cm.txt", WINE.replace(" 17  2", " 17"), "the rows '1, , 3'"),
        ("cm.txt", BINARY.replace("1   86", "86"), "fewer counts than there are classes"),
        (
            "cm.txt",
            "  Reference\nPrediction    a    b\n  a 33.3  0.0\n  b  0.0 66.7\n",
            "prints shares",
        ),
        (
            "cm.txt",
            (
                "Cross-Validated (10 fold) Confusion Matrix \n\n"
                "(entries are percentual average cell counts across resamples)\n \n"
                "          Reference\nPrediction  a  b\n         a 30 10\n         b 20 40\n"
            ),
            "'percentual average cell counts across resamples'",
        ),
        (
            "cm.txt",
            (
                "(entries are average cell counts across resamples)\n \n"
                "          Reference\nPrediction a b\n         a 3 1\n         b 2 4\n"
            ),
            "'average cell counts across resamples'",
        ),
        ("cm.csv", "actual,a,b\na,1,2\nb,3,4\n", "the corner of cm.csv says 'actual'"),
        ("cm.csv", ",a,b\na,.1,2\nb,3,4\n", "the cell at line 2"),
        ("cm.csv", "Prediction,Reference,Freq\na,a,-1\n", "is '-1'"),
        ("cm.csv", "Prediction,Reference,Freq\na,a,1\na,a,2\n", "occurs twice"),
        ("cm.txt", "\ufffe", "no table"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        content(tmp_path, name, text)

    assert says in str(refused.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "cm.txt").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidInput, match="not a valid text file"):
        read("caret", tmp_path / "cm.txt")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("cm.txt", "cm.csv"):
        with pytest.raises(InvalidInput, match="cannot be read"):
            read("caret", tmp_path / name)


def test_stated_labels_must_be_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "cm.txt").write_text(WINE, encoding="utf-8")

    with pytest.raises(InvalidInput, match="names its classes"):
        read("caret", tmp_path / "cm.txt", labels=[3, 2, 1])
