"""PyCM: the `.obj` file of `ConfusionMatrix.save_obj`, which is JSON.

The outer key of its matrix is the actual class, whatever orientation it was made from. If the
vectors were saved too, they are read, so that the run has its predictions and their weights.
Without them, PyCM does not save weights either, and a matrix of weights looks like one of counts.
"""

from __future__ import annotations

from pathlib import Path

from offdiag.domain.labels import label_text
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers.imported import (
    Imported,
    ImportedLabels,
    ImportedMatrix,
    Stated,
    from_cells,
    require_same,
)
from offdiag.inputs.files.json_files import read_json_file

CONVENTION = "The outer key of the matrix is the actual and the inner one the predicted class."


def read_pycm(path: Path, stated: Stated) -> Imported:
    """Read a saved object. Raises `InvalidInput`, also for fractional cells without vectors."""
    content = read_json_file(path)
    if not isinstance(content, dict) or not isinstance(content.get("Matrix"), list):
        raise InvalidInput(
            f"{path.name} has no member 'Matrix'.",
            field="file",
            hint="Save the object with ConfusionMatrix.save_obj.",
        )
    actual, predicted = content.get("Actual-Vector"), content.get("Predict-Vector")
    if isinstance(actual, list) and isinstance(predicted, list):
        classes = tuple(_text(actual) for actual, _ in _pairs(content["Matrix"], path.name))
        require_same(classes, stated.labels, path.name)
        weights = content.get("Sample-Weight")
        labels = ImportedLabels(_texts(actual), _texts(predicted), classes, sample_weight=weights)
        return Imported("pycm", CONVENTION, labels, path)
    matrix = _matrix(content["Matrix"], path.name)
    require_same(matrix.labels, stated.labels, path.name)
    return Imported("pycm", CONVENTION, matrix, path)


def _matrix(items: list[object], name: str) -> ImportedMatrix:
    rows = [(_text(actual), _pairs(row, name)) for actual, row in _pairs(items, name)]
    cells = [(actual, _text(predicted), count) for actual, row in rows for predicted, count in row]
    classes = {actual for actual, _ in rows}
    if len(classes) < len(rows) or not classes.issuperset(predicted for _, predicted, _ in cells):
        raise InvalidInput(
            f"the classes of {name} are not the same on both axes.",
            field="matrix",
            hint="Save the object again with ConfusionMatrix.save_obj.",
        )
    matrix, labels = from_cells(cells)
    return ImportedMatrix(matrix, labels, SourceOrientation.ACTUAL_ROWS)


def _pairs(items: object, name: str) -> list[tuple[object, object]]:
    if isinstance(items, list) and all(isinstance(p, list) and len(p) == 2 for p in items):
        return [(pair[0], pair[1]) for pair in items]
    raise InvalidInput(
        f"the matrix of {name} is not a list of pairs.",
        field="matrix",
        hint="Save the object again with ConfusionMatrix.save_obj.",
    )


def _texts(vector: list[object]) -> list[str]:
    return [_text(label) for label in vector]


def _text(label: object) -> str:
    return label_text(label, field_name="labels")
