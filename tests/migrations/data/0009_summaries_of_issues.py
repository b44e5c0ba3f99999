"""Issues that were computed before stay as they are; those computed later have a summary."""

from __future__ import annotations

import json

from sqlalchemy import Connection, text

NOW = "2026-01-02 03:04:05.000000"
SUMMARY = {"n_runs": 12, "line": [0.5, None]}

PROJECT = "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)"
ISSUE = """
INSERT INTO report_issue (id, project_id, name, number, fire_time, due, state, scope, delivery,
                          headline, data_digest, created_at, computed_at)
    VALUES (1, 1, 'weekly', 1, '2026-01-05T06:00 UTC', 0, 'computed', '{}', '[]',
            'No change exceeds its interval.', 'd', :now, :now)
"""
FILE = """
INSERT INTO report_file (issue_id, kind, content_type, content, sha256)
    VALUES (1, 'html', 'text/html', '', 'd')
"""


def load(connection: Connection) -> None:
    for statement in (PROJECT, ISSUE, FILE):
        connection.execute(text(statement), {"now": NOW})


def check(connection: Connection) -> None:
    kept = "SELECT headline, data_digest, summary FROM report_issue"
    assert connection.execute(text(kept)).all() == [("No change exceeds its interval.", "d", None)]
    assert connection.scalar(text("SELECT count(*) FROM report_file")) == 1

    connection.execute(
        text("UPDATE report_issue SET summary = :summary"), {"summary": json.dumps(SUMMARY)}
    )
    stored = connection.scalar(text("SELECT summary FROM report_issue"))
    assert (json.loads(stored) if isinstance(stored, str) else stored) == SUMMARY
