"""Views can be saved under a name that no other view of the page has."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"
PROJECT = "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)"
VIEW = """
INSERT INTO saved_view (slug, name, page, query, created_at)
    VALUES (:slug, 'flagged', '/runs', 'q=flag%3Aopen', :now)
"""


def load(connection: Connection) -> None:
    connection.execute(text(PROJECT), {"now": NOW})


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT count(*) FROM project")) == 1
    connection.execute(text(VIEW), {"slug": "a", "now": NOW})
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(VIEW), {"slug": "b", "now": NOW})
