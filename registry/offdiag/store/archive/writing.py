"""Writing an archive: a zip of parts, and last a manifest of their digests.

Parts are Arrow streams, one table each; a large table has several. The file gets its name only
when it is complete, so a half-written archive is never found under it.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from offdiag.store.archive.manifest import MANIFEST, Manifest, Part, manifest_text
from offdiag.store.archive.whole_file import whole_file

Progress = Callable[[int, int], None]
"""Is told the rows that were dealt with and those there are; what it raises ends the matter."""


def ignored(n_done: int, n_rows: int) -> None:
    """The progress of what nobody watches."""


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
        """Write one part."""
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

    It can be read by its owner alone. Raises `Conflict` when the file exists, `StorageFull` or
    `InvalidInput` when it cannot be written; nothing is left behind then.
    """
    with (
        whole_file(path, private=True) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        writer = ArchiveWriter(target, manifest, n_rows, progress)
        yield writer
        target.writestr(MANIFEST, manifest_text(writer.manifest))
