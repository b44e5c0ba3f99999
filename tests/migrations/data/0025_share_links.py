"""Users of before have no share links."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import USER, count, rows

LOADED = (USER,)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT name FROM user_account") == [("ana",)]
    assert count(connection, "share_link") == [0]
