"""One answer is kept for each key of each of its owners."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import PROJECT, count, execute, refused

LOADED = (PROJECT,)
ANSWER = """
INSERT INTO kept_answer (scope, "key", digest, claimed_at) VALUES (:scope, 'k', 'd', :now)
"""


def check(connection: Connection) -> None:
    assert count(connection, "project") == [1]
    for scope in ("ana", "bo"):
        execute(connection, ANSWER, scope=scope)
    refused(connection, ANSWER, scope="ana")
