"""Flags stay as they are; one index takes the place of another."""

from __future__ import annotations

from sqlalchemy import Connection, inspect

from support.old_rows import RUN, rows

LOADED = (
    *RUN,
    """
    INSERT INTO flag (id, run_id, rule, rule_version, class_label, severity, message, evidence,
                      fired, thresholds, in_badge, state, first_seen, last_seen)
        VALUES (1, 'r_1', 'F1', 1, 'a', 'high', 'm', '{}', '[]', '{}', true, 'open', :now, :now),
               (2, 'r_1', 'F1', 1, 'b', 'high', 'm', '{}', '[]', '{}', true, 'open', :now, :now)
    """,
)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT id, state FROM flag ORDER BY id") == [(1, "open"), (2, "open")]
    indexes = {index["name"] for index in inspect(connection).get_indexes("flag")}
    assert "ix_flag_state_severity_id" in indexes
    assert "ix_flag_state_severity" not in indexes
