"""Writing query strings."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

_READABLE = ":*@,~\"'"
"""Characters that need no escape in a query and that people would like to read."""


def with_query(path: str, values: Mapping[str, str | None]) -> str:
    """`path` with the values that are there, sorted by key."""
    pairs = [(key, value) for key, value in sorted(values.items()) if value]
    if not pairs:
        return path
    return f"{path}?{urlencode(pairs, safe=_READABLE, quote_via=quote)}"
