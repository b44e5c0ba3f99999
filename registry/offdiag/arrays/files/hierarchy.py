"""Groups of classes out of a file: JSON or TOML with names of groups and what is in them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from offdiag.arrays.files.checks import damaged, unreadable
from offdiag.arrays.files.json_lines import read_json
from offdiag.errors import InvalidInput


def read_hierarchy(path: Path) -> object:
    """What a `.json` or `.toml` file holds; whether it is a hierarchy is checked elsewhere.

    Raises `InvalidInput`.
    """
    try:
        match path.suffix.lower():
            case ".json":
                return read_json(path.read_bytes(), path.name)
            case ".toml":
                return _from_toml(path)
    except OSError as error:
        raise unreadable(path, error) from None
    raise InvalidInput(
        f"the suffix of {path.name!r} names no format of hierarchies.",
        field="hierarchy",
        hint="Known are .json, .toml.",
    )


def _from_toml(path: Path) -> object:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise damaged(path, "TOML", error) from None
