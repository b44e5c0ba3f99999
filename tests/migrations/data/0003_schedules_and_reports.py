"""Afterwards a schedule can issue each fire once, and what is removed leaves its issues behind."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"

SCHEDULE = """
INSERT INTO schedule (id, project_id, name, cron, zone, scope, delivery, enabled, version,
                      next_due, created_at, updated_at)
    VALUES (:id, 1, :name, '0 6 * * 1', 'UTC', '{}', '[]', :enabled, 1, :next_due, :now, :now)
"""
ISSUE = """
INSERT INTO report_issue (id, schedule_id, project_id, name, number, fire_time, due, state, scope,
                          delivery, created_at)
    VALUES (:id, 1, 1, 'weekly', :number, :fire, 0, 'pending', '{}', '[]', :now)
"""
DEPENDENT = """
INSERT INTO report_file (issue_id, kind, content_type, content, sha256)
    VALUES (1, 'html', 'text/html', '', 'd');
INSERT INTO delivery (id, issue_id, target, state, created_at)
    VALUES (1, 1, '{}', 'pending', :now)
"""


def load(connection: Connection) -> None:
    project = "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)"
    connection.execute(text(project), {"now": NOW})


def check(connection: Connection) -> None:
    enabled = {"id": 1, "name": "weekly", "enabled": True, "next_due": 0.0, "now": NOW}
    connection.execute(text(SCHEDULE), enabled)
    fire = {"id": 1, "number": 1, "fire": "2026-01-05T06:00 UTC", "now": NOW}
    connection.execute(text(ISSUE), fire)
    for statement in DEPENDENT.split(";\n"):
        connection.execute(text(statement), {"now": NOW})

    refused(connection, SCHEDULE, enabled | {"id": 2})
    refused(connection, SCHEDULE, enabled | {"id": 2, "name": "other", "next_due": None})
    refused(connection, ISSUE, fire | {"id": 2, "number": 2})
    refused(connection, ISSUE, fire | {"id": 2, "fire": "2026-01-12T06:00 UTC"})

    connection.execute(text("DELETE FROM schedule"))
    assert connection.scalar(text("SELECT schedule_id FROM report_issue")) is None
    connection.execute(text("DELETE FROM report_issue"))
    for table in ("report_file", "delivery"):
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0, table


def refused(connection: Connection, statement: str, row: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(statement), row)
