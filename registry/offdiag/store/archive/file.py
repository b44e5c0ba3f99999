"""The archive file: a zip of parts with a manifest of their digests.

Parts are Arrow streams, one table each; a large table has several. The manifest is written
last, and the file gets its name only when it is complete, so a half-written archive is never
found under it. Reading checks every part against the manifest before anybody uses it.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from offdiag.errors import Conflict, InvalidInput
from offdiag.store.archive.manifest import (
    MANIFEST,
    ArchiveKind,
    Manifest,
    Part,
    damaged,
    manifest_text,
    read_manifest,
)


class ArchiveWriter:
    """Adds parts to an archive that is being written."""

    def __init__(self, target: zipfile.ZipFile) -> None:
        self._target = target
        self.parts: list[Part] = []

    def add(self, table: str, data: bytes, *, n_rows: int) -> None:
        """Write one part."""
        number = sum(part.table == table for part in self.parts)
        name = f"tables/{table}/{number:05}.arrow"
        self._target.writestr(name, data)
        digest = hashlib.sha256(data).hexdigest()
        self.parts.append(Part(name, table, n_rows, len(data), digest))


@contextmanager
def written_archive(path: Path, facts: Mapping[str, Any]) -> Iterator[ArchiveWriter]:
    """Write an archive; `facts` are the fields of the manifest beside its parts.

    Raises `Conflict` when the file exists and `InvalidInput` when it cannot be written; nothing
    is left behind then.
    """
    if path.exists():
        raise Conflict(
            f"{str(path)!r} exists.", field="file", hint="Name another file, or remove this one."
        )
    unfinished = path.with_name(f"{path.name}.unfinished-{os.getpid()}")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
            writer = ArchiveWriter(target)
            yield writer
            target.writestr(MANIFEST, manifest_text(facts, writer.parts))
        with unfinished.open("rb+") as written:
            os.fsync(written.fileno())
        unfinished.rename(path)
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be written: {error.strerror or error}.",
            field="file",
            hint="Check the folder, its permissions and the room on the disk.",
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


class ArchiveReader:
    """An archive whose manifest has been read."""

    def __init__(self, path: Path, source: zipfile.ZipFile, manifest: Manifest) -> None:
        self._path = path
        self._source = source
        self.manifest = manifest

    def read(self, part: Part) -> bytes:
        """The bytes of a part. Raises `InvalidInput` when they are not what was written."""
        name = self._path.name
        if self._source.getinfo(part.name).file_size != part.n_bytes:
            raise damaged(name, f"the length of {part.name} is not the one it had")
        try:
            data = self._source.read(part.name)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
            raise damaged(name, f"{part.name} cannot be read ({error})") from None
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise damaged(name, f"the digest of {part.name} is not the one it had")
        return data


@contextmanager
def opened_archive(path: Path, kind: ArchiveKind) -> Iterator[ArchiveReader]:
    """Open an archive and read its manifest.

    Raises `InvalidInput` for a file that cannot be read, that is no archive or a torn one, and
    for an archive of another kind or of a later format.
    """
    try:
        with zipfile.ZipFile(path) as source:
            yield ArchiveReader(path, source, _manifest_in(path, source, kind))
    except (zipfile.BadZipFile, EOFError) as error:
        raise damaged(path.name, f"it is no complete zip file ({error})") from None
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read: {error.strerror or error}.",
            field="file",
            hint="Check the path and its permissions.",
        ) from None


def _manifest_in(path: Path, source: zipfile.ZipFile, kind: ArchiveKind) -> Manifest:
    names = set(source.namelist())
    if MANIFEST not in names:
        raise damaged(path.name, "it has no manifest")
    manifest = read_manifest(path.name, source.read(MANIFEST), kind)
    if names != {MANIFEST, *(part.name for part in manifest.parts)}:
        raise damaged(path.name, "its parts are not those of its manifest")
    return manifest
