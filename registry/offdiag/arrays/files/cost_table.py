"""A cost matrix out of text that was copied from a spreadsheet or read from a CSV file.

The actual classes stand in lines, the predicted ones in columns. With names in the first line
and in the first column cells are matched by name, so that the order of the classes does not
matter; without names the lines and columns follow the labels.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.labels import LabelSet
from offdiag.errors import InvalidInput
from offdiag.metrics.costs.edits import read_cost

_DELIMITERS = ("\t", ";", ",")


def read_cost_table(
    text: str, labels: LabelSet
) -> Mapping[str, Mapping[str, float]] | NDArray[np.float64]:
    """The costs in a text, by label or (K, K) in label order, as `cost_matrix` takes them.

    Raises `InvalidInput` naming the line at fault. Whether the names are the labels is for
    `cost_matrix` to say.
    """
    lines = _lines(text)
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
    # Names may be numbers; then only the shape tells that they are there.
    if len(lines) == width == size + 1 or read_cost(lines[0][-1]) is None:
        return _by_name(lines)
    if not len(lines) == width == size:
        raise _refused(
            f"it has {len(lines)} lines of {width} costs for {size} classes.",
            "Copy a square table, or one with class names in its first line and column.",
        )
    return np.array([_numbers(fields, number) for number, fields in enumerate(lines, start=1)])


def _lines(text: str) -> list[list[str]]:
    first = text.lstrip("\ufeff").strip("\r\n").split("\n", 1)[0]
    delimiter = next((mark for mark in _DELIMITERS if mark in first), None)
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
    if "predicted" in corner.lower().partition("(")[0].partition("\\")[0].partition("/")[0]:
        raise _refused(
            f"its corner says {corner!r}, so its lines seem to be predicted classes.",
            "Costs stand in lines of actual classes; exchange the axes of the table.",
        )
    _require_distinct(columns, "the first line")
    _require_distinct([fields[0] for fields in lines[1:]], "the first column")
    return {
        fields[0]: dict(zip(columns, _numbers(fields[1:], number), strict=True))
        for number, fields in enumerate(lines[1:], start=2)
    }


def _require_distinct(names: list[str], place: str) -> None:
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise _refused(f"{doubled!r} stands more than once in {place}.", "Name each class once.")


def _numbers(fields: list[str], number: int) -> list[float]:
    found = []
    for field in fields:
        cost = read_cost(field)
        if cost is None:
            raise _refused(
                f"{field[:40]!r} in line {number} is no cost.",
                "Costs are numbers, with a point before the decimals.",
            )
        found.append(cost)
    return found


def _refused(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, field="weights", hint=hint)
