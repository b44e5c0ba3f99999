"""Whoever is killed while exporting, importing or restoring has done nothing, or all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from offdiag.services.retention.backups import back_up
from offdiag.services.retention.project_archives import export_project, import_project
from offdiag.store.database import Database
from support.archive_killed_everywhere import NOTHING, WHOLE, digest_of
from support.archives import held, revise
from support.kinds import Kind
from support.logging_runs import log, work_off
from support.processes import started

pytestmark = pytest.mark.processes

KILLS = 3


def kill_everywhere(
    task: str, databases: Kind, database: Database, archive: Path
) -> tuple[set[str], str]:
    """What was there after each kill, and at the end."""
    with databases.copy(database, archive.parent) as rehearsal:
        rehearsal.close()
        arguments = (task, rehearsal.url, database.url, str(archive), str(KILLS))
        with started("support.archive_killed_everywhere", *arguments) as process:
            result = process.result()
    return set(result["after_kills"]), result["at_the_end"]


@pytest.fixture
def logged(sqlite_database: Database) -> Database:
    """A registry with two runs, a slice and a correction."""
    log(sqlite_database, sample_ids=[1, 2, 3, 4, 5, 6], slices={"site": ["A", "B"] * 3})
    log(sqlite_database, y_true=["n", "y"], y_pred=["n", "y"], dataset="second")
    revise(sqlite_database, {6: "a"})
    work_off(sqlite_database)
    return sqlite_database


def test_an_export_that_was_killed_has_no_name(
    databases: Kind, logged: Database, tmp_path: Path
) -> None:
    archive = tmp_path / "project.zip"

    after_kills, at_the_end = kill_everywhere("export", databases, logged, archive)

    assert after_kills <= {NOTHING, WHOLE}
    assert NOTHING in after_kills
    assert at_the_end == WHOLE
    # What the killed ones left goes with the first export after an hour.
    for path in tmp_path.glob(".project.zip.*.part"):
        os.utime(path, (0, 0))
    archive.unlink()
    export_project(logged, "default", archive)
    assert list(tmp_path.glob(".*.part")) == []


def test_an_import_that_was_killed_has_changed_nothing(
    databases: Kind, logged: Database, other: Database, tmp_path: Path
) -> None:
    archive = tmp_path / "project.zip"
    export_project(logged, "default", archive)
    log(other, dataset="was here")
    before = digest_of(other)

    after_kills, at_the_end = kill_everywhere("import", databases, other, archive)

    assert after_kills <= {before, at_the_end}
    assert before in after_kills
    assert import_project(other, archive).added == {}


@pytest.mark.both_databases
def test_a_restore_that_was_killed_has_changed_nothing(
    databases: Kind, logged: Database, database: Database, other: Database, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.zip"
    back_up(logged, backup)
    expected = held(logged)
    target = other if database.url == logged.url else database
    log(target, dataset="was here")
    before = digest_of(target)

    after_kills, at_the_end = kill_everywhere("restore", databases, target, backup)

    assert after_kills <= {before, at_the_end}
    assert before in after_kills
    assert held(target) == expected
