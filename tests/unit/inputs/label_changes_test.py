"""New labels, in every form in which people hold them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.inputs.label_changes import ColumnNames, read_label_changes

LABELS = LabelSet.declared(["cat", "dog", "fox"])
NONE = len(LABELS)
COLUMNS: dict[str, list[str | None]] = {"id": ["x1", "x2", "x3"], "label": ["dog", None, "fox"]}


def read(given: object, names: ColumnNames | None = None) -> tuple[list[object], list[int]]:
    """Identifiers and codes as lists."""
    changes = read_label_changes(given, LABELS, names or ColumnNames())
    return list(changes.ids.to_list()), changes.codes.tolist()


def csv_file(folder: Path) -> Path:
    path = folder / "labels.csv"
    path.write_text("id,label\nx1,dog\nx2,\nx3,fox\n", encoding="utf-8")
    return path


def parquet_file(folder: Path) -> Path:
    path = folder / "labels.parquet"
    parquet.write_table(pa.table(COLUMNS), path)
    return path


def json_lines_file(folder: Path) -> Path:
    path = folder / "labels.jsonl"
    path.write_text(
        '{"id": "x1", "label": "dog"}\n{"id": "x2", "label": null}\n'
        '{"id": "x3", "label": "fox"}\n',
        encoding="utf-8",
    )
    return path


def arrow_file(folder: Path) -> Path:
    path = folder / "labels.feather"
    feather.write_feather(pa.table(COLUMNS), str(path))
    return path


FORMS: dict[str, Callable[[Path], object]] = {
    "dict": lambda _: dict(zip(COLUMNS["id"], COLUMNS["label"], strict=True)),
    "pair of lists": lambda _: (COLUMNS["id"], COLUMNS["label"]),
    "pair of arrays": lambda _: (
        np.array(COLUMNS["id"]),
        np.array(COLUMNS["label"], dtype=object),
    ),
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas with categories": lambda _: pd.DataFrame(COLUMNS).astype({"label": "category"}),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars with categories": lambda _: pl.DataFrame(COLUMNS).with_columns(
        pl.col("label").cast(pl.Categorical)
    ),
    "pyarrow": lambda _: pa.table(COLUMNS),
    "CSV": csv_file,
    "CSV by a text": lambda folder: str(csv_file(folder)),
    "Parquet": parquet_file,
    "JSON lines": json_lines_file,
    "Arrow": arrow_file,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str, tmp_path: Path) -> None:
    assert read(FORMS[form](tmp_path)) == (["x1", "x2", "x3"], [1, NONE, 2])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_whole_numbers_name_samples_and_classes(frame: Callable[[object], object]) -> None:
    labels = LabelSet.declared(["0", "1", "7"])

    found = read_label_changes(frame({"id": [5, 3], "label": [7, 1]}), labels)

    assert (found.ids.to_list(), found.codes.tolist()) == ([5, 3], [2, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_are_found_by_their_names(frame: Callable[[object], object]) -> None:
    backwards = frame({"label": ["dog"], "id": ["x1"]})
    among_others = frame({"case": ["x1"], "ward": ["A"], "verdict": ["dog"]})
    called_anything = frame({"case": ["x1"], "verdict": ["dog"]})

    assert read(backwards) == (["x1"], [1])
    assert read(among_others, ColumnNames("case", "verdict")) == (["x1"], [1])
    assert read(called_anything) == (["x1"], [1])


def test_columns_of_a_file_are_found_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("ward,verdict,case\nA,dog,x1\n", encoding="utf-8")

    assert read(path, ColumnNames("case", "verdict")) == (["x1"], [1])
    with pytest.raises(InvalidInput, match=r"labels\.csv has no column 'id'.*'case'"):
        read(path)


def test_an_empty_text_in_a_file_may_be_a_class(tmp_path: Path) -> None:
    changes = read_label_changes(csv_file(tmp_path), LabelSet.declared(["", "dog", "fox"]))

    assert changes.codes.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (7, "int does not say which sample gets which label"),
        (["x1", "x2"], "list does not say"),
        (pd.Series(["dog"], index=["x1"]), "Series does not say"),
        ({}, "there are no changes"),
        ((["x1"], ["dog", "fox"]), "identifiers has 1 value, labels has 2"),
        ((["x1", "x1"], ["dog", "fox"]), "'x1' occurs twice, at index 0 and 1. Name each sample"),
        ({"x1": 0.5}, "'0.5' is not one of the 3 declared labels .* A dataset keeps"),
        ({"x1": ["dog"]}, "there are sets of labels, and each sample of the dataset has one"),
        ({"x1": "bird"}, "'bird' at index 0 is not one of the 3 labels .* A dataset keeps"),
        ({"x1": "b" * 5_000}, "^labels: the value '.{60}' at index 0 is not one of the 3 labels"),
        ({None: "dog"}, "the value at index 0 is missing"),
        (pd.DataFrame({"a": ["x1"], "b": ["dog"], "c": [1]}), r"the columns \['a', 'b', 'c'\]"),
        (pd.DataFrame([["x1", "dog"]], columns=["a", "a"]), r"the columns \['a', 'a'\]"),
        (pl.DataFrame({"a": ["x1"]}), r"the columns \['a'\]"),
        ("labels.txt", "is not supported"),
        ("nowhere.csv", "cannot be read: No such file"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: object, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read(given)


def test_an_unknown_label_of_a_set_is_told_that_a_dataset_keeps_its_classes() -> None:
    with pytest.raises(InvalidInput, match=r"'bird' in the set at index 0 .* A dataset keeps"):
        read_label_changes({"x1": ["cat", "bird"]}, LABELS, of_sets=True)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([None, ["a"], ["z"]], "'z' in the set at index 2"),
        ([None, ["a", "a"]], "the set at index 1 names 'a' twice"),
        ([["a"], None, 7], "the value 7 at index 2 is not a set"),
    ],
)
def test_a_set_behind_a_missing_one_is_named_by_its_own_index(
    values: list[object], said: str
) -> None:
    given = (list(range(len(values))), values)
    with pytest.raises(InvalidInput, match=said):
        read_label_changes(given, LabelSet(("a", "b")), of_sets=True)


@pytest.mark.parametrize(
    ("name", "text", "of_sets", "said"),
    [
        ("a.csv", 'id,label\n1,a\n2,\n"3\n4",z\n', False, "'z' on line 4 of a.csv"),
        ("a.csv", "id,label\n1,a\n2,\n\n3,a|z\n", True, "'z' in the set on line 5 of a.csv"),
        ("a.csv", "id,label\n1,a\n2,a|\n", True, "'a.' on line 3 of a.csv has a label"),
        (
            "a.jsonl",
            '{"id": "1", "label": null}\n\n{"id": "2", "label": "z"}\n',
            False,
            "'z' on line 3 of a.jsonl",
        ),
    ],
)
def test_a_wrong_label_of_a_file_is_named_by_its_line(
    tmp_path: Path, name: str, text: str, of_sets: bool, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InvalidInput, match=said):
        read_label_changes(tmp_path / name, LabelSet(("a", "b")), of_sets=of_sets)


def test_a_wrong_label_of_a_binary_file_is_named_by_its_row(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": [1, 2], "label": ["a", "z"]}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match=r"'z' in row 1 of a\.parquet is not one of"):
        read_label_changes(tmp_path / "a.parquet", LabelSet(("a", "b")))
