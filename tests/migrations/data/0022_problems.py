"""Flags of one cause and class over the runs of a model get one number; others stay apart."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import DATASET, NOW, rows

LATER = "2026-01-03 03:04:05.000000"
LOADED = (
    *DATASET,
    """
    INSERT INTO run (id, project_id, dataset_id, name, model, params, tags, state,
                     source_orientation, created_at, finished_at)
        VALUES ('r_1', 1, 1, 'a', 'vit', '{}', '{}', 'evaluated', 'actual_rows', :now, :now),
               ('r_2', 1, 1, 'b', 'vit', '{}', '{}', 'evaluated', 'actual_rows', :now, :now),
               ('r_3', 1, 1, 'c', NULL, '{}', '{}', 'evaluated', 'actual_rows', :now, :now)
    """,
    *(
        f"""
        INSERT INTO flag (run_id, rule, rule_version, class_label, severity, message, evidence,
                          fired, thresholds, in_badge, state, first_seen, last_seen)
            VALUES ('{run}', '{rule}', 1, '{label}', 'high', 'm', '{{}}', '[]', '{{}}', false,
                    'open', '{at}', '{at}')
        """
        for run, rule, label, at in (
            ("r_1", "F3", "1", LATER),
            ("r_1", "F2", "1", LATER),
            ("r_2", "F4", "1", NOW),
            ("r_2", "F6", "", NOW),
            ("r_3", "F4", "1", LATER),
            ("r_3", "X1", "1", LATER),
        )
    ),
)


def check(connection: Connection) -> None:
    found = rows(
        connection, "SELECT model, cause, class_label, opened_at FROM problem ORDER BY id"
    )
    assert [(*row[:3], str(row[3])[:10]) for row in found] == [
        ("vit", "hides", "", NOW[:10]),
        ("vit", "missed", "1", NOW[:10]),
        ("", "missed", "1", LATER[:10]),
    ]
