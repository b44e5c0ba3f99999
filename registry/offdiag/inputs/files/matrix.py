"""Reading a confusion matrix from a file.

JSON: `{"labels": […], "matrix": [[…]], "orientation": "actual_rows"}`. CSV: either a table whose
first line and first column hold the same labels, or the long form with one line per cell, with
columns called actual, predicted and count. The long form states its orientation by its columns,
and so does a table with the name of an axis in its corner: "actual (rows)" or "predicted (rows)",
as the dashboard writes it, or "True label", "Prediction" and the like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from offdiag.domain.labels import label_text, require_known
from offdiag.domain.orientation import SourceOrientation, axis_named, orientation_in_corner
from offdiag.domain.texts import without_mark
from offdiag.errors import InvalidInput
from offdiag.inputs.files.csv_table import csv_lines, unquoted_gaps
from offdiag.inputs.files.json_files import read_json_file

_LONG_FORM = ("actual", "predicted", "count")
_STATED = ("labels", "orientation")
_ALSO_LABELS = ("classes", "class_names", "target_names", "display_labels", "names")
"""What others call the labels of a matrix."""
Cell = TypeVar("Cell")
_WHOLE_NUMBER = re.compile("-?[0-9]{1,25}")
_ORIENTATIONS = (SourceOrientation.ACTUAL_ROWS, SourceOrientation.ACTUAL_COLUMNS)


@dataclass(frozen=True, slots=True)
class MatrixFile:
    """The content of a file: whole numbers, labels and orientation, the last two if stated."""

    matrix: list[list[int]]
    labels: list[str] | None
    orientation: SourceOrientation | None


def read_matrix(path: Path, *, declared: Sequence[str] | None = None) -> MatrixFile:
    """Read a matrix from a `.json` or `.csv` file. Raises `InvalidInput` naming the place.

    An empty name without quotes is a class only if "" is among the `declared` ones.
    """
    if path.suffix.lower() == ".json":
        return _from_json(read_json_file(path), path)
    if path.suffix.lower() == ".csv":
        return _from_csv(path, declared or ())
    raise InvalidInput(
        f"the suffix of {path.name!r} is not supported.",
        field="file",
        hint="Use .json or .csv.",
    )


def _from_json(content: object, path: Path) -> MatrixFile:
    if not isinstance(content, dict) or not isinstance(content.get("matrix"), list):
        raise InvalidInput(
            f"{path.name} has no member 'matrix' with a list of rows.",
            field="file",
            hint='Write {"labels": […], "matrix": [[…]], "orientation": "actual_rows"}. '
            "Predictions are read from .jsonl, an object on each line.",
        )
    _require_known_members(content, path)
    labels = content.get("labels")
    if labels is not None and not isinstance(labels, list):
        raise InvalidInput(
            f"{path.name}: 'labels' is not a list.", field="labels", hint="Write a list of names."
        )
    orientation = _stated_orientation(content, path)
    rows = [
        [_json_count(cell, i, j) for j, cell in enumerate(_json_row(row, i))]
        for i, row in enumerate(content["matrix"])
    ]
    return MatrixFile(
        squared(rows),
        None if labels is None else [label_text(label) for label in labels],
        orientation,
    )


def _require_known_members(content: Mapping[str, object], path: Path) -> None:
    """Raise `InvalidInput` for a member that is meant as the labels or the orientation."""
    for name in content.keys() - {"matrix", *_STATED}:
        close = get_close_matches(name.lower(), _STATED, n=1, cutoff=0.8)
        meant = "labels" if name.lower() in _ALSO_LABELS else next(iter(close), None)
        if meant is not None and meant not in content:
            raise InvalidInput(
                f"{path.name} has a member {name!r}.", field="file", hint=f"Call it {meant!r}."
            )


def _stated_orientation(content: Mapping[str, object], path: Path) -> SourceOrientation | None:
    axes, stated = content.get("axes"), content.get("orientation")
    by_axes = axis_named(axes[0]) if isinstance(axes, list) and axes else None
    if stated is None:
        return by_axes
    require_known(str(stated), _ORIENTATIONS, field_name="orientation")
    if by_axes not in (None, stated):
        raise InvalidInput(
            f"{path.name} says {stated!r}, but its axes say {str(by_axes)!r}.",
            field="orientation",
            hint="Correct one of them.",
        )
    return SourceOrientation(str(stated))


def _json_row(row: object, number: int) -> list[object]:
    if isinstance(row, list):
        return row
    raise InvalidInput(
        f"row {number} is {row!r}.", field="matrix", hint="A matrix is a list of lists."
    )


def _json_count(cell: object, row: int, column: int) -> int:
    if isinstance(cell, int) and not isinstance(cell, bool):
        return cell
    raise _no_count(repr(cell), f"[{row}][{column}]")


def _from_csv(path: Path, declared: Sequence[str]) -> MatrixFile:
    # The dashboard marks class names that look like formulas.
    lines = [[without_mark(field) for field in fields] for fields in csv_lines(path)]
    if len(lines) < 2:
        raise InvalidInput(
            f"{path.name} holds no matrix.",
            field="file",
            hint="Write a line of labels, then a line for each class.",
        )
    for number, fields in enumerate(lines[1:], start=2):
        if len(fields) != len(lines[0]):
            raise InvalidInput(
                f"line {number} has {len(fields)} fields, the header has {len(lines[0])}.",
                field="file",
                hint="Write one field for each column.",
            )
    is_long = all(lines[0].count(name) == 1 for name in _LONG_FORM)
    named = _cells_of_names(lines, is_long=is_long)
    if "" not in declared:
        empty = [(row, place) for row, place in named if not lines[row][place]]
        require_names(path, empty, n_columns=len(lines[0]))
    return _from_cells(lines) if is_long else _from_square(lines)


def _cells_of_names(lines: list[list[str]], *, is_long: bool) -> list[tuple[int, int]]:
    """Row and column, from 0, of each cell that holds the name of a class."""
    below = range(1, len(lines))
    if is_long:
        places = [lines[0].index(name) for name in _LONG_FORM[:2]]
        return [(row, place) for row in below for place in places]
    return [(0, place) for place in range(1, len(lines[0]))] + [(row, 0) for row in below]


def require_names(path: Path, empty: Sequence[tuple[int, int]], *, n_columns: int) -> None:
    """Raise `InvalidInput` for the first of these empty cells that has no quotes."""
    gaps = unquoted_gaps(path, n_columns) if empty else frozenset()
    missing = next((place for place in empty if place in gaps), None)
    if missing is not None:
        raise InvalidInput(
            f"line {missing[0] + 1} of {path.name} leaves the name of a class empty.",
            field="labels",
            hint='Fill it in. If the empty text is a class, write it in quotes ("") or declare it '
            "among the labels.",
        )


def _from_cells(lines: list[list[str]]) -> MatrixFile:
    """Read the long form, with one line per cell; cells that are not listed are empty."""
    places = [lines[0].index(name) for name in _LONG_FORM]
    cells: dict[tuple[str, str], int] = {}
    for number, fields in enumerate(lines[1:], start=2):
        actual, predicted, count = (fields[place] for place in places)
        if (actual, predicted) in cells:
            raise InvalidInput(
                f"the cell of actual {actual!r}, predicted {predicted!r} occurs twice.",
                field="matrix",
                hint="Write each cell once.",
            )
        cells[actual, predicted] = _csv_count(count, f"line {number}")
    labels = list(dict.fromkeys(name for pair in cells for name in pair))
    return MatrixFile(
        [[cells.get((actual, predicted), 0) for predicted in labels] for actual in labels],
        labels,
        SourceOrientation.ACTUAL_ROWS,
    )


def _from_square(lines: list[list[str]]) -> MatrixFile:
    labels = lines[0][1:]
    rows = [
        [_csv_count(cell, f"line {number}") for cell in fields[1:]]
        for number, fields in enumerate(lines[1:], start=2)
    ]
    matrix = squared(rows)
    beside = [fields[0] for fields in lines[1:]]
    for number, (column, row) in enumerate(zip(labels, beside, strict=True), start=1):
        if column != row:
            raise InvalidInput(
                f"label {number} is {column!r} in the first line but {row!r} in the first column.",
                field="labels",
                hint="Both axes list the same classes in the same order.",
            )
    if all(_WHOLE_NUMBER.fullmatch(cell.strip()) for cell in lines[0]):
        raise InvalidInput(
            "the first line is numbers alone, which seem to be counts.",
            field="labels",
            hint="If they are labels, leave the first cell empty. For a matrix without labels, "
            "add them as first line and column, or import it as one of scikit-learn.",
        )
    return MatrixFile(matrix, labels, orientation_in_corner(lines[0][0]))


def _csv_count(text: str, place: str) -> int:
    if _WHOLE_NUMBER.fullmatch(text.strip()):
        return int(text.strip())
    raise _no_count(repr(text), place)


def squared(rows: list[list[Cell]]) -> list[list[Cell]]:
    """The rows, if each has as many cells as there are rows. Raises `InvalidInput`."""
    for number, row in enumerate(rows):
        if len(row) != len(rows):
            raise InvalidInput(
                f"row {number} has {len(row)} cells, but there are {len(rows)} rows.",
                field="matrix",
                hint="A confusion matrix is square, one row and one column for each class.",
            )
    return rows


def _no_count(shown: str, place: str) -> InvalidInput:
    return InvalidInput(
        f"the cell at {place} is {shown}.",
        field="matrix",
        hint="Give counts: whole numbers, not shares or percentages.",
    )
