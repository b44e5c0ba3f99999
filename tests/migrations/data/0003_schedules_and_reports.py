"""Afterwards a schedule can issue each fire once, and what is removed leaves its issues behind."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import PROJECT, count, execute, refused, rows

LOADED = (PROJECT,)
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
FILE = """
INSERT INTO report_file (issue_id, kind, content_type, content, sha256)
    VALUES (1, 'html', 'text/html', '', 'd')
"""
DELIVERY = """
INSERT INTO delivery (id, issue_id, target, state, created_at)
    VALUES (1, 1, '{}', 'pending', :now)
"""


def check(connection: Connection) -> None:
    enabled = {"id": 1, "name": "weekly", "enabled": True, "next_due": 0.0}
    fire = {"id": 1, "number": 1, "fire": "2026-01-05T06:00 UTC"}
    execute(connection, SCHEDULE, **enabled)
    execute(connection, ISSUE, **fire)
    execute(connection, FILE, DELIVERY)

    refused(connection, SCHEDULE, **enabled | {"id": 2})
    refused(connection, SCHEDULE, **enabled | {"id": 2, "name": "other", "next_due": None})
    refused(connection, ISSUE, **fire | {"id": 2, "number": 2})
    refused(connection, ISSUE, **fire | {"id": 2, "fire": "2026-01-12T06:00 UTC"})

    execute(connection, "DELETE FROM schedule")
    assert rows(connection, "SELECT schedule_id FROM report_issue") == [(None,)]
    execute(connection, "DELETE FROM report_issue")
    assert count(connection, "report_file", "delivery") == [0, 0]
