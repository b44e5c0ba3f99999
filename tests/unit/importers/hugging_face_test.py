"""Hugging Face: datasets that `save_to_disk` wrote, and results of `evaluate.save`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from offdiag.errors import InvalidInput
from offdiag.importers import ImportedLabels, ImportedMatrix, read

NAMES = ("neg", "pos")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Two files of three rows, as `Dataset.save_to_disk` writes them."""
    rows = [([0, 1], [0, 0]), ([1], [1])]
    return write_dataset(tmp_path, rows, {"label": {"names": NAMES, "_type": "ClassLabel"}})


def write_dataset(folder: Path, rows: list[Any], features: object) -> Path:
    """A file for each pair of labels and predictions."""
    files = [f"data-{number:05}-of-{len(rows):05}.arrow" for number in range(len(rows))]
    for name, (labels, predictions) in zip(files, rows, strict=True):
        table = pa.table({"text": ["x"] * len(labels), "label": labels, "prediction": predictions})
        with pa.ipc.new_stream(folder / name, table.schema) as stream:
            stream.write_table(table)
    write(folder / "state.json", {"_data_files": [{"filename": name} for name in files]})
    write(folder / "dataset_info.json", {"features": features})
    return folder


def write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def test_numbers_of_classes_become_their_names(dataset: Path) -> None:
    found = read("hugging-face", dataset).content

    assert found == ImportedLabels(["neg", "pos", "pos"], ["neg", "neg", "pos"], NAMES)
    assert isinstance(found, ImportedLabels)
    assert found.columns == ("label", "prediction")


def test_predictions_with_names_of_their_own_keep_them(dataset: Path) -> None:
    features = {"label": {"names": NAMES}, "prediction": {"names": ["pos", "neg", "other"]}}
    write(dataset / "dataset_info.json", {"features": features})

    found = read("hugging-face", dataset).content

    classes = (*NAMES, "other")
    assert found == ImportedLabels(["neg", "pos", "pos"], ["pos", "pos", "neg"], classes)


def test_lists_of_classes_become_sets_of_their_names(tmp_path: Path) -> None:
    features = {
        "label": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"},
        "prediction": {"feature": {"names": NAMES[::-1]}, "length": -1, "_type": "Sequence"},
    }
    write_dataset(tmp_path, [([[0], [0, 1]], [[0], []])], features)

    found = read("hugging-face", tmp_path).content

    assert found == ImportedLabels([["neg"], ["neg", "pos"]], [["pos"], []], NAMES)


def test_booleans_are_numbers_of_classes(tmp_path: Path) -> None:
    write_dataset(tmp_path, [([0, 1], [True, False])], {"label": {"names": NAMES}})

    found = read("hugging-face", tmp_path).content

    assert found == ImportedLabels(["neg", "pos"], ["pos", "neg"], NAMES)


def test_a_number_without_a_class_is_refused(dataset: Path) -> None:
    write(dataset / "dataset_info.json", {"features": {"label": {"names": ["neg"]}}})

    with pytest.raises(InvalidInput, match="row 1 of column 'label' is 1"):
        read("hugging-face", dataset)


def test_a_folder_of_splits_is_no_dataset(tmp_path: Path) -> None:
    write(tmp_path / "dataset_dict.json", {"splits": ["test"]})

    with pytest.raises(InvalidInput, match="give one split's folder"):
        read("hugging-face", tmp_path)


def test_the_files_of_a_dataset_lie_in_its_folder(dataset: Path) -> None:
    write(dataset / "state.json", {"_data_files": [{"filename": "../other.arrow"}]})

    with pytest.raises(InvalidInput, match="not a dataset"):
        read("hugging-face", dataset)


def test_a_matrix_of_evaluate_has_actual_classes_in_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    write(file, {"confusion_matrix": [[8, 2], [0, 5]], "_timestamp": "2026-01-01"})

    with pytest.raises(InvalidInput, match="names no classes"):
        read("hugging-face", file)
    found = read("hugging-face", file, labels=NAMES).content

    assert isinstance(found, ImportedMatrix)
    assert (found.matrix, found.orientation.value) == ([[8, 2], [0, 5]], "actual_rows")


def test_a_result_that_names_its_classes_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    write(file, {"confusion_matrix": [[8, 2], [0, 5]], "labels": ["neg", 1]})

    found = read("hugging-face", file).content

    assert isinstance(found, ImportedMatrix)
    assert found.labels == ("neg", "1")
    with pytest.raises(InvalidInput, match="names its classes"):
        read("hugging-face", file, labels=["1", "neg"])


def test_metrics_alone_are_no_predictions(tmp_path: Path) -> None:
    write(tmp_path / "result.json", {"accuracy": 0.9})

    with pytest.raises(InvalidInput, match="has no confusion_matrix"):
        read("hugging-face", tmp_path / "result.json")
