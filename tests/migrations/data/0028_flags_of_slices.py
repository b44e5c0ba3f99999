"""Flags and problems that were there are about all samples; a slice is another subject."""

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
                 created_at, finished_at, score_columns)
    VALUES ('r_1', 1, 1, 'first', 'evaluated', '{{}}', '{{}}', 'predictions', '{NOW}', '{NOW}', 1);
INSERT INTO flag (run_id, rule, rule_version, class_label, severity, message, evidence, fired,
                  thresholds, in_badge, state, first_seen, last_seen)
    VALUES ('r_1', 'F3', 1, 'dog', 'high', 'm', '{{}}', '[]', '{{}}', false, 'open', '{NOW}',
            '{NOW}');
INSERT INTO flag_event (flag_id, at, kind) VALUES (1, '{NOW}', 'opened');
INSERT INTO problem (dataset_id, model, cause, class_label, opened_at)
    VALUES (1, 'vit', 'missed', 'dog', '{NOW}')
"""

FLAG = f"""
INSERT INTO flag (run_id, rule, rule_version, class_label, slice, severity, message, evidence,
                  fired, thresholds, in_badge, state, first_seen, last_seen)
    VALUES ('r_1', 'F3', 1, 'dog', :slice, 'high', 'm', '{{}}', '[]', '{{}}', false, 'open',
            '{NOW}', '{NOW}')
"""
PROBLEM = f"""
INSERT INTO problem (dataset_id, model, cause, class_label, slice, opened_at)
    VALUES (1, 'vit', :cause, 'dog', 'site=z', '{NOW}')
"""


def load(connection: Connection) -> None:
    for statement in LOADED.split(";\n"):
        connection.execute(text(statement.replace(":", "\\:")))


def check(connection: Connection) -> None:
    assert connection.scalar(text("SELECT slice FROM flag")) == ""
    assert connection.scalar(text("SELECT slice FROM problem")) == ""
    assert connection.scalar(text("SELECT count(*) FROM flag_event")) == 1
    connection.execute(text(safe(FLAG)), {"slice": "site=z"})
    connection.execute(text(safe(PROBLEM)), {"cause": "slice"})

    refused(connection, FLAG, slice="")
    refused(connection, PROBLEM, cause="slice")
    refused(connection, PROBLEM, cause="guess")


def safe(sql: str) -> str:
    return sql.replace(NOW, NOW.replace(":", "\\:"))


def refused(connection: Connection, sql: str, **values: str) -> None:
    with pytest.raises(IntegrityError), connection.begin_nested():
        connection.execute(text(safe(sql)), values)
