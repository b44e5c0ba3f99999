"""A database that nobody holds any more closes what it opened."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from sqlalchemy import event

from offdiag.store.database import Database


@pytest.fixture
def young() -> Iterator[None]:
    """What a test makes stays young, so that looking for garbage need not go through the rest."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("young")
def test_a_database_that_is_forgotten_closes_its_connections(sqlite_url: str) -> None:
    database = Database(sqlite_url)
    closed: list[object] = []
    event.listen(
        database._engines.writing, "close", lambda connection, _: closed.append(connection)
    )
    with database.write():
        pass
    assert closed == []

    del database
    gc.collect(1)

    assert len(closed) == 1
