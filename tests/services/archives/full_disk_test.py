"""On a full disk an archive is taken over as a whole or not at all, and later it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from offdiag.errors import StorageFull
from offdiag.services.retention.backups import back_up, restore
from offdiag.services.retention.project_archives import import_project
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from support.archives import held, run_ids
from support.full_disks import full_disk
from support.logging_runs import log, work_off


def test_an_import_that_finds_no_room_has_changed_nothing(
    database: Database, archive: Path
) -> None:
    log(database, dataset="was here")
    work_off(database)
    before = held(database)

    with full_disk(database):
        with pytest.raises(StorageFull):
            import_project(database, archive)
        assert held(database) == before
        assert verify(database).is_clean

    assert len(import_project(database, archive).new_runs) == 5


def test_a_restore_that_finds_no_room_has_changed_nothing(
    sqlite_database: Database, other: Database, tmp_path: Path
) -> None:
    for number in range(8):
        log(other, dataset=f"d{number}")
    work_off(other)
    back_up(other, tmp_path / "backup.zip")
    kept = log(sqlite_database)

    with full_disk(sqlite_database), pytest.raises(StorageFull):
        restore(sqlite_database, tmp_path / "backup.zip", force=True)

    assert run_ids(sqlite_database) == [kept.id]
    restore(sqlite_database, tmp_path / "backup.zip", force=True)
    assert held(sqlite_database) == held(other)
