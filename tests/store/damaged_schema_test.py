"""A schema that lacks parts of its revision is named, whatever it lacks, and is no defect."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from offdiag.domain.runs import RunFacts
from offdiag.errors import DatabaseUnavailable
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.retention.backups import back_up
from offdiag.services.verification.verify import verify
from offdiag.store.database import Database
from support.logging_runs import POLICY, log

Operation = Callable[[Database], object]


def reconciled(database: Database) -> object:
    return reconcile(database, POLICY)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("damage", "operation", "named"),
    [
        ("ALTER TABLE report_issue RENAME TO gone", verify, "report_issue"),
        ("ALTER TABLE work RENAME COLUMN lease TO gone", reconciled, "lease"),
        ("ALTER TABLE dataset RENAME COLUMN task TO gone", log, "task"),
        ("DROP INDEX uq_work_key_todo", log, "ON CONFLICT"),
    ],
    ids=["table", "column", "inserted column", "index"],
)
def test_a_missing_part_is_named(
    database: Database, damage: str, operation: Operation, named: str
) -> None:
    log(database, facts=RunFacts(name="before"))
    with database.migrate() as connection:
        connection.execute(text(damage))

    with pytest.raises(
        DatabaseUnavailable, match=f"its schema is damaged: .*{named}.*Restore a backup"
    ) as raised:
        operation(database)

    assert str(raised.value).startswith(f"{database.place}: ")


def test_the_text_of_a_table_that_is_none_is_a_damaged_file(sqlite_database: Database) -> None:
    assert sqlite_database.path is not None
    sqlite_database.close()
    with closing(sqlite3.connect(sqlite_database.path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = CAST(x'435245415445205441424c452072756e20ff2829' "
            "AS TEXT) WHERE name = 'run'"
        )
        connection.commit()

    with pytest.raises(DatabaseUnavailable, match=re.escape("damaged or cut short")):
        verify(sqlite_database)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("damage", "missing"),
    [
        ("ALTER TABLE saved_view RENAME TO gone", "table saved_view"),
        ("ALTER TABLE project RENAME TO gone", "table project"),
        ("ALTER TABLE saved_view RENAME COLUMN name TO gone", "column saved_view.name"),
    ],
)
def test_no_backup_is_made_without_a_table_or_a_column(
    database: Database, tmp_path: Path, damage: str, missing: str
) -> None:
    with database.migrate() as connection:
        connection.execute(text(damage))

    with pytest.raises(DatabaseUnavailable, match=f"its schema is damaged: no {missing}"):
        back_up(database, tmp_path / "backup.zip")
    assert not (tmp_path / "backup.zip").exists()


@pytest.mark.both_databases
def test_a_verification_misses_parts_that_nothing_has_read(database: Database) -> None:
    assert verify(database).findings == ()
    with database.migrate() as connection:
        connection.execute(text("DROP INDEX uq_flag_slice"))
        connection.execute(text("ALTER TABLE saved_view RENAME TO gone"))

    assert {each.sentence for each in verify(database).findings} == {
        "it has no index uq_flag_slice.",
        "it has no table saved_view.",
    }
