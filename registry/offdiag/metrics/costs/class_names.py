"""Names of classes inside a line of text that uses some characters for itself."""

from __future__ import annotations

import re

from offdiag.domain.labels import LabelSet

QUOTED = r'"(?:[^"\\]|\\.)*"'
NAME = rf'\s*(?:{QUOTED}\s*|[^",>:|\\]+)'
_PARTS = re.compile(rf"(?:{QUOTED}|[^\",]|\")+", re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[,>:|*"\\]|^\s|\s\Z|^\Z')


def parts(text: str) -> list[str]:
    """What commas outside of quotes part."""
    return _PARTS.findall(text)


def names(text: str) -> list[str]:
    """The names in a text that bars part, as they are written."""
    return [name.strip() for name in re.findall(NAME, text, flags=re.DOTALL)]


def written(name: str) -> str:
    """A name as it has to be written, in quotes where it would mean something else without."""
    if not _NEEDS_QUOTES.search(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquoted(text: str) -> str:
    """The name that is written."""
    if text.startswith('"'):
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return text


def is_quoted(text: str) -> bool:
    return text.startswith('"')


def code_of(text: str, labels: LabelSet) -> int | None:
    """The code of the class whose name is written, None if there is none."""
    return labels.index.get(unquoted(text))
