"""Fixtures that give each test a database of its own, on SQLite and on PostgreSQL.

`database` runs a test once on each; `empty_database` is the same before any migration.
`sqlite_database` is for tests that have nothing to do with the kind of database.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.postgres import PostgresServer, running_server

BOTH = (
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgresql", id="postgresql", marks=pytest.mark.postgres),
)

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server of this test process, started by the first test that asks."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file at the head, to be copied."""
    path = tmp_path_factory.mktemp("migrated") / "registry.db"
    database = Database(f"sqlite:///{path}")
    upgrade(database)
    # The last connection to be closed moves everything into the file itself.
    database.close()
    return path


@pytest.fixture(scope="session")
def migrated_template(postgres_server: PostgresServer) -> str:
    """Name of a PostgreSQL database at the head, to be copied."""
    name = "migrated_template"
    database = Database(postgres_server.create(name))
    upgrade(database)
    database.close()
    return name


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of a file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'registry.db'}"


@pytest.fixture
def sqlite_database(tmp_path: Path, migrated_file: Path) -> Iterator[Database]:
    """A migrated SQLite file. Its commits survive a crash, not a power failure: that is fast."""
    path = shutil.copy(migrated_file, tmp_path / "registry.db")
    database = Database(f"sqlite:///{path}", synchronous="normal")
    yield database
    database.close()


@pytest.fixture
def postgres_database(
    postgres_server: PostgresServer, migrated_template: str
) -> Iterator[Database]:
    """A migrated PostgreSQL database."""
    name = f"test_{next(_numbers)}"
    database = Database(postgres_server.create(name, template=migrated_template))
    yield database
    database.close()
    postgres_server.drop(name)


@pytest.fixture(params=BOTH)
def database(request: pytest.FixtureRequest) -> Database:
    """A migrated database of either kind."""
    migrated: Database = request.getfixturevalue(
        "sqlite_database" if request.param == "sqlite" else "postgres_database"
    )
    return migrated


@pytest.fixture(params=BOTH)
def empty_database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database of either kind without any table."""
    if request.param == "sqlite":
        database = Database(request.getfixturevalue("sqlite_url"))
        yield database
        database.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = f"empty_{next(_numbers)}"
    database = Database(server.create(name))
    yield database
    database.close()
    server.drop(name)
