"""Registries with something of everything, filled once for all processes and databases."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from offdiag.services.retention.project_archives import export_project
from offdiag.store.database import Database
from support.archives import Filled, Registry, copy_rows, fill
from support.kinds import Files, Kind
from support.once_for_all import made_once
from support.postgres import PostgresServer

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def filled_file(
    migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Filled]:
    """A filled SQLite file, to be copied."""

    def make(folder: Path) -> None:
        path = shutil.copy(migrated_file, folder / "filled.db")
        database = Database(f"sqlite:///{path}", synchronous="normal")
        (folder / "runs").write_text(json.dumps(fill(database).runs))
        database.close()

    folder = made_once(tmp_path_factory, "filled", make)
    return folder / "filled.db", Filled(json.loads((folder / "runs").read_text()))


@pytest.fixture(scope="session")
def filled_template(
    postgres_server: PostgresServer,
    migrated_template: str,
    filled_file: tuple[Path, Filled],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Filled]:
    """Name of a PostgreSQL database, to be copied, that holds what the filled file does."""
    name = "filled_template"
    path, filled = filled_file
    copy = shutil.copy(path, tmp_path_factory.mktemp("filled") / "filled.db")
    file = Database(f"sqlite:///{copy}")
    database = Database(postgres_server.create(name, template=migrated_template))
    copy_rows(file, database)
    file.close()
    database.close()
    return name, filled


@pytest.fixture
def filled_sqlite(tmp_path: Path, filled_file: tuple[Path, Filled]) -> Iterator[Registry]:
    """A filled SQLite registry."""
    path, filled = filled_file
    database = Database(f"sqlite:///{shutil.copy(path, tmp_path / 'filled.db')}")
    yield Registry(database, filled)
    database.close()


@pytest.fixture
def filled_postgres(
    postgres_server: PostgresServer, filled_template: tuple[str, Filled]
) -> Iterator[Registry]:
    """A filled PostgreSQL registry."""
    template, filled = filled_template
    name = f"filled_{next(_numbers)}"
    database = Database(postgres_server.create(name, template=template))
    yield Registry(database, filled)
    database.close()
    postgres_server.drop(name)


@pytest.fixture
def registry(request: pytest.FixtureRequest, databases: Kind) -> Registry:
    """A filled registry of the kind the test runs on."""
    kind = "filled_sqlite" if isinstance(databases, Files) else "filled_postgres"
    found: Registry = request.getfixturevalue(kind)
    return found


@pytest.fixture(scope="session")
def exported_file(
    filled_file: tuple[Path, Filled], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Filled]:
    """The project default of the filled SQLite file as an archive, to be copied."""
    path, filled = filled_file

    def make(folder: Path) -> None:
        database = Database(f"sqlite:///{shutil.copy(path, folder / 'filled.db')}")
        export_project(database, "default", folder / "project.zip")
        database.close()

    return made_once(tmp_path_factory, "exported", make) / "project.zip", filled


@pytest.fixture
def archive(exported_file: tuple[Path, Filled], tmp_path: Path) -> Path:
    """An archive of the project default, to be used or spoilt."""
    return Path(shutil.copy(exported_file[0], tmp_path / "project.zip"))


@pytest.fixture
def other(tmp_path: Path, migrated_file: Path) -> Iterator[Database]:
    """An empty SQLite registry beside the one under test."""
    path = shutil.copy(migrated_file, tmp_path / "other.db")
    database = Database(f"sqlite:///{path}", synchronous="normal")
    yield database
    database.close()


@pytest.fixture
def no_registry(tmp_path: Path) -> Iterator[Database]:
    """An SQLite file that is not there yet."""
    database = Database(f"sqlite:///{tmp_path / 'new.db'}", synchronous="normal")
    yield database
    database.close()
