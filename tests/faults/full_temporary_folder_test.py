"""A temporary folder that is read-only or full is said to be so, and costs nothing else."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from offdiag.errors import StorageFull
from offdiag.inputs.scratch import scratch_folder
from offdiag.services.retention.backups import copy_registry
from offdiag.services.sql import run_query
from offdiag.store.database import Database
from offdiag.store.models import RunRow
from offdiag.store.relations.columns import RunScope
from support.contents import count_rows
from support.full_disks import fill, small_disk
from support.logging_runs import log
from support.registries import dashboard

CSV = b"y_pred,y_true\r\na,a\r\nb,a\r\n"


@pytest.fixture
def unusable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which nobody can make anything, not even root."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one mebibyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    with small_disk(folder, "size=1m"):
        yield folder


def ask_in_sql(database: Database) -> None:
    with run_query(database, "SELECT count(*) FROM runs", RunScope(), timeout_s=60) as answer:
        list(answer.batches)


def copy_it(database: Database) -> None:
    assert database.path is not None
    target = Database(f"sqlite:///{database.path.with_name('copy.db')}")
    try:
        copy_registry(database, target, force=False)
    finally:
        target.close()


@pytest.mark.parametrize("act", [ask_in_sql, copy_it])
@pytest.mark.usefixtures("unusable")
def test_what_needs_a_temporary_folder_names_it(
    sqlite_database: Database, act: Callable[[Database], None]
) -> None:
    log(sqlite_database)

    with pytest.raises(StorageFull, match="the temporary folder cannot be used: ") as refusal:
        act(sqlite_database)

    assert "TMPDIR" in (refusal.value.hint or "")


def test_a_table_that_is_sent_is_answered_with_no_room_and_can_be_sent_again(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = dashboard(sqlite_database).test_client()
    opened = client.post(
        "/api/v1/runs", json={"name": "run", "dataset": "d", "labels": ["a", "b"]}
    )
    address = f"/api/v1/runs/{opened.get_json()['id']}/chunks/0"
    (tmp_path / "file").touch()

    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", str(tmp_path / "file"))
        refused = client.put(address, data=CSV, content_type="text/csv")
        read = client.get("/runs")
    accepted = client.put(address, data=CSV, content_type="text/csv")

    assert refused.status_code == 507
    assert "TMPDIR" in refused.get_json()["error"]["hint"]
    assert read.status_code == 200
    assert accepted.status_code == 201


def test_a_folder_without_room_is_emptied_again(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(disk))

    with pytest.raises(StorageFull, match="No space left"), scratch_folder("test") as folder:
        (folder / "large").write_bytes(bytes(2 << 20))

    assert list(disk.iterdir()) == []


def test_other_errors_of_files_are_left_alone() -> None:
    with pytest.raises(FileNotFoundError), scratch_folder("test") as folder:
        (folder / "nowhere" / "file").touch()


def n_logged_until_full(database: Database) -> int:
    """How many runs are acknowledged before one is refused for want of room."""
    for number in range(200):
        try:
            log(database)
        except StorageFull as error:
            assert "the disk is full" in error.message  # noqa: PT017 - how many came before matters
            return number
    raise AssertionError("there is room for all of them")


def test_the_disk_under_a_registry_is_really_full_and_has_room_again(
    disk: Path, migrated_file: Path
) -> None:
    subprocess.run(["mount", "-o", "remount,size=12m", disk], check=True)
    path = disk / "registry.db"
    path.write_bytes(migrated_file.read_bytes())
    database = Database(f"sqlite:///{path}")
    client = dashboard(database).test_client()
    log(database)
    filler = disk / "filler"

    fill(filler)
    acknowledged = 1 + n_logged_until_full(database)
    while_full = client.get("/runs").status_code
    filler.unlink()
    log(database)

    assert while_full == 200
    assert count_rows(database, RunRow) == acknowledged + 1
    database.close()
    # Closing moves the log into the file; the next one finds all of it there.
    assert count_rows(Database(f"sqlite:///{path}"), RunRow) == acknowledged + 1
