"""Runs can be promoted, and a champion needs a reason; nothing is decided for known datasets."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"

STATEMENTS = (
    "INSERT INTO project (id, name, created_at) VALUES (1, 'default', :now)",
    """
    INSERT INTO label_set (id, digest, names, n_classes, ordinal)
        VALUES (1, 'd', '["0", "1"]', 2, false)
    """,
    """
    INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
        VALUES (1, 1, 'holdout', 'binary', 1, true, :now)
    """,
    "INSERT INTO user_account (id, name, created_at) VALUES (1, 'ana', :now)",
)
PROMOTION = """
INSERT INTO promotion (dataset_id, role, run_id, run_name, reason, at, metrics)
    VALUES (1, 'champion', 'r_1', 'plain', :reason, :now, '{}')
"""


def load(connection: Connection) -> None:
    for statement in STATEMENTS:
        connection.execute(text(statement), {"now": NOW} if ":now" in statement else {})


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT primary_metric FROM dataset")) is None
    assert connection.scalar(text("SELECT news_seen_at FROM user_account")) is None
    connection.execute(text(PROMOTION), {"reason": "highest recall", "now": NOW})
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(PROMOTION), {"reason": None, "now": NOW})
