"""Runs that were evaluated before are neither judged nor compared, and can be."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

NOW = "2026-01-02 03:04:05.000000"

LOADED = f"""
INSERT INTO project (id, name, created_at) VALUES (1, 'default', '{NOW}');
INSERT INTO label_set (id, digest, names, n_classes, ordinal) VALUES (1, 'd', '[]', 2, false);
INSERT INTO dataset (id, project_id, name, task, label_set_id, labels_inferred, created_at)
    VALUES (1, 1, 'pets', 'binary', 1, true, '{NOW}');
INSERT INTO run (id, project_id, dataset_id, name, state, params, tags, source_orientation,
                 created_at, finished_at)
    VALUES ('r_1', 1, 1, 'first', 'evaluated', '{{}}', '{{}}', 'actual_rows', '{NOW}', '{NOW}');
INSERT INTO evaluation (id, run_id, suite_version, engine_version, input_digest, n_cases,
                        n_labelled, is_current, computed_at, duration_s)
    VALUES (1, 'r_1', 1, '0.1.0', 'd', 3, 3, true, '{NOW}', 0.1);
INSERT INTO metric_value (evaluation_id, key, class_index, value)
    VALUES (1, 'overall_accuracy', -1, 0.5)
"""

FLAG = """
INSERT INTO flag (id, run_id, rule, rule_version, class_label, severity, message, evidence, fired,
                  thresholds, in_badge, state, snoozed_until, reason, first_seen, last_seen,
                  closed_at, evaluation_id)
    VALUES (:id, 'r_1', :rule, 1, '', 'high', 'm', '{}', '[]', '{}', false, :state, NULL, NULL,
            :now, :now, NULL, 1)
"""
EVENT = """
INSERT INTO flag_event (id, flag_id, at, kind) VALUES (:id, 1, :now, :kind)
"""
COSTS = """
INSERT INTO cost_matrix (id, project_id, name, version, label_set_id, weights, created_at)
    VALUES (:id, 1, 'visits', :version, 1, '', :now)
"""
BASELINE = "INSERT INTO baseline (dataset_id, run_id, pinned_at) VALUES (1, 'r_1', :now)"


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    judged = "SELECT hides_minority, rules_digest, cost_matrix_id, baseline_run_id FROM evaluation"
    assert connection.execute(text(judged)).all() == [(None, None, None, None)]
    assert connection.scalar(text("SELECT default_cost_matrix_id FROM dataset")) is None
    assert connection.scalar(text("SELECT count(*) FROM metric_value")) == 1

    costs = {"id": 1, "version": 1, "now": NOW}
    connection.execute(text(COSTS), costs)
    refused(connection, COSTS, costs | {"id": 2})
    connection.execute(text("UPDATE dataset SET default_cost_matrix_id = 1"))
    connection.execute(text(BASELINE), {"now": NOW})
    refused(connection, BASELINE, {"now": NOW})
    check_flags(connection)


def check_flags(connection: Connection) -> None:
    flag = {"id": 1, "rule": "F4", "state": "open", "now": NOW}
    connection.execute(text(FLAG), flag)
    connection.execute(text(EVENT), {"id": 1, "kind": "opened", "now": NOW})

    refused(connection, FLAG, flag | {"id": 2})  # The same rule about the same run.
    for state in ("snoozed", "dismissed", "closed", "done"):
        refused(connection, FLAG, flag | {"id": 2, "rule": "F5", "state": state})
    refused(connection, EVENT, {"id": 2, "kind": "seen", "now": NOW})

    connection.execute(text("DELETE FROM evaluation"))
    assert connection.scalar(text("SELECT evaluation_id FROM flag")) is None
    connection.execute(text("DELETE FROM run"))
    for table in ("flag", "flag_event", "baseline"):
        assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0, table


def refused(connection: Connection, statement: str, row: dict[str, object]) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(statement), row)
