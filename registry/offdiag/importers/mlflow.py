"""MLflow: the directory of a run, with its metrics, parameters, tags and artifacts.

MLflow's own evaluation keeps the matrix as a picture only, and shares instead of counts. What
can be imported is the table of its evaluation, which has a row for each case, or a matrix that
the user logged as CSV or JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
from offdiag.errors import InvalidInput
from offdiag.importers.imported import Imported, ImportedLabels, ImportedMatrix, Stated
from offdiag.importers.named_axes import matrix_with_named_axes
from offdiag.inputs.files.checks import unreadable
from offdiag.inputs.files.json_files import read_json

CONVENTION = (
    "The evaluation table has the actual class of a sample in one column, the predicted "
    "one in another; a logged matrix must name its axes."
)
_TABLE = "eval_results_table.json"
_MATRICES = ("confusion_matrix.json", "confusion_matrix.csv")
_TRUE, _PRED = "target", "outputs"
"""What MLflow calls the columns unless the evaluated data named them."""
_SHOWN = 10
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_MOST_BYTES = 4 * MAX_TEXT_LENGTH
"""As many as UTF-8 may need for what a run may hold."""


def read_mlflow(path: Path, stated: Stated) -> Imported:
    """Read a run directory such as `mlruns/0/6f1c…`. Raises `InvalidInput`."""
    artifacts = path / "artifacts"
    if not artifacts.is_dir():
        raise InvalidInput(
            f"{str(path)!r} is no run of MLflow: it has no folder 'artifacts'.",
            field="file",
            hint="Give the folder that holds meta.yaml, metrics and artifacts.",
        )
    file = artifacts / chosen_artifact(_files_below(artifacts), stated.artifact)
    content = artifact_content(file, stated)
    try:
        params = {**_entries(path / "params"), **_metrics(path / "metrics")}
        tags = _entries(path / "tags")
    except OSError as error:
        raise unreadable(path, error) from None
    return Imported("mlflow", CONVENTION, content, file, params, tags)


def chosen_artifact(names: Sequence[str], named: str | None) -> str:
    """The artifact to read of those that a run has, all by their paths.

    Unless one is named it is the table of an evaluation, else a confusion matrix. Raises
    `InvalidInput` where there is none, or more than one.
    """
    if named is not None:
        if named not in names:
            raise InvalidInput(
                f"the run has no artifact {named!r}.", field="artifact", hint=_has(names)
            )
        return named
    for wanted in ((_TABLE,), _MATRICES):
        found = [name for name in names if name.rpartition("/")[2] in wanted]
        if len(found) == 1:
            return found[0]
        if found:
            raise InvalidInput(
                f"the run has several: {', '.join(found)}.",
                field="artifact",
                hint="Name one of them.",
            )
    raise InvalidInput(
        f"the run has no artifact {_TABLE} and none called {' or '.join(_MATRICES)}.",
        field="artifact",
        hint=_has(names),
    )


def _files_below(artifacts: Path) -> list[str]:
    return sorted(str(file.relative_to(artifacts)) for file in _files(artifacts))


def _files(folder: Path) -> Iterator[Path]:
    """Every file below a folder. A run comes from anywhere, so its links must not lead out."""
    inside = folder.resolve()
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        if not file.resolve().is_relative_to(inside):
            raise InvalidInput(
                f"{str(file)!r} is a link that leads out of the run.",
                field="file",
                hint="Remove it, or copy what it leads to.",
            )
        yield file


def _has(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    return f"It has {shown}." if shown else "It has none."


def artifact_content(file: Path, stated: Stated) -> ImportedLabels | ImportedMatrix:
    """The predictions or the matrix in an artifact. Raises `InvalidInput`."""
    if file.suffix.lower() != ".json":
        return matrix_with_named_axes(file, stated)
    try:
        table = read_json(file.read_bytes(), file.name)
    except OSError as error:
        raise unreadable(file, error) from None
    if not isinstance(table, dict) or "columns" not in table:
        return matrix_with_named_axes(file, stated)
    return _labels(table, file, stated)


def _labels(table: Mapping[str, object], file: Path, stated: Stated) -> ImportedLabels:
    columns, rows = table["columns"], table.get("data")
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise InvalidInput(
            f"{file.name} is no table.", field="artifact", hint="Name another artifact."
        )
    places = []
    for field, name in (
        ("true_column", stated.true_column or _TRUE),
        ("pred_column", stated.pred_column or _PRED),
    ):
        if columns.count(name) != 1:
            shown = ", ".join(repr(column) for column in columns[:_SHOWN])
            raise InvalidInput(
                f"{file.name} has no column {name!r}.",
                field=field,
                hint=f"Name the right one of {shown}.",
            )
        places.append(columns.index(name))
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(columns):
            raise InvalidInput(
                f"row {number} of {file.name} is not as wide as the table.",
                field="artifact",
                hint="Name another artifact.",
            )
    y_true, y_pred = ([row[place] for row in rows] for place in places)
    return ImportedLabels(y_true, y_pred, stated.labels)


def _entries(folder: Path) -> dict[str, Scalar]:
    """The content of each file below a folder by its path, cut to what a run may hold."""
    return {
        f"{file.relative_to(folder).as_posix()}": _text(file)[:MAX_TEXT_LENGTH]
        for file in _files(folder)
    }


def _metrics(folder: Path) -> dict[str, Scalar]:
    """The last value of each metric; a line is its time, its value and its step."""
    metrics: dict[str, Scalar] = {}
    for file in _files(folder):
        lines = _text(file, last=True).splitlines()
        fields = lines[-1].split() if lines else []
        if len(fields) >= 2:
            name = f"metrics.{file.relative_to(folder).as_posix()}"
            metrics[name] = _number_or_text(fields[1])
    return metrics


def _number_or_text(text: str) -> float | str:
    """NaN and infinities stay the words they are."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text


def _text(file: Path, *, last: bool = False) -> str:
    """As much of the beginning of a file as a run may hold, or of its end."""
    with file.open("rb") as source:
        if last:
            source.seek(max(0, file.stat().st_size - _MOST_BYTES))
        text = source.read(_MOST_BYTES).decode("utf-8", "replace")
    return text.strip().replace("\0", "")
