"""The manifest of an archive: what it holds, of which schema, with the digest of each part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from offdiag.errors import InvalidInput

FORMAT = "offdiag archive"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

MOST_BYTES_IN_PART = 1_100_000_000
"""A part holds 16 MiB and at most one row more, and no database takes a larger blob in it."""
_MOST_ROWS = 2**53

ArchiveKind = Literal["backup", "project"]
TableName = Annotated[str, Field(pattern=r"^[a-z_]{1,60}$")]


@dataclass(frozen=True, slots=True)
class Part:
    """One stream of rows of one table."""

    name: Annotated[str, Field(pattern=r"^tables/[a-z_]{1,60}/[0-9]{5,9}\.arrow$")]
    table: TableName
    n_rows: Annotated[int, Field(ge=0, le=_MOST_ROWS)]
    n_bytes: Annotated[int, Field(ge=0, le=MOST_BYTES_IN_PART)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class Manifest:
    """What an archive holds. `schema` is the revision of the registry that its rows fit.

    `subject` is the database or the project; `sequences` gives the last id that was handed out
    in each table that counts its rows.
    """

    kind: ArchiveKind
    schema: str
    created_at: str
    written_by: str
    subject: str
    sequences: Mapping[TableName, Annotated[int, Field(ge=0, lt=2**63)]]
    parts: tuple[Part, ...] = ()

    @cached_property
    def rows_by_table(self) -> Mapping[str, int]:
        """Rows of each table in all its parts."""
        found: dict[str, int] = {}
        for part in self.parts:
            found[part.table] = found.get(part.table, 0) + part.n_rows
        return found

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(part.n_rows for part in self.parts)

    @property
    def n_bytes(self) -> int:
        """Bytes of all parts once they are unpacked."""
        return sum(part.n_bytes for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Head:
    """What archives of every format say of themselves."""

    format: str
    version: int


_HEAD = TypeAdapter(_Head)
_MANIFEST = TypeAdapter(Manifest)


def manifest_text(manifest: Manifest) -> str:
    """The manifest as it is written."""
    document = {"format": FORMAT, "version": FORMAT_VERSION, **asdict(manifest)}
    return json.dumps(document, indent=1)


def read_manifest(name: str, text: bytes, kind: ArchiveKind) -> Manifest:
    """The manifest of the archive `name`, which must be of this kind.

    Raises `InvalidInput` for anything else, and for a later format.
    """
    try:
        head = _HEAD.validate_json(text, strict=True)
        if head.format != FORMAT:
            raise damaged(name, "it is the archive of another program")
        if head.version > FORMAT_VERSION:
            raise _too_new(name, head.version)
        manifest = _MANIFEST.validate_json(text, strict=True)
    except ValidationError:
        raise damaged(name, "it has no manifest of an offdiag archive") from None
    if manifest.kind != kind:
        raise InvalidInput(
            f"{name} is a {_WORDS[manifest.kind]}, not a {_WORDS[kind]}.",
            field="file",
            hint=_VERBS[manifest.kind],
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
    "backup": "`offdiag db restore` reads it.",
    "project": "`offdiag import archive` reads it.",
}
