"""The two kinds of databases, and how a test gets a new one or a copy of a filled one."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from offdiag.store.database import Database
from support.postgres import PostgresServer
from support.recycled import Stock

_numbers = itertools.count(1)


class Kind(Protocol):
    """Databases of one kind, at the head."""

    def new(self, folder: Path) -> AbstractContextManager[Database]:
        """An empty one; if it is a file, it lies in the folder."""

    def copy(self, filled: Database, folder: Path) -> AbstractContextManager[Database]:
        """A copy of another one that nobody uses at the moment."""


class Files:
    """SQLite files. Their commits survive a crash, and wait for no disk: that is fast."""

    def __init__(self, migrated: Path) -> None:
        self._migrated = migrated

    @contextmanager
    def new(self, folder: Path) -> Iterator[Database]:
        with _copied(self._migrated, folder / "registry.db") as database:
            yield database

    @contextmanager
    def copy(self, filled: Database, folder: Path) -> Iterator[Database]:
        # The last connection to be closed moves everything into the file itself.
        filled.close()
        assert filled.path is not None
        with _copied(filled.path, folder / "copy.db") as database:
            yield database


class Postgres:
    """Databases of one server."""

    def __init__(self, server: PostgresServer, stock: Stock) -> None:
        self._server = server
        self._stock = stock

    @contextmanager
    def new(self, folder: Path) -> Iterator[Database]:  # noqa: ARG002 - no file
        with self._stock.lent() as url:
            database = Database(url)
            yield database
            database.close()

    @contextmanager
    def copy(self, filled: Database, folder: Path) -> Iterator[Database]:  # noqa: ARG002
        # Nobody may be connected to a database that is copied.
        filled.close()
        name = f"copy_{next(_numbers)}"
        source = filled.url.partition("?")[0].rpartition("/")[2]
        database = Database(self._server.create(name, template=source))
        yield database
        database.close()
        self._server.drop(name)


@contextmanager
def _copied(source: Path, path: Path) -> Iterator[Database]:
    shutil.copy(source, path)
    database = Database(f"sqlite:///{path}", synchronous="off")  # type: ignore[arg-type]  # Nobody may but tests.
    yield database
    database.close()
