"""Evaluations that are there know the recall of their worst class, where a class has one."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import DATASET, rows

LOADED = (
    *DATASET,
    """
    INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                     created_at, finished_at)
        VALUES ('r_1', 1, 1, 'one', 'evaluated', '{}', '{}', 'actual_rows', :now, :now),
               ('r_2', 1, 1, 'two', 'evaluated', '{}', '{}', 'actual_rows', :now, :now)
    """,
    """
    INSERT INTO evaluation (id, run_id, suite_version, engine_version, input_digest, n_cases,
                            n_labelled, is_current, computed_at, duration_s)
        VALUES (1, 'r_1', 1, '0', 'a', 5, 5, true, :now, 0.5),
               (2, 'r_2', 1, '0', 'b', 5, 5, true, :now, 0.5)
    """,
    """
    INSERT INTO metric_value (evaluation_id, "key", class_index, value, reason)
        VALUES (1, 'recall', 0, 0.75, NULL), (1, 'recall', 1, 0.25, NULL),
               (1, 'recall', 2, NULL, 'no_actual'), (1, 'recall', -1, 0.1, NULL),
               (1, 'precision', 0, 0.2, NULL), (2, 'recall', 0, NULL, 'no_actual')
    """,
)


def check(connection: Connection) -> None:
    found = rows(connection, "SELECT lowest_recall FROM evaluation ORDER BY id")
    assert found == [(0.25,), (None,)]
