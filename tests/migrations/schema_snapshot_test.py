"""The schema in git is the schema that migrations make."""

from __future__ import annotations

from offdiag.store.database import Database
from support.schema_snapshot import COMMAND, snapshot_file
from support.schema_text import schema_text


def test_the_schema_is_the_one_in_git(database: Database) -> None:
    with database.read() as session:
        found = schema_text(session.connection())

    recorded = snapshot_file(database.dialect).read_text()

    assert found == recorded, f"the schema has changed; to record it: {COMMAND}"
