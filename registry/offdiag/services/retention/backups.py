"""Backups of a whole registry, registries out of backups, and a folder of backups.

The folder has one for each hour or day, of which the newest stay.

The name of a file says which hour it is of, so the files themselves tell whether a backup is
due, however many processes ask and whichever of them was killed.
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


_OWNER_ONLY = 0o700
_MOMENT = "%Y%m%dT%H%MZ"
_LENGTH = {"hour": timedelta(hours=1), "day": timedelta(days=1)}


@dataclass(frozen=True, slots=True)
class StoredBackup:
    """A backup in the folder, and the beginning of the hour or day it is of."""

    path: Path
    moment: datetime


def back_up_if_due(
    database: Database, settings: BackupSettings, *, progress: Progress = ignored
) -> Path | None:
    """Back up an SQLite registry unless this hour or day has its backup, then remove old ones.

    Returns the file, None where nothing was due. Raises `InvalidInput` for a folder that cannot
    be written or that holds backups of another registry.
    """
    folder = Path(settings.folder).expanduser().absolute()
    moment = _beginning(database.clock(), settings)
    path = folder / f"{_stem(database)}-{moment.strftime(_MOMENT)}.zip"
    if path.exists():
        _require_of(database, path)
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
    """The backups of a registry in the folder, newest first."""
    name = re.compile(rf"{re.escape(_stem(database))}-(\d{{8}}T\d{{4}}Z)\.zip")
    found = []
    for path in Path(settings.folder).expanduser().absolute().glob("*.zip"):
        match = name.fullmatch(path.name)
        if match is not None:
            moment = datetime.strptime(match[1], _MOMENT).replace(tzinfo=UTC)
            found.append(StoredBackup(path, moment))
    return sorted(found, key=lambda backup: backup.moment, reverse=True)


def overdue_since(database: Database, settings: BackupSettings) -> datetime | None:
    """When the newest backup should have been followed by another, if that is so.

    A process may have been stopped for a while; from the second missed one on somebody should
    look. A folder without backups is overdue since 1970.
    """
    stored = stored_backups(database, settings)
    length = _LENGTH[settings.every]
    expected = (stored[0].moment if stored else datetime.fromtimestamp(0, UTC)) + length
    return expected if database.clock() >= expected + length else None


def _stem(database: Database) -> str:
    assert database.path is not None  # noqa: S101  # Nobody asks on PostgreSQL.
    return database.path.stem


def _beginning(now: datetime, settings: BackupSettings) -> datetime:
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return hour if settings.every == "hour" else hour.replace(hour=0)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{str(folder)!r} cannot be made: {error.strerror or error}.",
            field="backup.folder",
            hint="Name a folder that this user may write.",
        ) from error


def _require_of(database: Database, path: Path) -> None:
    subject = read_backup(path).subject
    if subject != database.place:
        raise InvalidInput(
            f"{str(path)!r} is a backup of {subject}.",
            field="backup.folder",
            hint="Give every registry a folder of its own.",
        )
