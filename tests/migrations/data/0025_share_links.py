"""Users of before have no share links."""

from __future__ import annotations

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"


def load(connection: Connection) -> None:
    connection.execute(
        text("INSERT INTO user_account (id, name, created_at) VALUES (1, 'ana', :now)"),
        {"now": NOW},
    )


def check(connection: Connection) -> None:
    assert connection.execute(text("SELECT name FROM user_account")).scalars().all() == ["ana"]
    assert connection.execute(text("SELECT count(*) FROM share_link")).scalar() == 0
