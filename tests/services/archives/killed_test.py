"""Whoever is killed while exporting, importing or restoring has done nothing, or all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from offdiag.services.retention.backups import back_up
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.archive_killed_everywhere import NOTHING, WHOLE, digest_of
from support.archives import held, revise
from support.logging_runs import log, work_off
from support.processes import started

pytestmark = pytest.mark.processes

# How many steps later each process is killed than the one before; few enough kills to be quick,
# and no divisor of anything.
STRIDES = {"export": 23, "import": 271, "restore": 311}
# Beside statements and commits, steps are what is done to files, which is little on a server.
STRIDES_ON_A_SERVER = {"restore": 97}


def kill_everywhere(task: str, database: Database, archive: Path) -> tuple[int, set[str], str]:
    database.close()
    strides = STRIDES if database.path else STRIDES_ON_A_SERVER
    arguments = (task, database.url, str(archive), str(strides[task]))
    with started("support.archive_killed_everywhere", *arguments) as process:
        result = process.result()
    return result["kills"], set(result["after_kills"]), result["at_the_end"]


@pytest.fixture
def logged(sqlite_database: Database) -> Database:
    """A registry with two runs, a slice and a correction."""
    log(sqlite_database, sample_ids=[1, 2, 3, 4, 5, 6], slices={"site": ["A", "B"] * 3})
    log(sqlite_database, y_true=["n", "y"], y_pred=["n", "y"], dataset="second")
    revise(sqlite_database, {6: "a"})
    work_off(sqlite_database)
    return sqlite_database


def test_an_export_that_was_killed_has_no_name(logged: Database, tmp_path: Path) -> None:
    archive = tmp_path / "project.zip"

    kills, after_kills, at_the_end = kill_everywhere("export", logged, archive)

    assert kills >= 5
    assert after_kills <= {NOTHING, WHOLE}
    assert NOTHING in after_kills
    assert at_the_end == WHOLE
    # What the killed ones left goes with the first export after an hour.
    for path in tmp_path.glob(".project.zip.*.part"):
        os.utime(path, (0, 0))
    archive.unlink()
    export_project(logged, "default", archive)
    assert list(tmp_path.glob(".*.part")) == []


def test_an_import_that_was_killed_has_changed_nothing(logged: Database, tmp_path: Path) -> None:
    archive = tmp_path / "project.zip"
    export_project(logged, "default", archive)
    target = Database(f"sqlite:///{tmp_path / 'target.db'}", synchronous="normal")
    upgrade(target)
    log(target, dataset="was here")
    before = digest_of(target)

    kills, after_kills, at_the_end = kill_everywhere("import", target, archive)

    assert kills >= 5
    assert after_kills <= {before, at_the_end}
    assert before in after_kills
    assert import_project(target, archive).added == {}
    target.close()


@pytest.mark.both_databases
def test_a_restore_that_was_killed_has_changed_nothing(
    logged: Database, database: Database, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.zip"
    back_up(logged, backup)
    expected = held(logged)
    target = database
    if database.url == logged.url:
        target = Database(f"sqlite:///{tmp_path / 'target.db'}", synchronous="normal")
        upgrade(target)
    log(target, dataset="was here")
    before = digest_of(target)

    kills, after_kills, at_the_end = kill_everywhere("restore", target, backup)

    assert kills >= 4
    assert after_kills <= {before, at_the_end}
    assert before in after_kills
    assert held(target) == expected
    target.close()
