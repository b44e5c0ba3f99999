"""A folder of backups: one for each hour or day, the newest stay, whoever was killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from offdiag.errors import InvalidInput, StorageFull
from offdiag.services.retention.backups import (
    back_up,
    back_up_if_due,
    overdue_since,
    stored_backups,
)
from offdiag.settings import BackupSettings
from offdiag.store.database import Database
from support.logging_runs import log

START = datetime(2026, 11, 20, 14, 25, tzinfo=UTC)


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def registry(sqlite_database: Database, clock: Clock) -> Iterator[Database]:
    """A registry with a run, whose clock is the test's."""
    log(sqlite_database)
    database = Database(sqlite_database.url, synchronous="normal", clock=clock)
    yield database
    database.close()


@pytest.fixture
def settings(tmp_path: Path) -> BackupSettings:
    return BackupSettings(folder=str(tmp_path / "backups"), keep=3)


def names(settings: BackupSettings) -> list[str]:
    return sorted(path.name for path in Path(settings.folder).iterdir())


def test_each_hour_gets_one_backup(
    registry: Database, settings: BackupSettings, clock: Clock
) -> None:
    first = back_up_if_due(registry, settings)
    clock.now += timedelta(minutes=34)
    second = back_up_if_due(registry, settings)
    clock.now += timedelta(minutes=1)
    third = back_up_if_due(registry, settings)

    assert (first is None, second, third is None) == (False, None, False)
    assert names(settings) == ["registry-20261120T1400Z.zip", "registry-20261120T1500Z.zip"]


def test_each_day_gets_one_backup(registry: Database, tmp_path: Path, clock: Clock) -> None:
    settings = BackupSettings(folder=str(tmp_path / "backups"), every="day")

    for _ in range(30):
        back_up_if_due(registry, settings)
        clock.now += timedelta(hours=1)

    assert names(settings) == ["registry-20261120T0000Z.zip", "registry-20261121T0000Z.zip"]


def test_only_the_newest_stay_and_files_of_others_are_left_alone(
    registry: Database, settings: BackupSettings, clock: Clock
) -> None:
    folder = Path(settings.folder)
    folder.mkdir()
    others = ["notes.txt", "other-20200101T0000Z.zip", "registry-of-ada.zip"]
    for name in others:
        (folder / name).touch()

    for _ in range(5):
        back_up_if_due(registry, settings)
        clock.now += timedelta(hours=1)

    hours = [f"registry-20261120T{hour}00Z.zip" for hour in (16, 17, 18)]
    assert names(settings) == sorted([*hours, *others])
    assert [backup.path.name for backup in stored_backups(registry, settings)] == hours[::-1]


def test_old_backups_stay_while_no_new_one_can_be_made(
    registry: Database, settings: BackupSettings, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        back_up_if_due(registry, settings)
        clock.now += timedelta(hours=1)
    before = names(settings)

    def no_room(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("offdiag.store.archive.backup.encode_rows", no_room)
    with pytest.raises(StorageFull, match="the disk is full"):
        back_up_if_due(registry, settings)

    assert names(settings) == before


def test_what_a_killed_process_left_goes_with_the_next_backup(
    registry: Database, settings: BackupSettings
) -> None:
    folder = Path(settings.folder)
    folder.mkdir()
    abandoned = folder / ".registry-20261120T0300Z.zip.ab12.part"
    abandoned.touch()
    os.utime(abandoned, (0, 0))

    back_up_if_due(registry, settings)

    assert names(settings) == ["registry-20261120T1400Z.zip"]


def test_another_process_may_be_faster(
    registry: Database, settings: BackupSettings, clock: Clock
) -> None:
    file = Path(settings.folder) / "registry-20261120T1400Z.zip"

    def overtake(_done: int, _rows: int) -> None:
        if not file.exists():
            back_up(registry, file)

    assert back_up_if_due(registry, settings, progress=overtake) is None
    assert names(settings) == [file.name]


def test_a_folder_of_another_registry_is_refused(
    registry: Database, other: Database, settings: BackupSettings
) -> None:
    path = Path(settings.folder) / "registry-20261120T1400Z.zip"
    path.parent.mkdir()
    back_up(other, path)

    with pytest.raises(InvalidInput, match=r"is a backup of .*other\.db.*its own folder"):
        back_up_if_due(registry, settings)


def test_a_folder_that_cannot_be_made_is_said_so(registry: Database, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(InvalidInput, match=r"backup\.folder: .* cannot be made"):
        back_up_if_due(registry, BackupSettings(folder=str(tmp_path / "file" / "backups")))


def test_backups_from_before_the_clock_was_set_back_are_removed_before_new_ones(
    registry: Database, settings: BackupSettings, clock: Clock
) -> None:
    for hours in (48, 49, 50):
        clock.now = START + timedelta(hours=hours)
        back_up_if_due(registry, settings)

    clock.now = START
    made = back_up_if_due(registry, settings)

    assert made is not None
    assert made.exists()
    assert stored_backups(registry, settings)[0].path == made
    clock.now = START + timedelta(hours=2)
    assert overdue_since(registry, settings) is not None


def test_backups_are_overdue_from_the_second_missed_one_on(
    registry: Database, settings: BackupSettings, clock: Clock
) -> None:
    assert overdue_since(registry, settings) is not None

    back_up_if_due(registry, settings)

    clock.now = datetime(2026, 11, 20, 15, 59, tzinfo=UTC)
    assert overdue_since(registry, settings) is None
    clock.now = datetime(2026, 11, 20, 16, 0, tzinfo=UTC)
    assert overdue_since(registry, settings) == datetime(2026, 11, 20, 15, 0, tzinfo=UTC)
