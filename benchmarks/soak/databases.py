"""Where a soak takes place: an SQLite file, or a PostgreSQL server that can be crashed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from load.programs import ROOT
from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database

BASES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Place:
    """A registry, and what kills its database server and starts it again."""

    database: Database
    crash: Callable[[], None]

    def connections(self) -> int | None:
        """Clients that PostgreSQL counts without this one, None on SQLite and while it is away."""
        if self.database.path is not None:
            return None
        try:
            with self.database.read() as session:
                found = session.scalar(
                    text(
                        "SELECT count(*) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    )
                )
        except DatabaseUnavailable:
            return None
        return int(found or 0)


@contextmanager
def place(base: str, folder: Path) -> Iterator[Place]:
    """A registry of its own on a kind of database."""
    if base == "sqlite":
        with closing(Database(f"sqlite:///{folder / 'registry.db'}")) as database:
            yield Place(database, crash=lambda: None)
        return
    tests = str(ROOT / "tests")
    if tests not in sys.path:
        sys.path.append(tests)
    from support.crashing_postgres import crashing_server

    with crashing_server() as server, closing(Database(server.url)) as database:

        def crash() -> None:
            server.crash()
            server.start()

        yield Place(database, crash)
