"""Flags and problems that were there are about all samples; a slice is another subject."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import RUN, count, execute, refused, rows

LOADED = (
    *RUN,
    """
    INSERT INTO flag (run_id, rule, rule_version, class_label, severity, message, evidence, fired,
                      thresholds, in_badge, state, first_seen, last_seen)
        VALUES ('r_1', 'F3', 1, 'dog', 'high', 'm', '{}', '[]', '{}', false, 'open', :now, :now)
    """,
    "INSERT INTO flag_event (flag_id, at, kind) VALUES (1, :now, 'opened')",
    """
    INSERT INTO problem (dataset_id, model, cause, class_label, opened_at)
        VALUES (1, 'vit', 'missed', 'dog', :now)
    """,
)
FLAG = """
INSERT INTO flag (run_id, rule, rule_version, class_label, slice, severity, message, evidence,
                  fired, thresholds, in_badge, state, first_seen, last_seen)
    VALUES ('r_1', 'F3', 1, 'dog', :slice, 'high', 'm', '{}', '[]', '{}', false, 'open', :now,
            :now)
"""
PROBLEM = """
INSERT INTO problem (dataset_id, model, cause, class_label, slice, opened_at)
    VALUES (1, 'vit', :cause, 'dog', 'site=z', :now)
"""


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT slice FROM flag") == [("",)]
    assert rows(connection, "SELECT slice FROM problem") == [("",)]
    assert count(connection, "flag_event") == [1]
    execute(connection, FLAG, PROBLEM, slice="site=z", cause="slice")

    refused(connection, FLAG, slice="")
    refused(connection, PROBLEM, cause="slice")
    refused(connection, PROBLEM, cause="guess")
