"""Backups of a whole registry, and registries out of backups."""

from __future__ import annotations

from pathlib import Path

from offdiag.errors import Conflict
from offdiag.inputs.scratch import scratch_folder
from offdiag.store.archive import backup
from offdiag.store.archive.file import Manifest, Progress, ignored, opened_archive
from offdiag.store.database import Database
from offdiag.version import offdiag_version


def back_up(database: Database, path: Path, *, progress: Progress = ignored) -> Manifest:
    """Write everything a registry holds into one file, as it is at one moment.

    Others go on working meanwhile. The file can be read by its owner alone. Raises `Conflict`
    for a file that exists, `InvalidInput` for one that cannot be written, `SchemaMismatch` for
    a database that holds no registry or that of a newer version.
    """
    return backup.write_backup(
        database,
        path,
        written_by=f"offdiag {offdiag_version()}",
        now=database.clock(),
        progress=progress,
    )


def read_backup(path: Path) -> Manifest:
    """What a backup says of itself. Raises `InvalidInput` for a file that is none."""
    with opened_archive(path, "backup") as archive:
        return archive.manifest


def restore(
    database: Database, path: Path, *, force: bool, progress: Progress = ignored
) -> Manifest:
    """Fill an empty database with a backup, of whichever kind of database it was made.

    With `force` a database that holds something is replaced. All or nothing. Raises
    `InvalidInput` for a torn file, `Conflict` for a database that is not empty, and
    `SchemaMismatch` where the backup or the database needs a newer offdiag.
    """
    return backup.restore_backup(database, path, force=force, progress=progress)


def copy_registry(
    source: Database, target: Database, *, force: bool, progress: Progress = ignored
) -> Manifest:
    """Fill `target` with everything `source` holds at one moment, whichever kinds they are.

    Every row is read back and compared by digest before the target is committed. Others may go
    on with the source; what they add after that moment is not copied. The copy passes through
    a file in the temporary folder of this machine, which is removed. Raises as `back_up` and
    `restore` do, and `Conflict` where both are the same database.
    """
    if source.place == target.place:
        raise Conflict(
            f"{source.place} is both ends.", field="database", hint="Name another database."
        )
    with scratch_folder("copy") as folder:
        path = folder / "registry.zip"
        back_up(source, path, progress=progress)
        return backup.restore_backup(target, path, force=force, progress=progress, is_checked=True)


def holds_a_registry(database: Database) -> bool:
    """Whether restoring to this database would replace something."""
    return not backup.is_empty(database)
