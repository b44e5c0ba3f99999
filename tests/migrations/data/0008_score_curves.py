"""Results that were made before have no curves, and curves go with their results."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import EVALUATION, RUN, count, execute, refused

LOADED = (*RUN, EVALUATION)
CURVE = """
INSERT INTO score_curve (evaluation_id, class_index, n_positive, n_negative, n_thresholds,
                         points, bins, histogram)
    VALUES (1, :class_index, :n_positive, 1, 3, '', NULL, '')
"""


def check(connection: Connection) -> None:
    assert count(connection, "score_curve") == [0]
    for class_index in (-1, 0):
        execute(connection, CURVE, class_index=class_index, n_positive=2)

    refused(connection, CURVE, class_index=0, n_positive=2)  # The same class twice.
    refused(connection, CURVE, class_index=-2, n_positive=2)
    refused(connection, CURVE, class_index=1, n_positive=-1)
    execute(connection, "DELETE FROM evaluation")
    assert count(connection, "score_curve") == [0]
