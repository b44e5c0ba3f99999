"""Comments on flags leave the history of events with their words, authors and times."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import NOW, RUN, rows

LOADED = (
    *RUN,
    """
    INSERT INTO flag (id, run_id, rule, rule_version, class_label, severity, message, evidence,
                      fired, thresholds, in_badge, state, first_seen, last_seen)
        VALUES (1, 'r_1', 'F3', 1, '1', 'high', 'm', '{}', '[]', '{}', false, 'open', :now, :now)
    """,
    """
    INSERT INTO flag_event (flag_id, at, author, kind, text)
        VALUES (1, :now, NULL, 'opened', NULL), (1, :now, 'kim', 'commented', 'why?'),
               (1, :now, 'kim', 'acknowledged', NULL), (1, :now, NULL, 'commented', 'noise')
    """,
)


def check(connection: Connection) -> None:
    found = rows(
        connection, "SELECT flag_id, run_id, dataset_id, author, text, at FROM comment ORDER BY id"
    )
    assert [(*row[:5], str(row[5])[:10]) for row in found] == [
        (1, None, None, "kim", "why?", NOW[:10]),
        (1, None, None, None, "noise", NOW[:10]),
    ]
    kinds = rows(connection, "SELECT kind FROM flag_event ORDER BY id")
    assert kinds == [("opened",), ("acknowledged",)]
