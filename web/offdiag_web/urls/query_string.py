"""Query strings of addresses, positions in lists, and groups of classes in addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import quote, urlencode

from offdiag.domain.sentences import known_names
from offdiag.domain.texts import DEFAULT_PROJECT, escaped_mark, name_from_path

_READABLE = ":*@,~\"'"
"""Characters that need no escaping in a query and keep it readable."""


def with_query(path: str, values: Mapping[str, str | None]) -> str:
    """`path` with all non-empty values, sorted by key."""
    pairs = [(key, value) for key, value in sorted(values.items()) if value]
    if not pairs:
        return path
    return f"{path}?{urlencode(pairs, safe=_READABLE, quote_via=quote)}"


def named_project(project: str) -> str | None:
    """The project; None for the default one, which addresses and pages leave out."""
    return None if project == DEFAULT_PROJECT else project


_SEPARATOR = ","


def groups_text(names: Iterable[str]) -> str | None:
    """Names as one value of a query; None if there are none."""
    return _SEPARATOR.join(map(_written, names)) or None


def read_groups(text: str | None) -> tuple[str, ...]:
    """The names that `groups_text` wrote, each once."""
    parts = (text or "").split(_SEPARATOR)
    return tuple(dict.fromkeys(name_from_path(part) for part in parts if part))


RUN_ID = re.compile(r"r_[0-9A-Za-z]{1,64}")
UNREAD_PLACE = "The position in the list is invalid; its beginning is shown."
_LARGEST_START = 10_000_000
_MOST_NAMED = 3
Place = TypeVar("Place")


LARGEST_VERSION = 2**31 - 1
"""The largest number that a version can have."""


def whole_number(text: str, *, least: int = 0, most: int) -> int | None:
    """The number that these digits name; None for other texts, and for numbers out of range."""
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)):
        number = int(text)
        return number if least <= number <= most else None
    return None


def one_of(text: str | None, known: Sequence[str], what: str, notices: list[str]) -> str | None:
    """A value that is one of the known ones; None, with a notice, for any other."""
    if not text or text in known:
        return text or None
    notices.append(f"There is no {what} “{text[:40]}”; use {', '.join(known)}.")
    return None


_BESIDE = re.compile(r"form|utm_.*|.*clid")
"""Parameters that forms send along, or that mail programs and social networks add to links."""


def unknown_parameters(given: Iterable[str], known: Collection[str]) -> list[str]:
    """A notice of the parameters that a page does not read, if there are any."""
    unknown = [each for each in given if each not in known and not _BESIDE.fullmatch(each)]
    if not unknown:
        return []
    names = " or ".join(f"“{each[:40]}”" for each in unknown[:_MOST_NAMED])
    others = sorted(each for each in known if not _BESIDE.fullmatch(each))
    listed = f" {known_names('parameters', others)}" if others else ""
    return [f"There is no parameter {names} here.{listed}"]


def read_start(values: Mapping[str, str], *, unread: str = UNREAD_PLACE) -> tuple[int, list[str]]:
    """The line at which a list starts, counted from 0, with a notice if it is invalid."""
    given = values.get("from", "")
    if not given:
        return 0, []
    start = whole_number(given, least=1, most=_LARGEST_START)
    return (0, [unread]) if start is None else (start - 1, [])


def read_place(
    values: Mapping[str, str], read: Callable[[str], Place | None], notices: list[str]
) -> tuple[Place, bool] | None:
    """The place after which a list continues, or before which if True; None for its beginning."""
    for name in ("after", "before"):
        text = values.get(name)
        if text:
            place = read(text)
            if place is not None:
                return place, name == "before"
            notices.append(UNREAD_PLACE)
    return None


def _written(name: str) -> str:
    return "".join(escaped_mark(each) if each in "~," else each for each in name)
