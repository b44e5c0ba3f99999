"""Evaluations that were judged by costs name none, so that they are asked for again."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import EVALUATION, RUN, count, rows

LOADED = (
    *RUN,
    EVALUATION,
    """
    INSERT INTO cost_matrix (id, project_id, name, version, label_set_id, weights, created_at)
        VALUES (1, 1, 'visits', 1, 1, '', :now)
    """,
    "UPDATE dataset SET default_cost_matrix_id = 1",
    "UPDATE evaluation SET cost_matrix_id = 1",
    """
    INSERT INTO metric_value (evaluation_id, key, class_index, value)
        VALUES (1, 'overall_accuracy', -1, 0.5)
    """,
)


def check(connection: Connection) -> None:
    assert rows(connection, "SELECT is_current, cost_matrix_id FROM evaluation") == [(True, None)]
    assert rows(connection, "SELECT default_cost_matrix_id FROM dataset") == [(1,)]
    assert count(connection, "metric_value") == [1]
