"""How SQLite reads the statements of a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event

from offdiag.store.database import Database


@contextmanager
def query_plans(database: Database) -> Iterator[list[str]]:
    """The steps of the plans of all statements that are sent meanwhile."""
    if database.dialect != "sqlite":
        pytest.skip("PostgreSQL plans by statistics, and sorts a table as small as this one")
    steps: list[str] = []
    asking = False

    def explain(_connection: Any, cursor: Any, statement: str, values: Any, *_: Any) -> None:
        nonlocal asking
        if asking or not statement.startswith("SELECT"):
            return
        asking = True
        raw = cursor.connection.cursor()
        raw.execute(f"EXPLAIN QUERY PLAN {statement}", values)
        steps.extend(str(row[3]) for row in raw.fetchall())
        asking = False

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        yield steps
    finally:
        event.remove(Engine, "before_cursor_execute", explain)
