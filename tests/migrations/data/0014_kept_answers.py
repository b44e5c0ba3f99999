"""One answer is kept for each key of each of its owners."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"
PROJECT = "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)"
ANSWER = """
INSERT INTO kept_answer (scope, "key", digest, claimed_at) VALUES (:scope, 'k', 'd', :now)
"""


def load(connection: Connection) -> None:
    connection.execute(text(PROJECT), {"now": NOW})


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT count(*) FROM project")) == 1
    for scope in ("ana", "bo"):
        connection.execute(text(ANSWER), {"scope": scope, "now": NOW})
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(ANSWER), {"scope": "ana", "now": NOW})
