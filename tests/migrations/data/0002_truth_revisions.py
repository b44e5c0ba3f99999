"""Truth that was logged before is the first version of its lineage, and labelled in full."""

from __future__ import annotations

from sqlalchemy import Connection

from support.old_rows import DATASET, count, execute, refused, rows

LOADED = (
    *DATASET,
    """
    INSERT INTO truth_version (id, dataset_id, number, digest, n_samples, id_kind, class_counts,
                               origin, created_at)
        VALUES (3, 1, 1, 'd', 2, 'position', '[1, 1]', 'logged', :now),
               (5, 1, 2, 'e', 3, 'int', '[2, 1]', 'logged', :now)
    """,
    """
    INSERT INTO truth_chunk (truth_version_id, seq, n, dtype, codec, codes, sha256)
        VALUES (5, 0, 3, 'u1', 'raw', '', 'd')
    """,
    """
    INSERT INTO run (id, project_id, dataset_id, truth_version_id, name, state, params, tags,
                     source_orientation, created_at, finished_at)
        VALUES ('r_1', 1, 1, 5, 'first', 'evaluated', '{}', '{}', 'predictions', :now, :now)
    """,
    """
    INSERT INTO evaluation (id, run_id, truth_version_id, suite_version, engine_version,
                            input_digest, n_cases, is_current, computed_at, duration_s)
        VALUES (1, 'r_1', 5, 1, '0.1.0', 'old', 3, false, :now, 0.1),
               (2, 'r_1', 5, 2, '0.1.0', 'new', 3, true, :now, 0.1)
    """,
    """
    INSERT INTO metric_value (evaluation_id, key, class_index, value)
        VALUES (2, 'accuracy', -1, 0.5)
    """,
)
REVISION = """
INSERT INTO truth_version (id, dataset_id, number, digest, n_samples, id_kind, class_counts,
                           origin, created_at, root_id, n_labelled, parent_id, reason)
    VALUES (:id, 1, :number, 'd', 2, 'position', '[1, 0]', :origin, :now, 3, 1, :parent, :reason)
"""
SLICED = """
INSERT INTO evaluation (id, run_id, truth_version_id, suite_version, engine_version, input_digest,
                        n_cases, is_current, computed_at, duration_s, n_labelled, slice)
    VALUES (:id, 'r_1', 5, 2, '0.1.0', :digest, 3, true, :now, 0.1, :n_labelled, :slice)
"""


def check(connection: Connection) -> None:
    versions = "SELECT id, number, digest, root_id, n_labelled FROM truth_version ORDER BY id"
    assert rows(connection, versions) == [(3, 1, "d", 3, 2), (5, 2, "e", 5, 3)]
    evaluations = "SELECT id, n_labelled, slice, is_current FROM evaluation ORDER BY id"
    assert rows(connection, evaluations) == [(1, 3, None, False), (2, 3, None, True)]
    assert count(connection, "metric_value", "truth_chunk") == [1, 1]
    check_lineages(connection)
    check_slices(connection)


def check_lineages(connection: Connection) -> None:
    revision = {"id": 7, "number": 3, "origin": "revised", "parent": 3, "reason": "typo"}
    # The same content as what was logged: the correction of a correction.
    execute(connection, REVISION, **revision)

    another = revision | {"id": 8, "number": 4}
    refused(connection, REVISION, **another)  # A second child.
    refused(connection, REVISION, **another | {"parent": 7, "reason": None})
    refused(connection, REVISION, **another | {"parent": None})
    refused(connection, REVISION, **another | {"origin": "logged", "parent": None})


def check_slices(connection: Connection) -> None:
    germany = {"id": 3, "digest": "germany", "slice": "country=DE", "n_labelled": 2}
    execute(connection, SLICED, **germany)

    refused(connection, SLICED, **germany | {"id": 4, "digest": "other"})
    refused(connection, SLICED, id=4, digest="whole", slice=None, n_labelled=2)
    refused(connection, SLICED, id=4, digest="more", slice="country=FR", n_labelled=4)

    execute(connection, "DELETE FROM run")
    assert count(connection, "evaluation") == [0]
