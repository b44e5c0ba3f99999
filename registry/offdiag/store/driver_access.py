"""The driver's own connection, for engines that keep their queue in the same database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.orm import Session


@contextmanager
def driver_savepoint(session: Session) -> Iterator[Any]:
    """The psycopg connection of a session, inside a savepoint of its transaction.

    What fails in the block is rolled back to the savepoint and raised; the transaction of the
    session goes on. On SQLite the connection is that of the standard library.
    """
    with session.begin_nested():
        yield session.connection().connection.driver_connection
