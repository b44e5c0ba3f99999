"""Query strings of addresses, and groups of classes in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

from offdiag.domain.texts import escaped_mark, name_from_path

_READABLE = ":*@,~\"'"
"""Characters that need no escape in a query and that people would like to read."""


def with_query(path: str, values: Mapping[str, str | None]) -> str:
    """`path` with the values that are there, sorted by key."""
    pairs = [(key, value) for key, value in sorted(values.items()) if value]
    if not pairs:
        return path
    return f"{path}?{urlencode(pairs, safe=_READABLE, quote_via=quote)}"


_SEPARATOR = ","


def groups_text(names: Iterable[str]) -> str | None:
    """Names as one value of a query, None where there are none."""
    return _SEPARATOR.join(map(_written, names)) or None


def read_groups(text: str | None) -> tuple[str, ...]:
    """The names that `groups_text` wrote, each once."""
    parts = (text or "").split(_SEPARATOR)
    return tuple(dict.fromkeys(name_from_path(part) for part in parts if part))


def _written(name: str) -> str:
    return "".join(escaped_mark(each) if each in "~," else each for each in name)
