"""Read columns of JSON lines, JSON and TOML documents, and class hierarchies in either.

Python's own readers are used because readers that guess types turn labels into dates and numbers.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NoReturn

from offdiag.errors import InvalidInput
from offdiag.inputs.files.checks import FileColumn, damaged, no_samples, unreadable


def read_json_line_columns(path: Path, names: list[str]) -> dict[str, FileColumn]:
    """The named members of every object. Raises `InvalidInput` with the line at fault."""
    columns: dict[str, list[object]] = {name: [] for name in names}
    for place, members in _objects(path):
        for name in names:
            columns[name].append(_member(members, name, place))
    if not columns[names[0]]:
        raise no_samples(path)
    return dict(columns)


def json_line_names(path: Path) -> list[str]:
    """The names of the members of the first object. Raises `InvalidInput`."""
    for _, members in _objects(path):
        return list(members)
    raise no_samples(path)


def _objects(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Each object with its line as messages name it. Raises `InvalidInput` for anything else."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                place = f"line {number} of {path.name}"
                yield place, _object(line.removeprefix(b"\xef\xbb\xbf"), place)


def line_of_object(path: Path, row: int) -> int:
    """The number, from 1, of the line with the object at position `row`, from 0."""
    with path.open("rb") as lines:
        written = (number for number, line in enumerate(lines, start=1) if line.strip())
        return next(islice(written, row, None))


def read_json_file(path: Path, *, decimal: Callable[[str], object] = float) -> object:
    """The value in a JSON file, read strictly, as by `read_json`. Raises `InvalidInput`."""
    try:
        return read_json(path.read_bytes(), path.name, decimal=decimal)
    except OSError as error:
        raise unreadable(path, error) from None


def read_json(text: bytes, place: str, *, decimal: Callable[[str], object] = float) -> object:
    """One strict JSON value: no NaN, no duplicate member. Raises `InvalidInput` naming `place`.

    `decimal` converts numbers with a point: `str` keeps the last zero of 0.6030, a float does not.
    """

    def without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) != len(pairs):
            raise ValueError("a member occurs twice in one object")
        return members

    def refuse_constant(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        return json.loads(
            text,
            object_pairs_hook=without_duplicates,
            parse_constant=refuse_constant,
            parse_float=decimal,
        )
    except (ValueError, RecursionError) as error:
        hint = "Correct the file."
        if isinstance(error, json.JSONDecodeError) and error.lineno > 1 and "Extra" in error.msg:
            hint = "If each line is an object, name the file .jsonl."
        raise InvalidInput(
            f"{place} is not valid JSON: {error}.", field="file", hint=hint
        ) from None


def _object(line: bytes, place: str) -> dict[str, object]:
    value = read_json(line, place)
    if isinstance(value, dict):
        return value
    raise InvalidInput(
        f"{place} is not a JSON object.", field="file", hint="Write one object on each line."
    )


def _member(members: dict[str, object], name: str, place: str) -> object:
    """A member, None if it is null. Raises `InvalidInput` naming the members if it is missing."""
    if name not in members:
        shown = ", ".join(repr(member) for member in list(members)[:20])
        raise InvalidInput(
            f"{place} has no {name!r}.", field="file", hint=f"It has {shown or 'no members'}."
        )
    return members[name]


def read_hierarchy(path: Path) -> object:
    """The content of a `.json` or `.toml` file; whether it is a hierarchy is checked elsewhere.

    Raises `InvalidInput`.
    """
    match path.suffix.lower():
        case ".json":
            return read_json_file(path)
        case ".toml":
            return read_toml_file(path)
    raise InvalidInput(
        f"the suffix of {path.name!r} is not supported.",
        field="hierarchy",
        hint="Use .json or .toml.",
    )


def read_toml_file(path: Path) -> object:
    """The content of a TOML file. Raises `InvalidInput`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise damaged(path, "TOML", error) from None
