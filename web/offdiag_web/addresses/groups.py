"""Groups of classes in addresses: by name, so that a link outlives a change of their order."""

from __future__ import annotations

from collections.abc import Iterable

from offdiag.domain.names import escaped_mark, name_from_path

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
