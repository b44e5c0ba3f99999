"""DVCLive and Weights & Biases: files that name the role of every value."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from offdiag import evaluate_labels
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput, LabelNote
from offdiag.importers import ImportedLabels, ImportedMatrix, read

RECORDS = [
    {"actual": "cat", "predicted": "cat"},
    {"actual": "cat", "predicted": "dog"},
    {"actual": "dog", "predicted": "dog"},
]
TABLE = {
    "columns": ["Actual", "Predicted", "nPredictions"],
    "data": [["b", "b", 8.0], ["b", "a", 2.0], ["a", "b", 3.0], ["a", "a", 17.0]],
    "ncols": 3,
    "nrows": 4,
}


def write(folder: Path, name: str, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_dvclive_has_one_record_for_each_case(tmp_path: Path) -> None:
    found = read("dvclive", write(tmp_path, "confusion_matrix.json", RECORDS))

    assert found.content == ImportedLabels(["cat", "cat", "dog"], ["cat", "dog", "dog"])


def test_dvclive_columns_may_be_called_otherwise_and_declare_their_classes(tmp_path: Path) -> None:
    records = [{"x": 1, "y": 0, "rev": "main"}]

    found = read(
        "dvclive",
        write(tmp_path, "cm.json", records),
        true_column="x",
        pred_column="y",
        labels=[0, 1],
    )

    assert found.content == ImportedLabels([1], [0], ("0", "1"))


@pytest.mark.parametrize("suffix", ["json", "csv"])
@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"count": [3, 1]}, "may be about several samples: it has a column 'count'"),
        ({"rev": ["main", "HEAD"]}, "has the records of several revisions: main, HEAD"),
    ],
)
def test_dvclive_records_are_of_one_sample_and_one_revision(
    tmp_path: Path, suffix: str, more: dict[str, list[object]], says: str
) -> None:
    table = pa.table({"actual": ["cat", "dog"], "predicted": ["cat", "cat"], **more})
    lines = [
        ",".join(table.column_names),
        *(",".join(map(str, each.values())) for each in table.to_pylist()),
    ]
    content = "\n".join(lines) + "\n" if suffix == "csv" else table.to_pylist()

    with pytest.raises(InvalidInput, match=says):
        read("dvclive", write(tmp_path, f"cm.{suffix}", content))


@pytest.mark.parametrize("dialect", ["dvclive", "wandb"])
def test_one_column_does_not_hold_both_classes(tmp_path: Path, dialect: str) -> None:
    content = {"dvclive": RECORDS, "wandb": {"columns": ["actual"], "data": [["cat"]]}}
    file = write(tmp_path, "cm.json", content[dialect])

    with pytest.raises(InvalidInput, match="named as actual and as predicted"):
        read(dialect, file, true_column="actual", pred_column="actual")


def test_dvc_plots_come_as_csv_too(tmp_path: Path) -> None:
    found = read("dvclive", write(tmp_path, "classes.csv", "actual,predicted\nNA,NA\n007,7\n"))

    assert isinstance(found.content, ImportedLabels)
    assert isinstance(found.content.y_true, pa.Array)
    with pytest.warns(LabelNote, match="'7' and '007'"):
        evaluation = evaluate_labels(y_true=found.content.y_true, y_pred=found.content.y_pred)
    assert evaluation.labels == ("7", "007", "NA")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"roc": []}, "not a list of records"),
        ([], "not a list of records"),
        ([{"actual": "a"}], "record 0 of cm.json has no 'actual' and 'predicted'"),
        ([1], "record 0"),
        ("[1,", "not valid JSON"),
    ],
)
def test_what_are_no_records_is_refused(tmp_path: Path, content: object, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("dvclive", write(tmp_path, "cm.json", content))

    assert says in str(refused.value)


def test_wandb_has_one_row_for_each_cell_in_the_order_of_the_classes(tmp_path: Path) -> None:
    found = read("wandb", write(tmp_path, "cm.table.json", TABLE))

    assert found.content == ImportedMatrix(
        [[8, 2], [3, 17]], ("b", "a"), SourceOrientation.ACTUAL_ROWS
    )


def test_wandb_called_its_counts_otherwise_before(tmp_path: Path) -> None:
    old = TABLE | {"columns": ["Predicted", "Count", "Actual"], "data": [["b", 2, "a"]]}

    found = read("wandb", write(tmp_path, "cm.table.json", old))

    assert found.content == ImportedMatrix(
        [[0, 2], [0, 0]], ("a", "b"), SourceOrientation.ACTUAL_ROWS
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ([], "is not a table"),
        ({"columns": ["a"], "data": {}}, "is not a table"),
        ({"columns": ["fpr", "tpr"], "data": []}, "no column of cm.table.json is known"),
        (TABLE | {"data": [["a", "b"]]}, "is ['a', 'b'] for 3 columns"),
        (TABLE | {"data": [["a", "b", 0.25]]}, "without normalising"),
        (TABLE | {"data": [["a", "b", 1], ["a", "b", 1]]}, "occurs twice"),
        (TABLE | {"data": [["a", None, 1]]}, "is not a label"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(tmp_path: Path, content: object, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("wandb", write(tmp_path, "cm.table.json", content))

    assert says in str(refused.value)


@pytest.mark.parametrize("dialect", ["dvclive", "wandb", "pycm"])
def test_a_missing_file_is_named(tmp_path: Path, dialect: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(dialect, tmp_path / "gone.json")
