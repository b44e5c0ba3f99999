"""Weights & Biases: the table behind `wandb.plot.confusion_matrix`, as JSON.

One row for each cell, with named columns, so nothing can be transposed.
"""

from __future__ import annotations

from pathlib import Path

from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedMatrix, Stated, from_cells, require_same
from offdiag.inputs.files.checks import unreadable
from offdiag.inputs.files.json_files import read_json

CONVENTION = "Each row names the actual and the predicted class of one cell."
_ACTUAL, _PREDICTED = "Actual", "Predicted"
_COUNTS = ("nPredictions", "Count")
"""Older versions called the last column Count."""


def read_wandb(path: Path, stated: Stated) -> Imported:
    """Read a `.table.json` of a run or an artifact. Raises `InvalidInput`."""
    try:
        table = read_json(path.read_bytes(), path.name)
    except OSError as error:
        raise unreadable(path, error) from None
    columns = table.get("columns") if isinstance(table, dict) else None
    rows = table.get("data") if isinstance(table, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise InvalidInput(
            f"{path.name} is no table: it has no 'columns' and 'data'.",
            field="file",
            hint="Download the table of the confusion matrix from the files of the run.",
        )
    count = next((name for name in _COUNTS if name in columns), None)
    if count is None or _ACTUAL not in columns or _PREDICTED not in columns:
        raise InvalidInput(
            f"the columns of {path.name} are {columns[:5]}.",
            field="file",
            hint="Those of a confusion matrix are Actual, Predicted and nPredictions.",
        )
    places = [columns.index(name) for name in (_ACTUAL, _PREDICTED, count)]
    matrix, labels = from_cells(_cell(row, places, len(columns), path.name) for row in rows)
    require_same(labels, stated.labels, path.name)
    content = ImportedMatrix(matrix, labels, SourceOrientation.ACTUAL_ROWS)
    return Imported("wandb", CONVENTION, content, path)


def _cell(row: object, places: list[int], width: int, name: str) -> tuple[object, object, object]:
    if not isinstance(row, list) or len(row) != width:
        raise InvalidInput(
            f"a row of {name} is {row!r} for {width} columns.",
            field="file",
            hint="Download the table again.",
        )
    actual, predicted, count = (row[place] for place in places)
    return actual, predicted, count
