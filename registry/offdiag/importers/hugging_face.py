"""Hugging Face: a dataset of predictions from `save_to_disk`, or the result of `evaluate.save`.

A dataset has the names of its classes; predictions that are numbers refer to the same classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from offdiag.domain.labels import label_text
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers.imported import (
    Imported,
    ImportedLabels,
    ImportedMatrix,
    Stated,
    require_same,
    square,
)
from offdiag.importers.prediction_table import class_columns
from offdiag.inputs.files.checks import FileColumn, unreadable
from offdiag.inputs.files.json_files import read_json
from offdiag.inputs.files.tables import column_names, read_columns

CONVENTION = (
    "A row of a dataset has both classes of a sample, and a row of a matrix of evaluate is an "
    "actual class."
)


def read_hugging_face(path: Path, stated: Stated) -> Imported:
    """Read the folder of a dataset, or the JSON of `evaluate.save`. Raises `InvalidInput`."""
    if path.is_dir():
        return Imported("hugging-face", CONVENTION, *_from_dataset(path, stated))
    return Imported("hugging-face", CONVENTION, _from_evaluate(path, stated), path)


def _from_dataset(folder: Path, stated: Stated) -> tuple[ImportedLabels, Path]:
    files = _data_files(folder)
    true, pred = class_columns(column_names(files[0]), stated, folder.name)
    shards = [read_columns(file, [true, pred]) for file in files]
    of_true, of_pred = (_class_names(folder, name) for name in (true, pred))
    # Predictions with names of their own may have them in another order.
    classes = tuple(dict.fromkeys([*(of_true or ()), *(of_pred or ())])) or None
    y_true, y_pred = (
        _named(list(chain.from_iterable(_values(shard[name]) for shard in shards)), names, name)
        for name, names in ((true, of_true or of_pred), (pred, of_pred or of_true))
    )
    return ImportedLabels(y_true, y_pred, stated.labels or classes, (true, pred)), files[0]


def _data_files(folder: Path) -> list[Path]:
    state = _members(folder / "state.json")
    entries = state.get("_data_files")
    names = [
        str(entry["filename"])
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and "filename" in entry
    ]
    files = [folder / name for name in names if Path(name).name == name]
    if not files or len(files) != len(names):
        raise InvalidInput(
            f"{str(folder)!r} is not a dataset that save_to_disk wrote.",
            field="file",
            hint="From a DatasetDict, give one split's folder.",
        )
    return files


def _class_names(folder: Path, column: str) -> list[str] | None:
    features = _members(folder / "dataset_info.json").get("features")
    feature = features.get(column) if isinstance(features, dict) else None
    while isinstance(feature, dict) and "feature" in feature:  # Lists of classes.
        feature = feature["feature"]
    names = feature.get("names") if isinstance(feature, dict) else None
    return [str(name) for name in names] if isinstance(names, list) else None


def _members(file: Path) -> Mapping[str, object]:
    try:
        found = read_json(file.read_bytes(), file.name)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise unreadable(file, error) from None
    return found if isinstance(found, dict) else {}


def _values(column: FileColumn) -> list[object]:
    return column if isinstance(column, list) else list(column.to_pylist())


def _named(values: list[object], names: list[str] | None, column: str) -> list[object]:
    """Numbers of classes as names, also in lists; text stays as it is."""
    if names is None:
        return values
    return [
        _name(value, names, f"row {row} of column {column!r}") for row, value in enumerate(values)
    ]


def _name(value: object, names: list[str], place: str) -> object:
    if isinstance(value, list):
        return [_name(each, names, place) for each in value]
    if not isinstance(value, int):
        return value
    if not 0 <= value < len(names):
        raise InvalidInput(
            f"{place} is {value}, which is not a number of a class.",
            field="file",
            hint=f"The dataset has {len(names)} classes, from 0.",
        )
    return names[value]


def _from_evaluate(path: Path, stated: Stated) -> ImportedMatrix:
    if not path.is_file():
        raise InvalidInput(f"there is no {str(path)!r}.", field="file", hint="Check the path.")
    members = _members(path)
    rows, named = members.get("confusion_matrix"), members.get("labels")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InvalidInput(
            f"{path.name} has no confusion_matrix.",
            field="file",
            hint='Evaluate "confusion_matrix" and save its result, or log the predictions.',
        )
    labels = stated.labels
    if isinstance(named, list):
        labels = tuple(map(label_text, named))
        require_same(labels, stated.labels, path.name)
    if labels is None:
        raise InvalidInput(
            f"{path.name} names no classes.", field="labels", hint="Name them in their order."
        )
    counts = square(rows, path.name)
    return ImportedMatrix(counts, labels, SourceOrientation.ACTUAL_ROWS)
