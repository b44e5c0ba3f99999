"""Results that were made before have no counts of slices, and counts go with their results."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import EVALUATION, RUN, count, execute, refused

LOADED = (*RUN, EVALUATION)
COUNTS = """
INSERT INTO slice_counts (evaluation_id, columns_digest, columns, n_slices, n_parts, n_left_out,
                          dtype, members, numbers)
    VALUES (1, '', '[]', :n_slices, :n_parts, 0, 'u1', '', '')
"""


def check(connection: Connection) -> None:
    assert count(connection, "slice_counts") == [0]
    refused(connection, COUNTS, n_slices=-1, n_parts=1)
    refused(connection, COUNTS, n_slices=0, n_parts=0)
    execute(connection, COUNTS, n_slices=3, n_parts=2)

    refused(connection, COUNTS, n_slices=3, n_parts=2)  # The same evaluation twice.
    execute(connection, "DELETE FROM evaluation")
    assert count(connection, "slice_counts") == [0]
