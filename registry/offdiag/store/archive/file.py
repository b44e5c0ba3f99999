"""The file format of archives: a zip of parts, then a manifest of its content with digests.

An archive may come from anyone, so each part is checked before it is used.

Nothing is unpacked to disk, so names in the zip cannot point anywhere. What is unpacked in memory
is bounded by the manifest, whatever the zip claims about its sizes.

Parts are Arrow streams of one table each; a large table has several. The file gets its name only
when it is complete, so a half-written archive is never found under that name.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from offdiag.domain.number_text import byte_size
from offdiag.errors import InvalidInput, StorageFull
from offdiag.inputs.files.checks import unreadable
from offdiag.store.archive.whole_file import whole_file

FORMAT = "offdiag archive"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"

MOST_BYTES_IN_PART = 1_100_000_000
"""A part holds 16 MiB and at most one row more, and no database accepts a larger blob in a row."""
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
    """What an archive holds. `schema` is the schema revision that its rows fit.

    `subject` names the database or the project; `sequences` gives the last id that was handed out
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
        found: dict[str, int] = {}
        for part in self.parts:
            found[part.table] = found.get(part.table, 0) + part.n_rows
        return found

    @property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.parts)

    @property
    def n_bytes(self) -> int:
        """Size of all parts in bytes after unpacking."""
        return sum(part.n_bytes for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Head:
    """The fields that the manifest of every format has."""

    format: str
    version: int


_HEAD = TypeAdapter(_Head)
_MANIFEST = TypeAdapter(Manifest)


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
    """The error for a file whose content is not what was written."""
    return InvalidInput(
        f"{name} is not a valid archive: {what}.",
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


_MOST_BYTES_OF_MANIFEST = 64 << 20
_ENCRYPTED = 0x1
# Other methods can expand a few bytes to gigabytes before anything can stop them.
_BOUNDED_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# Everything that zipfile raises for damaged files, found by changing every byte of one.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    ValueError,
)


class ArchiveReader:
    """An archive whose manifest has been read."""

    def __init__(self, name: str, source: zipfile.ZipFile, manifest: Manifest) -> None:
        self._name = name
        self._source = source
        self.manifest = manifest

    def read(self, part: Part) -> bytes:
        """The bytes of a part. Raises `InvalidInput` when they are not what was written."""
        if self._source.getinfo(part.name).file_size != part.n_bytes:
            raise damaged(self._name, f"the length of {part.name} has changed")
        data = _unpacked(self._name, self._source, part.name, part.n_bytes)
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise damaged(self._name, f"the digest of {part.name} has changed")
        return data


@contextmanager
def opened_archive(path: Path, kind: ArchiveKind) -> Iterator[ArchiveReader]:
    """Open an archive and read its manifest.

    Raises `InvalidInput` for a file that cannot be read or is not a complete archive, and for an
    archive of another kind or of a later format.
    """
    with _opened(path) as source:
        yield ArchiveReader(path.name, source, _manifest_in(path.name, source, kind))


def require_disk_space(folder: Path, manifest: Manifest) -> None:
    """Raise `StorageFull` when an archive unpacks to more than the disk has room for."""
    free = shutil.disk_usage(folder).free
    if manifest.n_bytes > free:
        raise StorageFull(
            f"the archive unpacks to {byte_size(manifest.n_bytes)}, and {folder} has "
            f"{byte_size(free)} left.",
            field="file",
            hint="Make room; archives are unpacked below TMPDIR, databases grow where they are.",
        )


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as error:
        raise unreadable(path, error) from None
    except _BROKEN as error:
        raise damaged(path.name, f"it is not a complete zip file ({error})") from None


def _manifest_in(name: str, source: zipfile.ZipFile, kind: ArchiveKind) -> Manifest:
    names = source.namelist()
    if MANIFEST not in names:
        raise damaged(name, "it has no manifest")
    size = source.getinfo(MANIFEST).file_size
    if size > _MOST_BYTES_OF_MANIFEST:
        raise damaged(name, f"its manifest has {size} bytes")
    manifest = read_manifest(name, _unpacked(name, source, MANIFEST, size), kind)
    if sorted(names) != sorted([MANIFEST, *(part.name for part in manifest.parts)]):
        raise damaged(name, "its parts are not those of its manifest")
    return manifest


def _unpacked(name: str, source: zipfile.ZipFile, entry: str, n_bytes: int) -> bytes:
    info = source.getinfo(entry)
    if info.compress_type not in _BOUNDED_METHODS or info.flag_bits & _ENCRYPTED:
        raise damaged(name, f"{entry} is packed in a way that offdiag never uses")
    try:
        with source.open(info) as stream:
            # If asked for all of it, zipfile would unpack everything first and cut it afterwards.
            return stream.read(n_bytes)
    except (*_BROKEN, OSError) as error:
        raise damaged(name, f"{entry} cannot be read ({error})") from None


Progress = Callable[[int, int], None]
"""Called with the rows done and the total number of rows; an exception from it aborts the work."""


def ignored(n_done: int, n_rows: int) -> None:
    """A progress callback that does nothing."""


class ArchiveWriter:
    """Adds parts to an archive that is being written; `manifest` grows with them."""

    def __init__(
        self, target: zipfile.ZipFile, manifest: Manifest, n_rows: int, progress: Progress
    ) -> None:
        self._target = target
        self._n_rows = n_rows
        self._progress = progress
        self.manifest = manifest

    def add(self, table: str, data: bytes, *, n_rows: int) -> None:
        parts = self.manifest.parts
        number = sum(part.table == table for part in parts)
        name = f"tables/{table}/{number:05}.arrow"
        self._target.writestr(name, data)
        part = Part(name, table, n_rows, len(data), hashlib.sha256(data).hexdigest())
        self.manifest = replace(self.manifest, parts=(*parts, part))
        self._progress(self.manifest.n_rows, self._n_rows)


@contextmanager
def written_archive(
    path: Path, manifest: Manifest, *, n_rows: int, progress: Progress
) -> Iterator[ArchiveWriter]:
    """Write an archive of about `n_rows` rows, which `manifest` describes except for its parts.

    Only its owner can read the file. Raises `Conflict` when the file exists, `StorageFull` or
    `InvalidInput` when it cannot be written; then nothing is left behind.
    """
    with (
        whole_file(path, private=True) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        writer = ArchiveWriter(target, manifest, n_rows, progress)
        yield writer
        document = {"format": FORMAT, "version": FORMAT_VERSION, **asdict(writer.manifest)}
        target.writestr(MANIFEST, json.dumps(document, indent=1))
