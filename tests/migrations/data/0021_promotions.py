"""Runs can be promoted, and a champion needs a reason; nothing is decided for known datasets."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import DATASET, USER, execute, refused, rows

LOADED = (*DATASET, USER)
PROMOTION = """
INSERT INTO promotion (dataset_id, role, run_id, run_name, reason, at, metrics)
    VALUES (1, 'champion', 'r_1', 'plain', :reason, :now, '{}')
"""


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT primary_metric FROM dataset") == [(None,)]
    assert rows(connection, "SELECT news_seen_at FROM user_account") == [(None,)]
    execute(connection, PROMOTION, reason="highest recall")
    refused(connection, PROMOTION, reason=None)
