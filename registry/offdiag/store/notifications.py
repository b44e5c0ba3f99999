"""Waiting for PostgreSQL notifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import text

from offdiag.errors import DatabaseUnavailable
from offdiag.store.database import Database


def notifications(database: Database, channel: str, *, timeout_s: float) -> Iterator[bool]:
    """Yield True for each notification on `channel`, False after `timeout_s` without one.

    Holds one connection as long as it is iterated. Raises `DatabaseUnavailable` when the
    connection breaks.
    """
    with database.listen() as connection:
        connection.execute(text(f'LISTEN "{channel}"'))
        driver = connection.connection.driver_connection
        while True:
            yield _heard(driver, database.place, timeout_s)


def _heard(driver: Any, place: str, timeout_s: float) -> bool:
    import psycopg

    try:
        return any(True for _ in driver.notifies(timeout=timeout_s, stop_after=1))
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"{place}: the connection broke while waiting.", hint="It is opened again by itself."
        ) from error
