"""Options that several verbs share, and what their values mean."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from offdiag.errors import InvalidInput
from offdiag.settings import Settings, load_settings

Command = TypeVar("Command", bound=Callable[..., Any])


def url_option(command: Command) -> Command:
    """`--url`: the registry to use."""
    return click.option(
        "--url",
        metavar="URL",
        help="Registry to use.  [default: OFFDIAG_URL, else the configured one]",
    )(command)


def json_option(command: Command) -> Command:
    """`--json`: for programs that read the output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def sets_option(command: Command) -> Command:
    """`--sets`: both columns hold sets of labels."""
    return click.option(
        "--sets",
        "of_sets",
        is_flag=True,
        help="A case has a set of labels, written sea|sky; an empty text is the empty set.",
    )(command)


def settings_for(url: str | None) -> Settings:
    """The settings in force, with the registry of `--url` if it was given."""
    settings = load_settings()
    if url is None:
        return settings
    database = settings.database.model_copy(update={"url": url})
    return settings.model_copy(update={"database": database})


def parse_labels(text: str | None) -> list[str] | None:
    """Class names separated by commas; one that holds a comma stands in double quotes."""
    return None if text is None else next(csv.reader([text]))


def parse_entries(pairs: Sequence[str], field: str) -> dict[str, Any]:
    """`key=value` pairs. A value that is a JSON number, true, false or null is one."""
    entries = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator:
            raise InvalidInput(f"{pair!r} is no pair.", field=field, hint="Write key=value.")
        entries[key] = _value(text)
    return entries


def _value(text: str) -> str | int | float | bool | None:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, (int, float, bool, type(None))) else text
