"""Runs that were evaluated before are neither judged nor compared, and can be."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import EVALUATION, RUN, count, execute, refused, rows

LOADED = (
    *RUN,
    EVALUATION,
    """
    INSERT INTO metric_value (evaluation_id, key, class_index, value)
        VALUES (1, 'overall_accuracy', -1, 0.5)
    """,
)
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


def check(connection: Connection) -> None:
    judged = "SELECT hides_minority, rules_digest, cost_matrix_id, baseline_run_id FROM evaluation"
    assert rows(connection, judged) == [(None, None, None, None)]
    assert rows(connection, "SELECT default_cost_matrix_id FROM dataset") == [(None,)]
    assert count(connection, "metric_value") == [1]

    execute(connection, COSTS, id=1, version=1)
    refused(connection, COSTS, id=2, version=1)
    execute(connection, "UPDATE dataset SET default_cost_matrix_id = 1", BASELINE)
    refused(connection, BASELINE)
    check_flags(connection)


def check_flags(connection: Connection) -> None:
    execute(connection, FLAG, id=1, rule="F4", state="open")
    execute(connection, EVENT, id=1, kind="opened")

    refused(connection, FLAG, id=2, rule="F4", state="open")  # The same rule about the same run.
    for state in ("snoozed", "dismissed", "closed", "done"):
        refused(connection, FLAG, id=2, rule="F5", state=state)
    refused(connection, EVENT, id=2, kind="seen")

    execute(connection, "DELETE FROM evaluation")
    assert rows(connection, "SELECT evaluation_id FROM flag") == [(None,)]
    execute(connection, "DELETE FROM run")
    assert count(connection, "flag", "flag_event", "baseline") == [0, 0, 0]
