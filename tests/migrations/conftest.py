"""Databases of any revision: each is made once, from the one of the revision before it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

import offdiag_migrations
from offdiag.store.database import Database
from offdiag.store.schema import migrate_to
from support.databases import BOTH
from support.postgres import PostgresServer


class _Files:
    """SQLite files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def copy(self, template: str | None, name: str) -> Database:
        """A copy of a template under another name; of none, an empty database."""
        path = self._folder / f"{name}.db"
        if template is not None:
            shutil.copy(self._folder / f"{template}.db", path)
        return Database(f"sqlite:///{path}")

    def remove(self, name: str) -> None:
        (self._folder / f"{name}.db").unlink()


class _OnServer:
    """Databases of one server."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server

    def copy(self, template: str | None, name: str) -> Database:
        return Database(self._server.create(name, template=template or "template1"))

    def remove(self, name: str) -> None:
        self._server.drop(name)


class _Ladder:
    def __init__(self, templates: _Files | _OnServer) -> None:
        self.templates = templates
        self._rungs: dict[str, str] = {}

    def before(self, revision: str) -> str | None:
        """Name of a template as it is before a revision; none before the first."""
        revisions = offdiag_migrations.revisions()
        number = revisions.index(revision)
        if number == 0:
            return None
        last = revisions[number - 1]
        if last not in self._rungs:
            name = f"rung_{number}"
            database = self.templates.copy(self.before(last), name)
            with database.migrate() as connection:
                migrate_to(connection, last)
            database.close()
            self._rungs[last] = name
        return self._rungs[last]


@pytest.fixture(scope="session")
def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(offdiag_migrations.FOLDER))


@pytest.fixture
def revisions_read_once(monkeypatch: pytest.MonkeyPatch, _scripts: ScriptDirectory) -> None:
    """Let no command of Alembic read all revisions anew, which takes longer than most of them."""
    monkeypatch.setattr(ScriptDirectory, "from_config", lambda _config: _scripts)


@pytest.fixture(scope="session")
def sqlite_ladder(tmp_path_factory: pytest.TempPathFactory) -> _Ladder:
    return _Ladder(_Files(tmp_path_factory.mktemp("ladder")))


@pytest.fixture(scope="session")
def postgresql_ladder(postgres_server: PostgresServer) -> _Ladder:
    return _Ladder(_OnServer(postgres_server))


@pytest.fixture(params=BOTH)
def database_before(request: pytest.FixtureRequest, revision: str) -> Iterator[Database]:
    """A database of either kind as it is before the revision of a test, without any data."""
    ladder: _Ladder = request.getfixturevalue(f"{request.param}_ladder")
    name = f"before_{revision}"
    database = ladder.templates.copy(ladder.before(revision), name)
    yield database
    database.close()
    ladder.templates.remove(name)
