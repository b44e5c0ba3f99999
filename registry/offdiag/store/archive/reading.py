"""Reading an archive that anybody may have made: each part is checked before it is used.

Nothing is unpacked to the disk, so names in the zip lead nowhere. What is unpacked in memory is
bounded by what the manifest says, whatever the zip says of itself.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offdiag.errors import InvalidInput, StorageFull
from offdiag.store.archive.manifest import (
    MANIFEST,
    ArchiveKind,
    Manifest,
    Part,
    damaged,
    read_manifest,
)

_MOST_BYTES_OF_MANIFEST = 64 << 20
_ENCRYPTED = 0x1
# Other methods unpack a few bytes to gigabytes before anybody can stop them.
_BOUNDED_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# Everything that zipfile raises for damaged files, by trial with every byte of one changed.
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
            raise damaged(self._name, f"the length of {part.name} is not the one it had")
        data = _unpacked(self._name, self._source, part.name, part.n_bytes)
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise damaged(self._name, f"the digest of {part.name} is not the one it had")
        return data


@contextmanager
def opened_archive(path: Path, kind: ArchiveKind) -> Iterator[ArchiveReader]:
    """Open an archive and read its manifest.

    Raises `InvalidInput` for a file that cannot be read, that is no archive or a torn one, and
    for an archive of another kind or of a later format.
    """
    with _opened(path) as source:
        yield ArchiveReader(path.name, source, _manifest_in(path.name, source, kind))


def require_room(folder: Path, manifest: Manifest) -> None:
    """Raise `StorageFull` where an archive unpacks to more than a disk has room for."""
    free = shutil.disk_usage(folder).free
    if manifest.n_bytes > free:
        raise StorageFull(
            f"the archive unpacks to {_gigabytes(manifest.n_bytes)}, and {folder} has "
            f"{_gigabytes(free)} left.",
            field="file",
            hint="Make room; archives are unpacked below TMPDIR, databases grow where they are.",
        )


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} cannot be read: {error.strerror or error}.",
            field="file",
            hint="Check the path and its permissions.",
        ) from None
    except _BROKEN as error:
        raise damaged(path.name, f"it is no complete zip file ({error})") from None


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
            # Asked for all of it, zipfile would unpack first and cut to the length afterwards.
            return stream.read(n_bytes)
    except (*_BROKEN, OSError) as error:
        raise damaged(name, f"{entry} cannot be read ({error})") from None


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB"
