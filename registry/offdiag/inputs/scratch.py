"""Temporary folders."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offdiag.errors import NO_ROOM, StorageFull


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A temporary folder that is removed at the end of the block.

    Raises `StorageFull` if it cannot be created, and if it has no room for what the block writes
    to it.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix=f"offdiag-{purpose}-")
    except OSError as error:
        raise _refused(error) from error
    with folder as path:
        try:
            yield Path(path)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise _refused(error) from error
            raise


def _refused(error: OSError) -> StorageFull:
    return StorageFull(
        f"the temporary folder cannot be used: {error.strerror or error}.",
        hint="Make room in it, or set TMPDIR to another folder.",
    )
