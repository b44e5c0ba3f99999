"""A cost matrix out of a file.

TOML and JSON name every cell, `weights.<actual>.<predicted>`, and may name a `currency` and a
`note`. CSV is a table with the actual classes in the first column and the predicted ones in
the first line. Cells are matched by label, so the order of the classes does not matter.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from offdiag.arrays.files.checks import damaged, unreadable
from offdiag.arrays.files.json_lines import read_json
from offdiag.errors import InvalidInput

_MEMBERS = ("weights", "currency", "note")
_FORM = 'Write {"weights": {"<actual>": {"<predicted>": cost, …}, …}, "currency": "EUR"}.'


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """Costs by actual and predicted label, as the file names them."""

    weights: Mapping[str, Mapping[str, float]]
    currency: str | None = None
    note: str | None = None


def read_weights(path: Path) -> WeightsFile:
    """Read costs from a `.toml`, `.json` or `.csv` file. Raises `InvalidInput`."""
    readers = {".toml": _from_toml, ".json": _from_json, ".csv": _from_csv}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InvalidInput(
            f"the suffix of {path.name!r} names no format of cost matrices.",
            field="weights",
            hint=f"Known are {', '.join(readers)}.",
        )
    try:
        return reader(path)
    except OSError as error:
        raise unreadable(path, error) from None


def _from_toml(path: Path) -> WeightsFile:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise damaged(path, "TOML", error) from None
    return _from_members(content, path)


def _from_json(path: Path) -> WeightsFile:
    return _from_members(read_json(path.read_bytes(), path.name), path)


def _from_members(content: object, path: Path) -> WeightsFile:
    if not isinstance(content, dict) or not isinstance(content.get("weights"), dict):
        raise InvalidInput(
            f"{path.name} has no member 'weights' with a table.", field="weights", hint=_FORM
        )
    unknown = [name for name in content if name not in _MEMBERS]
    if unknown:
        raise InvalidInput(
            f"{path.name} has a member {unknown[0]!r}.",
            field="weights",
            hint=f"Known are {', '.join(_MEMBERS)}.",
        )
    weights = {
        actual: _row(row, f"actual {actual!r}") for actual, row in content["weights"].items()
    }
    return WeightsFile(weights, _text(content, "currency"), _text(content, "note"))


def _row(row: object, place: str) -> dict[str, float]:
    if not isinstance(row, dict):
        raise InvalidInput(f"the costs of {place} are {row!r}.", field="weights", hint=_FORM)
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
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            lines = [fields for fields in csv.reader(text, strict=True) if fields]
    except (csv.Error, UnicodeDecodeError) as error:
        raise damaged(path, "CSV", error) from None
    if len(lines) < 2:
        raise InvalidInput(
            f"{path.name} holds no costs.",
            field="weights",
            hint="Write a line of predicted classes, then a line for each actual class.",
        )
    if "predicted (rows)" in lines[0][0]:
        raise InvalidInput(
            f"{path.name} says that its lines are predicted classes.",
            field="weights",
            hint="Costs stand in lines of actual classes; exchange the axes of the table.",
        )
    columns = _distinct(lines[0][1:], "the first line")
    _distinct([fields[0] for fields in lines[1:]], "the first column")
    weights = {}
    for number, fields in enumerate(lines[1:], start=2):
        if len(fields) != len(lines[0]):
            raise InvalidInput(
                f"line {number} has {len(fields)} fields, the header has {len(lines[0])}.",
                field="weights",
                hint="Write one cost for each predicted class.",
            )
        costs = (_csv_number(cell, f"line {number}") for cell in fields[1:])
        weights[fields[0]] = dict(zip(columns, costs, strict=True))
    return WeightsFile(weights)


def _distinct(names: list[str], place: str) -> list[str]:
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InvalidInput(
            f"{doubled!r} stands more than once in {place}.",
            field="weights",
            hint="Name each class once.",
        )
    return names


def _csv_number(cell: str, place: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise _no_cost(repr(cell), place) from None


def _no_cost(shown: str, place: str) -> InvalidInput:
    return InvalidInput(
        f"the cost at {place} is {shown}.",
        field="weights",
        hint="Costs are numbers, with a point before the decimals.",
    )
