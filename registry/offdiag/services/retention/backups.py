"""Backups of a registry, restoring them, copying registries, and a folder of regular backups.

The folder has one backup for each hour or day, of which the newest are kept. The name of a file
says for which hour it is, so the files themselves show whether a backup is due, however many
processes check and whichever of them was killed.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from offdiag.errors import Conflict, InvalidInput
from offdiag.inputs.scratch import scratch_folder
from offdiag.settings import BackupSettings
from offdiag.store.archive import backup
from offdiag.store.archive.file import Manifest, Progress, ignored, opened_archive
from offdiag.store.archive.whole_file import remove_abandoned
from offdiag.store.database import Database
from offdiag.version import offdiag_version


def back_up(database: Database, path: Path, *, progress: Progress = ignored) -> Manifest:
    """Write the complete content of a registry, as of one moment, into one file.

    Others can go on working meanwhile. Only the owner can read the file. Raises `Conflict` for a
    file that exists, `InvalidInput` for one that cannot be written, `SchemaMismatch` for a
    database without a registry or with that of a newer version.
    """
    return backup.write_backup(
        database,
        path,
        written_by=f"offdiag {offdiag_version()}",
        now=database.clock(),
        progress=progress,
    )


def read_backup(path: Path) -> Manifest:
    """The manifest of a backup. Raises `InvalidInput` for a file that is not a backup."""
    with opened_archive(path, "backup") as archive:
        return archive.manifest


def restore(
    database: Database, path: Path, *, force: bool, progress: Progress = ignored
) -> Manifest:
    """Fill an empty database from a backup, whichever kind of database it was made from.

    With `force` the content of the database is replaced. All or nothing. Raises `InvalidInput` for
    an incomplete file, `Conflict` for a database that is not empty, and `SchemaMismatch` if the
    backup or the database needs a newer offdiag.
    """
    return backup.restore_backup(database, path, force=force, progress=progress)


def copy_registry(
    source: Database, target: Database, *, force: bool, progress: Progress = ignored
) -> Manifest:
    """Fill `target` with the complete content of `source`, whichever kinds of database they are.

    Every row is read back and compared by digest before the target is committed. Others can go on
    using the source; what they add after the copy has begun is not copied. The copy passes through
    a file in the temporary folder of this machine, which is removed. Raises like `back_up` and
    `restore`, and `Conflict` if both are the same database.
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


_OWNER_ONLY = 0o700
_MOMENT = "%Y%m%dT%H%MZ"
_LENGTH = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """A backup in the folder, and the start of the hour or day that it is for."""

    path: Path
    moment: datetime


def back_up_if_due(
    database: Database, settings: BackupSettings, *, progress: Progress = ignored
) -> Path | None:
    """Back up an SQLite registry unless this hour or day has a backup, then remove old ones.

    Returns the file, None if nothing was due. Raises `InvalidInput` for a folder that cannot be
    written or that has backups of another registry.
    """
    folder = Path(settings.folder).expanduser().absolute()
    hour = database.clock().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    moment = hour if settings.every == "hour" else hour.replace(hour=0)
    path = folder / f"{_stem(database)}-{moment.strftime(_MOMENT)}.zip"
    if path.exists():
        subject = read_backup(path).subject
        if subject != database.place:
            raise InvalidInput(
                f"{str(path)!r} is a backup of {subject}.",
                field="backup.folder",
                hint="Give every registry its own folder.",
            )
        return None
    _make(folder)
    remove_abandoned(folder, f"{glob.escape(_stem(database))}-*.zip")
    try:
        back_up(database, path, progress=progress)
    except Conflict:
        return None  # Another process was faster.
    for old in stored_backups(database, settings)[settings.keep :]:
        old.path.unlink(missing_ok=True)
    return path


def stored_backups(database: Database, settings: BackupSettings) -> list[StoredBackup]:
    """The backups of a registry in the folder, newest first.

    Those from before the clock was set back come last: they are not what they are named.
    """
    name = re.compile(rf"{re.escape(_stem(database))}-(\d{{8}}T\d{{4}}Z)\.zip")
    found = []
    for path in Path(settings.folder).expanduser().absolute().glob("*.zip"):
        match = name.fullmatch(path.name)
        if match is not None:
            moment = datetime.strptime(match[1], _MOMENT).replace(tzinfo=UTC)
            found.append(StoredBackup(path, moment))
    now = database.clock()
    return sorted(found, key=lambda each: (each.moment <= now, each.moment), reverse=True)


def overdue_since(database: Database, settings: BackupSettings) -> datetime | None:
    """When the next backup was due, if it is overdue, else None.

    A process may have been stopped for a while, so a backup counts as overdue only once a second
    one has been missed. A folder without backups is overdue since 1970.
    """
    now, length = database.clock(), _LENGTH[settings.every]
    past = (each.moment for each in stored_backups(database, settings) if each.moment <= now)
    expected = next(past, datetime.fromtimestamp(0, UTC)) + length
    return expected if now >= expected + length else None


def _stem(database: Database) -> str:
    assert database.path is not None  # noqa: S101  # Never called on PostgreSQL.
    return database.path.stem


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{str(folder)!r} cannot be made: {error.strerror or error}.",
            field="backup.folder",
            hint="Name a folder this user can write to.",
        ) from error
