"""Each step can be taken back, and leaves nothing behind."""

from __future__ import annotations

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect

import offdiag_migrations
from offdiag.store.database import Database
from support.schema_text import schema_text

CHANGES_ONLY_DATA = {"0007_costs_of_results"}


def go_to(database: Database, revision: str, *, down: bool = False) -> str:
    """Migrate, and return the schema there."""
    with database.migrate() as connection:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(offdiag_migrations.FOLDER))
        (command.downgrade if down else command.upgrade)(config, revision)
        return schema_text(connection)


def table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names()) - {"alembic_version"}


@pytest.mark.parametrize("revision", offdiag_migrations.revisions())
def test_a_step_up_down_and_up_again_ends_where_it_was(
    database_before: Database, revision: str
) -> None:
    number = offdiag_migrations.revisions().index(revision)
    before = offdiag_migrations.revisions()[number - 1] if number else "base"
    below = go_to(database_before, before)

    above = go_to(database_before, revision)
    below_again = go_to(database_before, before, down=True)
    above_again = go_to(database_before, revision)

    assert (below == above) == (revision in CHANGES_ONLY_DATA)
    assert below_again == below
    assert above_again == above


def test_going_down_to_the_base_removes_every_table(empty_database: Database) -> None:
    go_to(empty_database, "head")

    go_to(empty_database, "base", down=True)

    with empty_database.read() as session:
        assert table_names(session.connection()) == set()
