"""Views can be saved under a name that no other view of the page has."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import PROJECT, count, execute, refused

LOADED = (PROJECT,)
VIEW = """
INSERT INTO saved_view (slug, name, page, query, created_at)
    VALUES (:slug, 'flagged', '/runs', 'q=flag%3Aopen', :now)
"""


def check(connection: Connection) -> None:
    assert count(connection, "project") == [1]
    execute(connection, VIEW, slug="a")
    refused(connection, VIEW, slug="b")
