"""Weights & Biases: tables of predictions or of confusion matrices, and the folders of runs.

`wandb.plot.confusion_matrix` logs one row for each cell, with named columns, so nothing can be
transposed. Any other `wandb.Table` has a row for each sample.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import Scalar
from offdiag.errors import InvalidInput
from offdiag.importers.imported import (
    Imported,
    ImportedLabels,
    ImportedMatrix,
    Stated,
    from_cells,
    require_same,
)
from offdiag.importers.prediction_table import read_prediction_table
from offdiag.importers.wandb_log import read_run_log
from offdiag.inputs.files.checks import unreadable
from offdiag.inputs.files.json_files import read_json

CONVENTION = "Each row names the actual and the predicted class of one cell."
_OF_SAMPLES = "Each row names the actual and the predicted class of one sample."
_ACTUAL, _PREDICTED = "Actual", "Predicted"
_COUNTS = ("nPredictions", "Count")
"""Older versions called the last column Count."""


def read_wandb(path: Path, stated: Stated) -> Imported:
    """Read a `.table.json`, or the folder of a run such as `wandb/offline-run-…`.

    Raises `InvalidInput`.
    """
    if not path.is_dir():
        return _imported(path, stated)
    params, tags = _facts(path)
    return replace(_imported(_table_of(path, stated), stated), params=params, tags=tags)


def _imported(file: Path, stated: Stated) -> Imported:
    content = _content(file, stated)
    is_matrix = isinstance(content, ImportedMatrix)
    return Imported("wandb", CONVENTION if is_matrix else _OF_SAMPLES, content, file)


def _facts(folder: Path) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """Parameters and tags of a run, from its log, which an offline run has."""
    logs = sorted(folder.glob("run-*.wandb"))
    if not logs:
        return {}, {}
    run = read_run_log(logs[0])
    values = {f"metrics.{key}": value for key, value in run.values.items()}
    origin = {"id": run.run_id, "name": run.name, "project": run.project}
    tags: dict[str, Scalar] = {f"wandb.{key}": text for key, text in origin.items() if text}
    if run.tags:
        tags["wandb.tags"] = ", ".join(run.tags)
    return {**run.config, **values}, tags


def _table_of(folder: Path, stated: Stated) -> Path:
    """The only table whose columns are recognised, or the one that is stated."""
    found = sorted(file for file in folder.glob("**/*.table.json") if not file.is_symlink())
    names = {file.relative_to(folder).as_posix(): file for file in found}
    shown = ", ".join(names) or "no tables"
    if stated.artifact is not None:
        if stated.artifact not in names:
            raise InvalidInput(
                f"the run has no table {stated.artifact!r}.",
                field="artifact",
                hint=f"It has {shown}.",
            )
        return names[stated.artifact]
    fitting, refused = [], []
    for name, file in names.items():
        try:
            _content(file, stated)
        except InvalidInput as error:
            refused.append(error)
        else:
            fitting.append(name)
    if len(fitting) == 1:
        return names[fitting[0]]
    if not fitting and len(refused) == 1:
        raise refused[0]
    raise InvalidInput(
        f"{len(fitting)} tables of the run could hold its predictions.",
        field="artifact",
        hint=f"Name one of its tables; it has {shown}.",
    )


def _content(path: Path, stated: Stated) -> ImportedLabels | ImportedMatrix:
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
            hint="Download the table from the files of the run.",
        )
    count = next((name for name in _COUNTS if name in columns), None)
    if count is None or _ACTUAL not in columns or _PREDICTED not in columns:
        return read_prediction_table(path, stated)
    places = [columns.index(name) for name in (_ACTUAL, _PREDICTED, count)]
    matrix, labels = from_cells(_cell(row, places, len(columns), path.name) for row in rows)
    require_same(labels, stated.labels, path.name)
    return ImportedMatrix(matrix, labels, SourceOrientation.ACTUAL_ROWS)


def _cell(row: object, places: list[int], width: int, name: str) -> tuple[object, object, object]:
    if not isinstance(row, list) or len(row) != width:
        raise InvalidInput(
            f"a row of {name} is {row!r} for {width} columns.",
            field="file",
            hint="Download the table again.",
        )
    actual, predicted, count = (row[place] for place in places)
    return actual, predicted, count
