"""Names that people gave to things, as segments of the paths of a server."""

from __future__ import annotations

import re
from urllib.parse import quote

DEFAULT_PROJECT = "default"
"""The project of runs that name none; addresses do not name it either."""

_UNFIT = re.compile(r"[~/\\]")
_ESCAPED = re.compile(r"~([0-9A-F]{2})")
_TWINS = (".json", ".csv")
_READABLE = ":@,~"


def name_segment(name: str) -> str:
    """A name as it stands in a URL."""
    return quote(name_in_path(name), safe=_READABLE)


def escaped_start(name: str) -> str:
    """A name that an address uses for something else, with its first character as a code."""
    return f"{escaped_mark(name[0])}{name_segment(name[1:])}"


def name_in_path(name: str) -> str:
    """A name as one segment of a path, before percent-encoding.

    Slashes part segments even where they are percent-encoded, browsers resolve dots, and an
    end such as `.json` names a twin. Such characters are written as `~` and their code.
    """
    written = _UNFIT.sub(lambda found: escaped_mark(found.group()), name)
    if name in {".", ".."} or name.endswith(_TWINS):
        return written.replace(".", escaped_mark("."))
    return written


def name_from_path(segment: str) -> str:
    """The name that `name_in_path` wrote."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), segment)


def escaped_mark(character: str) -> str:
    """A character of a name as `name_from_path` reads it back."""
    return f"~{ord(character):02X}"
