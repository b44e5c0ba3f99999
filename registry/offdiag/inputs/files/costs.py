"""Reading a cost matrix from a file, or from text that was copied from a spreadsheet.

TOML and JSON name every cell, `weights.<actual>.<predicted>`, and may name a `currency` and a
`note`. CSV is a table with the actual classes in the first column and the predicted ones in the
first line. Cells are matched by label, so the order of the classes does not matter.

Copied text has the actual classes in lines and the predicted ones in columns. Names in its first
line and column are matched in the same way; without names, lines and columns are in label order.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.domain.number_text import read_number
from offdiag.domain.orientation import SourceOrientation, orientation_in_corner
from offdiag.domain.sentences import known_names
from offdiag.errors import InvalidInput
from offdiag.inputs.files.checks import both_readings, may_part_thousands
from offdiag.inputs.files.csv_table import csv_delimiter, csv_lines
from offdiag.inputs.files.json_files import read_json_file, read_toml_file
from offdiag.metrics.costs.edits import read_cost

_MEMBERS = ("weights", "currency", "note")
_NUMBERS = "Costs are numbers, with a point before the decimals."
_FORM = 'Write {"weights": {"<actual>": {"<predicted>": cost, …}, …}, "currency": "EUR"}.'


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """Costs by actual and predicted label, as the file names them."""

    weights: Mapping[str, Mapping[str, float]]
    currency: str | None = None
    note: str | None = None


def read_weights(path: Path) -> WeightsFile:
    """Read costs from a `.toml`, `.json` or `.csv` file. Raises `InvalidInput`."""
    match path.suffix.lower():
        case ".toml":
            return _from_members(read_toml_file(path), path)
        case ".json":
            return _from_members(read_json_file(path), path)
        case ".csv":
            return _from_csv(path)
    raise _refused(
        f"the suffix of {path.name!r} is not supported.",
        "Use .toml, .json or .csv.",
    )


def _from_members(content: object, path: Path) -> WeightsFile:
    if not isinstance(content, dict) or not isinstance(content.get("weights"), dict):
        raise _refused(f"{path.name} has no member 'weights' with a table.", _FORM)
    unknown = [name for name in content if name not in _MEMBERS]
    if unknown:
        raise _refused(
            f"{path.name} has a member {unknown[0]!r}.", known_names("members", _MEMBERS)
        )
    weights = {
        actual: _row(row, f"actual {actual!r}") for actual, row in content["weights"].items()
    }
    return WeightsFile(weights, _text(content, "currency"), _text(content, "note"))


def _row(row: object, place: str) -> dict[str, float]:
    if not isinstance(row, dict):
        raise _refused(f"the costs of {place} are {row!r}.", _FORM)
    return {
        predicted: _number(cost, f"{place}, predicted {predicted!r}")
        for predicted, cost in row.items()
    }


def _number(cost: object, place: str) -> float:
    if isinstance(cost, (int, float)) and not isinstance(cost, bool):
        return cost
    raise _no_cost(repr(cost), place)


def _text(content: Mapping[str, object], name: str) -> str | None:
    text = content.get(name)
    if text is None or isinstance(text, str):
        return text
    raise InvalidInput(f"{text!r} is not text.", field=name, hint="Write it in quotes.")


def _from_csv(path: Path) -> WeightsFile:
    lines = csv_lines(path)
    if len(lines) < 2:
        raise _refused(
            f"{path.name} holds no costs.",
            "Write a line of predicted classes, then a line for each actual class.",
        )
    if _lines_are_predicted(lines[0][0]):
        raise _refused(
            f"{path.name} says that its lines are predicted classes.",
            "Rows of a cost matrix are actual classes; exchange the axes of the table.",
        )
    if len(lines[0]) == 3 and lines[0][1].strip().lower() == "predicted":
        raise _refused(
            f"{path.name} has a line for each cost.",
            "Write a line of predicted classes, then a line for each actual class.",
        )
    columns = _distinct(lines[0][1:], "the first line")
    _distinct([fields[0] for fields in lines[1:]], "the first column")
    weights = {}
    for number, fields in enumerate(lines[1:], start=2):
        if len(fields) != len(lines[0]):
            raise _refused(
                f"line {number} has {len(fields)} fields, the header has {len(lines[0])}.",
                "Write one cost for each predicted class.",
            )
        costs = (_csv_number(cell, f"line {number}") for cell in fields[1:])
        weights[fields[0]] = dict(zip(columns, costs, strict=True))
    if csv_delimiter(path) != ",":
        _require_decimals(cell for fields in lines[1:] for cell in fields[1:])
    return WeightsFile(weights)


def _require_decimals(cells: Iterable[str]) -> None:
    """Raise `InvalidInput` if every point may be a thousands separator, as in 20.000.

    In languages with a decimal comma, spreadsheets separate fields with another character and
    thousands with a point.
    """
    pointed = [cell.strip() for cell in cells if "." in cell]
    if pointed and all(map(may_part_thousands, pointed)):
        raise _refused(
            f"the cost {pointed[0]} may be {both_readings(pointed[0])}.",
            "Write thousands without a point, or a decimal more or less than three.",
        )


def _lines_are_predicted(corner: str) -> bool:
    """Whether the corner of a table says that its lines are predicted classes."""
    stated = orientation_in_corner(corner)
    if stated is not None:
        return stated is SourceOrientation.ACTUAL_COLUMNS
    return "predicted" in re.split(r"[(\\/]", corner.lower())[0]


def _distinct(names: list[str], place: str) -> list[str]:
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise _refused(f"{doubled!r} occurs more than once in {place}.", "Name each class once.")
    return names


def _csv_number(cell: str, place: str) -> float:
    try:
        return read_number(cell)
    except ValueError:
        raise _no_cost(repr(cell), place) from None


def _no_cost(shown: str, place: str) -> InvalidInput:
    return _refused(f"the cost at {place} is {shown}.", _NUMBERS)


_DELIMITERS = ("\t", ";", ",")


def read_cost_table(
    text: str, labels: LabelSet
) -> Mapping[str, Mapping[str, float]] | NDArray[np.float64]:
    """The costs in a text, by label or (K, K) in label order, in a form for `cost_matrix`.

    Raises `InvalidInput` naming the line at fault. Whether the names are the labels is checked by
    `cost_matrix`.
    """
    first = text.lstrip("\ufeff").strip("\r\n").split("\n", 1)[0]
    delimiter = next((mark for mark in _DELIMITERS if mark in first), None)
    lines = _lines(text, delimiter)
    if not lines:
        raise _refused("there is nothing in it.", "Copy the costs with their class names.")
    width = len(lines[0])
    for number, fields in enumerate(lines, start=1):
        if len(fields) != width:
            raise _refused(
                f"line {number} has {len(fields)} fields, the first line {width}.",
                "Every line has one cost for each predicted class.",
            )
    size = len(labels)
    # Names may be numbers; then only the shape shows that there are any.
    has_names = len(lines) == width == size + 1 or read_cost(lines[0][-1]) is None
    if delimiter != ",":
        _require_decimals(cell for fields in lines[has_names:] for cell in fields[has_names:])
    if has_names:
        return _by_name(lines)
    if not len(lines) == width == size:
        raise _refused(
            f"it has {len(lines)} lines of {width} costs for {size} classes.",
            "Copy a square table, or one with class names in its first line and column.",
        )
    return np.array([_numbers(fields, number) for number, fields in enumerate(lines, start=1)])


def _lines(text: str, delimiter: str | None) -> list[list[str]]:
    if delimiter is None:
        return [line.split() for line in text.splitlines() if line.strip()]
    try:
        reader = csv.reader(
            io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter, strict=True
        )
        lines = [[field.strip() for field in fields] for fields in reader]
    except csv.Error as error:
        raise _refused(f"it cannot be read as a table ({error}).", "Check its quotes.") from None
    return [fields for fields in lines if any(fields)]


def _by_name(lines: list[list[str]]) -> dict[str, dict[str, float]]:
    corner, *columns = lines[0]
    if _lines_are_predicted(corner):
        raise _refused(
            f"its corner says {corner!r}, so its lines seem to be predicted classes.",
            "Rows of a cost matrix are actual classes; exchange the axes of the table.",
        )
    _distinct(columns, "the first line")
    _distinct([fields[0] for fields in lines[1:]], "the first column")
    return {
        fields[0]: dict(zip(columns, _numbers(fields[1:], number), strict=True))
        for number, fields in enumerate(lines[1:], start=2)
    }


def _numbers(fields: list[str], number: int) -> list[float]:
    found = []
    for field in fields:
        cost = read_cost(field)
        if cost is None:
            raise _refused(f"{field[:40]!r} in line {number} is not a cost.", _NUMBERS)
        found.append(cost)
    return found


def _refused(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, field="weights", hint=hint)
