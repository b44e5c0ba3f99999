"""Fixtures that give each test a database of its own, on SQLite and on PostgreSQL.

`database` runs a test once on each; `empty_database` is the same before any migration.
`databases` makes those that several tests share, of the kind the test runs on.
`sqlite_database` is for tests of what only a file has, or of what uses no database at all.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.kinds import Files, Kind, Postgres
from support.once_for_all import made_once, shared_folder
from support.postgres import PostgresServer, running_server
from support.quick_clients import remember_certificates
from support.quick_engines import remember_statements
from support.quick_intervals import Intervals
from support.recycled import Stock

BOTH = (
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgresql", id="postgresql", marks=pytest.mark.postgres),
)

_numbers = itertools.count(1)
_intervals = Intervals()

remember_statements()
_intervals.remember()
remember_certificates()


@pytest.fixture(scope="session", autouse=True)
def shared_intervals(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What one process resamples, no other does."""
    _intervals.folder = shared_folder(tmp_path_factory, "intervals")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server of this test process, started by the first test that asks."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file at the head, to be copied."""

    def make(folder: Path) -> None:
        database = Database(f"sqlite:///{folder / 'registry.db'}")
        upgrade(database)
        # The last connection to be closed moves everything into the file itself.
        database.close()

    return made_once(tmp_path_factory, "migrated", make) / "registry.db"


@pytest.fixture(scope="session")
def migrated_template(postgres_server: PostgresServer) -> str:
    """Name of a PostgreSQL database at the head, to be copied."""
    name = "migrated_template"
    database = Database(postgres_server.create(name))
    upgrade(database)
    database.close()
    return name


@pytest.fixture(scope="session")
def files(migrated_file: Path) -> Files:
    """SQLite databases."""
    return Files(migrated_file)


@pytest.fixture(scope="session")
def postgres_databases(
    postgres_server: PostgresServer, migrated_template: str
) -> Iterator[Postgres]:
    """PostgreSQL databases."""
    stock = Stock(postgres_server, migrated_template)
    yield Postgres(postgres_server, stock)
    stock.close()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """URL of a file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'registry.db'}"


@pytest.fixture
def registry_url(migrated_file: Path, tmp_path: Path) -> str:
    """URL of a migrated SQLite file that nobody has opened yet."""
    return f"sqlite:///{shutil.copy(migrated_file, tmp_path / 'offdiag.db')}"


@pytest.fixture
def sqlite_database(files: Files, tmp_path: Path) -> Iterator[Database]:
    """A migrated SQLite file."""
    with files.new(tmp_path) as database:
        yield database


@pytest.fixture
def postgres_database(postgres_databases: Postgres, tmp_path: Path) -> Iterator[Database]:
    """A migrated PostgreSQL database."""
    with postgres_databases.new(tmp_path) as database:
        yield database


@pytest.fixture(scope="session", params=BOTH)
def databases(request: pytest.FixtureRequest) -> Kind:
    """Migrated databases of either kind."""
    kind: Kind = request.getfixturevalue(
        "files" if request.param == "sqlite" else "postgres_databases"
    )
    return kind


@pytest.fixture
def database(databases: Kind, tmp_path: Path) -> Iterator[Database]:
    """A migrated database of either kind."""
    with databases.new(tmp_path) as database:
        yield database


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
