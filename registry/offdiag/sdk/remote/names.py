"""Names that people gave to things, as segments of the paths of a server."""

from __future__ import annotations

import re
from urllib.parse import quote

_UNFIT = re.compile(r"[~/\\]")
_TWINS = (".json", ".csv")


def name_segment(name: str) -> str:
    """A name as one segment of a path.

    Slashes part segments even where they are percent-encoded, dots are resolved on the way, and
    an end such as `.json` means something else: these are written as `~` and their code.
    """
    written = _UNFIT.sub(lambda found: _code(found.group()), name)
    if name in {".", ".."} or name.endswith(_TWINS):
        written = written.replace(".", _code("."))
    return quote(written, safe="")


def _code(character: str) -> str:
    return f"~{ord(character):02X}"
