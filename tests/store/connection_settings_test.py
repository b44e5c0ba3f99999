"""Settings of connections that were chosen for a reason, asked back from the database."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import LargeBinary, inspect, text

from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database
from offdiag.store.models import Base
from offdiag.store.schema import open_database
from support.rows import add_project


def pragma(database: Database, name: str) -> object:
    with database.write() as session:
        return session.scalar(text(f"PRAGMA {name}"))


def test_an_sqlite_connection_is_set_up(sqlite_url: str) -> None:
    expected = {
        "page_size": 16_384,
        "journal_mode": "wal",
        "foreign_keys": 1,
        "query_only": 0,
        "busy_timeout": 30_000,
        "synchronous": 2,
    }
    database = open_database(sqlite_url)

    assert {name: pragma(database, name) for name in expected} == expected
    database.close()


def test_commits_may_be_left_to_the_operating_system(registry_url: str) -> None:
    database = open_database(registry_url, synchronous="normal")

    assert pragma(database, "synchronous") == 1
    database.close()


def test_foreign_keys_are_on_again_after_an_upgrade(sqlite_database: Database) -> None:
    with sqlite_database.migrate() as connection:
        assert connection.scalar(text("PRAGMA foreign_keys")) == 0

    assert pragma(sqlite_database, "foreign_keys") == 1


def test_a_postgresql_connection_is_set_up(postgres_database: Database) -> None:
    expected = {
        "statement_timeout": "1min",
        "lock_timeout": "10s",
        "idle_in_transaction_session_timeout": "1min",
        "application_name": "offdiag",
        "transaction_isolation": "read committed",
        "transaction_read_only": "off",
    }
    with postgres_database.write() as session:
        found = {name: session.scalar(text(f"SHOW {name}")) for name in expected}

    assert found == expected


def test_reading_on_postgresql_is_one_read_only_snapshot(postgres_database: Database) -> None:
    with postgres_database.read() as session:
        assert session.scalar(text("SHOW transaction_isolation")) == "repeatable read"
        assert session.scalar(text("SHOW transaction_read_only")) == "on"


def test_settings_in_the_url_win(postgres_database: Database) -> None:
    url = f"{postgres_database.url}&options=-c%20statement_timeout%3D5s&application_name=nightly"
    database = Database(url)

    with database.read() as session:
        assert session.scalar(text("SHOW statement_timeout")) == "5s"
        assert session.scalar(text("SHOW lock_timeout")) == "10s"
        assert session.scalar(text("SHOW application_name")) == "nightly"
    database.close()


def test_after_reading_the_server_decides_whether_it_is_written(
    postgres_database: Database,
) -> None:
    read_only = "options=-c%20default_transaction_read_only%3Don"
    with closing(Database(f"{postgres_database.url}&{read_only}")) as database:
        for _ in range(2):
            with database.read() as session:
                session.execute(text("SELECT 1"))
            with (
                pytest.raises(DatabaseUnavailable, match="it cannot be written"),
                database.write() as session,
            ):
                add_project(session, name="new")


def test_a_vanished_server_is_noticed(postgres_database: Database) -> None:
    with postgres_database.read() as session:
        driver = session.connection().connection.driver_connection
        parameters = driver.info.get_parameters()  # type: ignore[union-attr]

    expected = {
        "connect_timeout": "5",
        "keepalives": "1",
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "15000",
    }
    assert {name: parameters[name] for name in expected} == expected


def test_blobs_of_numbers_are_stored_without_compression_on_postgresql(
    postgres_database: Database,
) -> None:
    with postgres_database.read() as session:
        inspector = inspect(session.connection())
        blobs = {
            (table, column["name"])
            for table in inspector.get_table_names()
            for column in inspector.get_columns(table)
            if str(column["type"]) == "BYTEA"
        }
        external = {
            (table, column)
            for table, column in session.execute(
                text(
                    "SELECT relname, attname FROM pg_attribute JOIN pg_class "
                    "ON pg_class.oid = attrelid WHERE attstorage = 'e' AND relkind = 'r' "
                    "AND relnamespace = 'public'::regnamespace"
                )
            )
        }

    described = {
        (table.name, column.name)
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, LargeBinary)
    }
    assert blobs == described
    # The files of a report are text, which is worth compressing.
    assert external == blobs - {("report_file", "content")}


def test_the_password_is_not_shown(postgres_database: Database) -> None:
    url = postgres_database.url.replace("postgres@", "postgres:secret@")

    database = Database(url)

    assert database.url == url
    assert "secret" not in repr(database)
    assert "secret" not in database.place


@pytest.mark.usefixtures("registry_url")
def test_a_relative_path_is_fixed_when_the_database_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("sqlite:///offdiag.db")

    database.close()
    monkeypatch.chdir("/")

    with database.write() as session:
        add_project(session)
    assert database.path == tmp_path / "offdiag.db"
    database.close()
