"""Issues that were computed before stay as they are; those computed later have a summary."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from support.old_rows import PROJECT, count, document, execute, rows

SUMMARY = {"n_runs": 12, "line": [0.5, None]}
LOADED = (
    PROJECT,
    """
    INSERT INTO report_issue (id, project_id, name, number, fire_time, due, state, scope, delivery,
                              headline, data_digest, created_at, computed_at)
        VALUES (1, 1, 'weekly', 1, '2026-01-05T06:00 UTC', 0, 'computed', '{}', '[]',
                'No change exceeds its interval.', 'd', :now, :now)
    """,
    """
    INSERT INTO report_file (issue_id, kind, content_type, content, sha256)
        VALUES (1, 'html', 'text/html', '', 'd')
    """,
)


def check(connection: Connection) -> None:
    kept = "SELECT headline, data_digest, summary FROM report_issue"
    assert rows(connection, kept) == [("No change exceeds its interval.", "d", None)]
    assert count(connection, "report_file") == [1]

    execute(connection, "UPDATE report_issue SET summary = :given", given=json.dumps(SUMMARY))

    assert document(connection, "SELECT summary FROM report_issue") == SUMMARY
