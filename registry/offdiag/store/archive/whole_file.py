"""Writing a new file that gets its name only when it is complete and on disk."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from offdiag.errors import NO_ROOM, Conflict, InvalidInput, StorageFull

_ABANDONED_AFTER_S = 3_600.0
_OWNER_ONLY = 0o600
_BY_UMASK = 0o666
_NO_LINKS_HERE = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV}


@contextmanager
def whole_file(path: Path, *, private: bool) -> Iterator[BinaryIO]:
    """Write a file that must not exist yet; if that fails, nothing is left behind.

    Until the end it is called `.NAME.<random>.part`. A file that a killed process left under such
    a name is removed by the next process that writes NAME, after an hour without a change. A
    `private` file can be read by its owner alone.

    Raises `Conflict` when the file exists, `StorageFull` when the disk has no room for it, and
    `InvalidInput` when it cannot be written for another reason.
    """
    try:
        _refuse_existing(path)
        remove_abandoned(path.parent, glob.escape(path.name))
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        descriptor = os.open(unfinished, flags, _OWNER_ONLY if private else _BY_UMASK)
        try:
            with os.fdopen(descriptor, "w+b") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _give_name(unfinished, path)
        finally:
            with suppress(FileNotFoundError):
                unfinished.unlink()
        sync_folder(path.parent)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise StorageFull(
                f"{str(path)!r} cannot be written: the disk is full.",
                field="file",
                hint="Make room and try again; nothing was left behind.",
            ) from error
        raise InvalidInput(
            f"{str(path)!r} cannot be written: {error.strerror or error}.",
            field="file",
            hint="Check the folder and its permissions.",
        ) from error


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove unfinished files that match a pattern and that no process is writing any more."""
    before = time.time() - _ABANDONED_AFTER_S
    for path in folder.glob(f".{pattern}.*.part"):
        with suppress(FileNotFoundError):
            if path.lstat().st_mtime < before:
                path.unlink()


def _refuse_existing(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise _existing(path)


def _existing(path: Path) -> Conflict:
    return Conflict(
        f"{str(path)!r} exists.", field="file", hint="Name another file, or remove this one."
    )


def _give_name(unfinished: Path, path: Path) -> None:
    """Link the file to its name, which fails if the name is taken; a rename would replace it."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        raise _existing(path) from None
    except OSError as error:
        if error.errno not in _NO_LINKS_HERE:
            raise
        _refuse_existing(path)
        unfinished.rename(path)


def sync_folder(folder: Path) -> None:
    """Flush a folder to disk, without which a new name does not survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
