"""What the command line says of labels that are written in two ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BOTH_COMMANDS = pytest.mark.parametrize(
    ("command", "file"),
    [(("log", "--name", "n", "--dataset", "d"), "x.csv"), (("evaluate",), "x.parquet")],
)


def write(folder: Path, name: str, y_true: list[Any], y_pred: list[Any]) -> str:
    table = pa.table({"y_true": y_true, "y_pred": y_pred})
    if name.endswith("parquet"):
        pq.write_table(table, folder / name)
    else:
        lines = ["y_true,y_pred", *(f"{t},{p}" for t, p in zip(y_true, y_pred, strict=True))]
        (folder / name).write_text("\n".join(lines))
    return name


@BOTH_COMMANDS
@pytest.mark.parametrize(
    ("y_true", "y_pred", "sentence"),
    [
        (["cat", "dog"], ["Cat", "Dog"], "'cat' and 'Cat' (case)"),
        ([0, 1], [0.25, 0.75], "this looks like regression or scores. Did you mean y_score?"),
    ],
)
def test_labels_that_do_not_meet_are_refused_in_one_line(
    offdiag: Any,
    folder: Path,
    file: str,
    command: tuple[str, ...],
    y_true: list[Any],
    y_pred: list[Any],
    sentence: str,
) -> None:
    answer = offdiag(command[0], write(folder, file, y_true, y_pred), *command[1:])

    assert answer.code == 2
    assert sentence in answer.err
    assert len(answer.err.splitlines()) == 1


@BOTH_COMMANDS
def test_one_column_as_actual_and_as_predicted_is_refused(
    offdiag: Any, folder: Path, file: str, command: tuple[str, ...]
) -> None:
    name = write(folder, file, ["cat", "dog"], ["cat", "cat"])

    answer = offdiag(command[0], name, *command[1:], "--pred", "y_true")

    assert answer.code == 2
    assert "--pred: column 'y_true' is named as actual and as predicted" in answer.err


@BOTH_COMMANDS
def test_classes_that_look_alike_are_noted_in_one_line(
    offdiag: Any, folder: Path, file: str, command: tuple[str, ...]
) -> None:
    name = write(folder, file, ["cat", "Cat"], ["cat", "cat"])

    answer = offdiag(command[0], name, *command[1:])

    assert answer.code == 0
    assert answer.err.splitlines() == ["Note: Classes look alike: 'Cat' and 'cat' (case)."]


def test_whole_floats_are_noted_in_one_line(offdiag: Any, folder: Path) -> None:
    answer = offdiag("evaluate", write(folder, "x.parquet", [0, 1], [0.0, 1.0]), "--json")

    assert answer.json["labels"] == ["0", "1"]
    assert "Note: y_pred holds floats that are whole numbers" in answer.err


def test_a_file_of_booleans_beside_0_and_1_has_two_classes(offdiag: Any, folder: Path) -> None:
    answer = offdiag("evaluate", write(folder, "x.csv", [True, False], [1, 0]), "--json")

    assert answer.json["labels"] == ["False", "True"]


def test_columns_that_no_option_names_are_said_to_be_unread(offdiag: Any, folder: Path) -> None:
    (folder / "x.csv").write_text("id,y_true,y_pred,p\n1,a,a,.1\n2,b,a,.2\n", encoding="utf-8")
    command = ("log", "x.csv", "--name", "n", "--dataset")

    without = offdiag(*command, "d")
    with_ids = offdiag(*command, "e", "--id", "id")
    with_all = offdiag(*command, "f", "--id", "id", "--score", "p", "--positive", "b")

    assert without.err.splitlines() == [
        "Note: Not read from the file: 'id' and 'p'. --id, --score and --weight name columns."
    ]
    assert "Not read from the file: 'p'." in with_ids.err
    assert "Not read" not in with_all.err
