"""Each step can be taken back, and leaves nothing behind."""

from __future__ import annotations

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect

import offdiag_migrations
from offdiag.store.database import Database
from support.schema_text import catalog_text, schema_text

pytestmark = pytest.mark.usefixtures("revisions_read_once")

CHANGES_ONLY_DATA = {"0007_costs_of_results"}


def go_to(database: Database, revision: str, *, down: bool = False) -> str:
    """Migrate, and return the schema there."""
    with database.migrate() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(offdiag_migrations.FOLDER))
        (command.downgrade if down else command.upgrade)(config, revision)
        is_sqlite = connection.dialect.name == "sqlite"
        return schema_text(connection) if is_sqlite else catalog_text(connection)


def table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names()) - {"alembic_version"}


def test_every_step_up_down_and_up_again_ends_where_it_was(empty_database: Database) -> None:
    before, below = "base", go_to(empty_database, "base")
    unchanged = set()

    for revision in offdiag_migrations.revisions():
        above = go_to(empty_database, revision)
        assert go_to(empty_database, before, down=True) == below, revision
        assert go_to(empty_database, revision) == above, revision
        if above == below:
            unchanged.add(revision)
        before, below = revision, above

    assert unchanged == CHANGES_ONLY_DATA
    go_to(empty_database, "base", down=True)
    with empty_database.read() as session:
        assert table_names(session.connection()) == set()
