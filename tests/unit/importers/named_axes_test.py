"""Plain CSV: the corner says which axis is which, or somebody is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers import ImportedMatrix, read

ROWS = SourceOrientation.ACTUAL_ROWS
COLUMNS = SourceOrientation.ACTUAL_COLUMNS


def content(folder: Path, text: str) -> ImportedMatrix:
    (folder / "m.csv").write_text(text, encoding="utf-8")
    found = read("csv", folder / "m.csv").content
    assert isinstance(found, ImportedMatrix)
    return found


@pytest.mark.parametrize(
    ("corner", "orientation"),
    [
        ("Actual", ROWS),
        ("actual (rows)", ROWS),
        ("True label", ROWS),
        ("true_class", ROWS),
        ("y_true", ROWS),
        ("Reference", ROWS),
        ("actual\\predicted", ROWS),
        ("Actual / Predicted", ROWS),
        ("actual ↓  predicted →", ROWS),
        ("truth vs prediction", ROWS),
        ("Predicted", COLUMNS),
        ("Prediction|Truth", COLUMNS),
        ("y_pred", COLUMNS),
        ("predicted →", ROWS),
        ("actual →", COLUMNS),
        ("predicted →  actual ↓", ROWS),
        ("predicted ↓  actual →", COLUMNS),
        ("actual (columns)", COLUMNS),
        ("columns=actual", COLUMNS),
        ("Rows: predicted", COLUMNS),
        ("true label (across)", COLUMNS),
        ("actual as columns", COLUMNS),
        ("predicted (columns)", ROWS),
        ("actual (rows) / predicted (columns)", ROWS),
        ("predicted down; actual across", COLUMNS),
        ("columns: predicted; rows: actual", ROWS),
    ],
)
def test_the_corner_names_the_axis_of_the_first_column(
    tmp_path: Path, corner: str, orientation: SourceOrientation
) -> None:
    found = content(tmp_path, f"{corner},a,b\na,8,2\nb,3,17\n")

    assert found == ImportedMatrix([[8, 2], [3, 17]], ("a", "b"), orientation)


def test_the_long_form_says_it_for_every_cell(tmp_path: Path) -> None:
    found = content(tmp_path, "predicted,actual,count\na,a,8\nb,a,2\nb,b,17\na,b,3\n")

    assert found == ImportedMatrix([[8, 2], [3, 17]], ("a", "b"), ROWS)


@pytest.mark.parametrize(
    "corner", ["", "class", "label", "actual\\actual", "a\\predicted", "actual\\b", "x vs y"]
)
def test_a_corner_that_does_not_say_it_is_not_interpreted(tmp_path: Path, corner: str) -> None:
    with pytest.raises(InvalidInput, match="a matrix cannot show it"):
        content(tmp_path, f"{corner},a,b\na,8,2\nb,3,17\n")


def test_totals_are_no_class(tmp_path: Path) -> None:
    table = "actual,a,b,All\na,8,2,10\nb,3,17,20\nAll,11,19,30\n"

    with pytest.raises(InvalidInput, match="holds totals"):
        content(tmp_path, table)


def test_a_class_may_be_called_all_if_it_is_one(tmp_path: Path) -> None:
    found = content(tmp_path, "actual,a,b,All\na,8,2,1\nb,3,17,2\nAll,1,1,30\n")

    assert found.labels == ("a", "b", "All")


def test_stated_labels_must_be_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("actual,a,b\na,8,2\nb,3,17\n", encoding="utf-8")

    with pytest.raises(InvalidInput, match="names its classes"):
        read("csv", tmp_path / "m.csv", labels=["b", "a"])
