"""A damaged file is neither backed up nor exported: the archive would look complete."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from offdiag.errors import DatabaseUnavailable
from offdiag.services.retention.backups import back_up, copy_registry
from offdiag.services.retention.project_archives import export_project
from offdiag.store.database import Database
from support.archives import Registry

AN_INDEX_WITHOUT_ENTRIES = """
UPDATE sqlite_master
SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'ix_user_session_user_id')
WHERE name = 'sqlite_autoindex_run_1'
"""
NO_DATE = "UPDATE run SET created_at = '2026-1[-01 02:03:02.805185'"
NO_JSON = "UPDATE run SET params = '{\"lr\": 0.1, '"


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (AN_INDEX_WITHOUT_ENTRIES, "2nd reference to page"),
        (NO_DATE, "a row of run cannot be read"),
        (NO_JSON, "a row of run cannot be read"),
    ],
    ids=["index", "date", "document"],
)
def test_no_archive_is_made_of_a_damaged_file(
    filled_sqlite: Registry, other: Database, tmp_path: Path, damage: str, named: str
) -> None:
    registry = filled_sqlite.database
    assert registry.path is not None
    registry.close()
    with closing(sqlite3.connect(registry.path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(damage)
        connection.commit()
    target = tmp_path / "archive.zip"
    refused = pytest.raises(
        DatabaseUnavailable, match=f"filled.db: its data are damaged: .*{named}.*Restore a backup"
    )

    with refused:
        back_up(registry, target)
    with refused:
        copy_registry(registry, other, force=False)
    with refused:
        export_project(registry, "default", target)

    assert not target.exists()
