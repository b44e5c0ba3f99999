"""Weights & Biases: tables of predictions or of confusion matrices, and folders of runs.

`wandb.plot.confusion_matrix` logs one row per cell with named columns, so nothing can be
transposed. Any other `wandb.Table` has one row per sample.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.runs import MAX_TEXT_LENGTH, Scalar
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
from offdiag.inputs.files.checks import unreadable
from offdiag.inputs.files.json_files import read_json_file

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
    return replace(_table_of(path, stated), params=params, tags=tags)


def _imported(file: Path, stated: Stated) -> Imported:
    content = _content(file, stated)
    is_matrix = isinstance(content, ImportedMatrix)
    return Imported("wandb", CONVENTION if is_matrix else _OF_SAMPLES, content, file)


def _facts(folder: Path) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """Parameters and tags of an offline run, from its log."""
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


def _table_of(folder: Path, stated: Stated) -> Imported:
    """The stated table, or the only one whose columns are recognised."""
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
        return _imported(names[stated.artifact], stated)
    fitting, refused = [], []
    for file in found:
        try:
            fitting.append(_imported(file, stated))
        except InvalidInput as error:
            refused.append(error)
    if len(fitting) == 1:
        return fitting[0]
    if not fitting and len(refused) == 1:
        raise refused[0]
    if not found:
        raise InvalidInput(
            "the run has no tables, and metrics alone cannot be imported.",
            field="artifact",
            hint="Log predictions with wandb.Table or wandb.plot.confusion_matrix.",
        )
    raise InvalidInput(
        f"{len(fitting)} tables of the run could hold its predictions.",
        field="artifact",
        hint=f"Name one of its tables; it has {shown}.",
    )


def _content(path: Path, stated: Stated) -> ImportedLabels | ImportedMatrix:
    table = read_json_file(path)
    columns = table.get("columns") if isinstance(table, dict) else None
    rows = table.get("data") if isinstance(table, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise InvalidInput(
            f"{path.name} is not a table: it has no 'columns' and 'data'.",
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


_MARK = b":W&B"
_HEADER = 7
_BLOCK = 32_768
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_HISTORY, _CONFIG, _RUN = 2, 5, 17
"""Fields of a record."""
_ID, _PROJECT, _RUN_CONFIG, _NAME, _TAG = 1, 3, 4, 8, 10
"""Fields of the part of a record about the run."""
_ITEM, _KEY, _NESTED_KEY, _JSON = 1, 1, 2, 16
"""Items of a configuration or history, and their fields."""
_NOT_FINITE = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
"""Their names in JSON, and in the parameters of MLflow runs."""


@dataclass
class LoggedRun:
    """What the log of a run contains.

    `values` are the last logged values of keys that had numbers. A value that is not finite stays
    text, because an earlier one would hide that training failed.
    """

    name: str = ""
    run_id: str = ""
    project: str = ""
    config: dict[str, Scalar] = field(default_factory=dict)
    values: dict[str, Scalar] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)


def read_run_log(path: Path) -> LoggedRun:
    """Read `run-….wandb`; an incomplete end is ignored. Raises `InvalidInput`."""
    run = LoggedRun()
    try:
        with path.open("rb") as log:
            if not log.read(_HEADER).startswith(_MARK):
                raise InvalidInput(
                    f"{path.name} is not a W&B log.",
                    field="file",
                    hint="Give the folder of the run.",
                )
            for record in _records(log):
                _note(record, run)
    except OSError as error:
        raise unreadable(path, error) from None
    except (IndexError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path.name} is damaged: {error}.", field="file", hint="Copy it again."
        ) from None
    return run


def _records(log: BinaryIO) -> Iterator[bytes]:
    parts: list[bytes] = []
    place = _HEADER
    while True:
        rest = _BLOCK - place % _BLOCK
        if rest < _HEADER:
            log.read(rest)
            place += rest
        header = log.read(_HEADER)
        size = int.from_bytes(header[4:6], "little")
        data = log.read(size)
        if len(header) < _HEADER or len(data) < size:
            return
        place += _HEADER + size
        kind = header[6]
        parts = [data] if kind in (_FULL, _FIRST) else [*parts, data]
        if kind in (_FULL, _LAST):
            yield b"".join(parts)
            parts = []


def _note(record: bytes, run: LoggedRun) -> None:
    for number, value in _fields(record):
        if number == _RUN:
            _note_run(value, run)
        elif number == _CONFIG:
            run.config.update(_items(value))
        elif number == _HISTORY:
            for key, logged in _items(value).items():
                if not key.startswith("_"):
                    _note_value(key, logged, run)


def _note_value(key: str, logged: Scalar, run: LoggedRun) -> None:
    if isinstance(logged, (int, float)):
        run.values[key] = logged
    elif logged in _NOT_FINITE:
        run.values[key] = _NOT_FINITE[logged]
    elif logged == "null" and key in run.values:
        run.values[key] = None


def _note_run(message: bytes, run: LoggedRun) -> None:
    tags = []
    for number, value in _fields(message):
        if number == _RUN_CONFIG:
            run.config.update(_items(value))
        elif number == _TAG:
            tags.append(value.decode())
        elif number == _ID:
            run.run_id = value.decode()
        elif number == _PROJECT:
            run.project = value.decode()
        elif number == _NAME:
            run.name = value.decode()
    run.tags = tags or run.tags


def _items(message: bytes) -> dict[str, Scalar]:
    """Keys and values of one level; lists and objects stay JSON text."""
    found: dict[str, Scalar] = {}
    for number, item in _fields(message):
        if number != _ITEM:
            continue
        keys = [value.decode() for place, value in _fields(item) if place in (_KEY, _NESTED_KEY)]
        texts = [value.decode() for place, value in _fields(item) if place == _JSON]
        if len(keys) == 1 and keys[0] != "_wandb" and texts:
            found[keys[0]] = _plain(texts[-1])
    return found


def _plain(text: str) -> Scalar:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    is_plain = isinstance(value, (str, bool, int, float)) and value == value  # noqa: PLR0124
    if not is_plain or value in (float("inf"), float("-inf")):
        return text[:MAX_TEXT_LENGTH]
    return value[:MAX_TEXT_LENGTH] if isinstance(value, str) else value


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that contain bytes, by number; numbers are skipped."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        match tag & 7:
            case 0:
                _, place = _varint(message, place)
            case 1:
                place += 8
            case 2:
                size, place = _varint(message, place)
                yield tag >> 3, message[place : place + size]
                place += size
            case 5:
                place += 4
            case kind:
                raise IndexError(f"a field of kind {kind}")


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = message[place]
        value |= (byte & 127) << shift
        place += 1
        if byte < 128:
            return value, place
    raise IndexError("a number of more than 64 bits")
