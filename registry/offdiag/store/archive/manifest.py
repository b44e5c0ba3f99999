"""The manifest of an archive: what it holds, of which schema, with the digest of each part."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from offdiag.errors import InvalidInput

FORMAT = "offdiag archive"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

ArchiveKind = Literal["backup", "project"]


@dataclass(frozen=True, slots=True)
class Part:
    """One stream of rows of one table."""

    name: str
    table: str
    n_rows: int
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What an archive holds. `schema` is the revision of the registry that its rows fit.

    `sequences` gives the last id that was handed out in each table that counts its rows.
    """

    kind: ArchiveKind
    schema: str
    created_at: str
    written_by: str
    subject: str
    sequences: Mapping[str, int]
    parts: tuple[Part, ...]

    def n_rows(self, table: str) -> int:
        """Rows of one table in all parts."""
        return sum(part.n_rows for part in self.parts if part.table == table)


def manifest_text(facts: Mapping[str, Any], parts: Sequence[Part]) -> str:
    """The manifest as it is written; `facts` are its fields beside the parts."""
    document = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        **facts,
        "parts": [asdict(part) for part in parts],
    }
    return json.dumps(document, indent=1)


def read_manifest(name: str, text: bytes, kind: ArchiveKind) -> Manifest:
    """The manifest of the archive `name`, which must be of this kind.

    Raises `InvalidInput` for anything else, and for a later format.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise damaged(name, "it is the archive of another program")
        if document["version"] > FORMAT_VERSION:
            raise _too_new(name, document["version"])
        manifest = Manifest(
            kind=document["kind"],
            schema=document["schema"],
            created_at=document["created_at"],
            written_by=document["written_by"],
            subject=document["subject"],
            sequences=document["sequences"],
            parts=tuple(Part(**part) for part in document["parts"]),
        )
        found, wanted = _WORDS[manifest.kind], _WORDS[kind]
    except InvalidInput:
        raise
    except (KeyError, TypeError, ValueError):
        raise damaged(name, "it has no manifest of an offdiag archive") from None
    if found != wanted:
        raise InvalidInput(
            f"{name} is a {found}, not a {wanted}.", field="file", hint=_VERBS[manifest.kind]
        )
    return manifest


def damaged(name: str, what: str) -> InvalidInput:
    """The error for a file that is not what was written."""
    return InvalidInput(
        f"{name} is not a whole archive: {what}.",
        field="file",
        hint="Nothing was changed. Copy the file again, or use another one.",
    )


def _too_new(name: str, version: int) -> InvalidInput:
    return InvalidInput(
        f"{name} has format {version}; this version of offdiag reads up to {FORMAT_VERSION}.",
        field="file",
        hint="Install a newer offdiag: pip install --upgrade offdiag",
    )


_WORDS = {"backup": "backup of a registry", "project": "project"}
_VERBS = {
    "backup": "offdiag db restore reads it.",
    "project": "offdiag import project reads it.",
}
