"""No revision keeps a large table of a running registry locked for long.

What follows is said of PostgreSQL, where others go on working during an upgrade. Revisions before
`FIRST` are those of the first release: there is no team's registry that goes through them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from sqlalchemy import event

import offdiag_migrations
from offdiag.store.database import Database
from offdiag.store.schema import migrate_to
from support.postgres import PostgresServer

REVISIONS = offdiag_migrations.revisions()
FIRST = "0018"
LATER = [each for each in REVISIONS if each >= FIRST]

LARGE = (
    *("run", "evaluation", "metric_value", "class_values", "confusion_matrix", "score_curve"),
    *("prediction_chunk", "score_chunk", "truth_chunk", "truth_slice", "counted_cases"),
    *("counted_slice", "uploaded_matrix", "flag", "flag_event", "audit_event"),
)

_TABLE = rf'"?(?:{"|".join(LARGE)})"?'
FORBIDDEN = {
    "an index that is not built beforehand": re.compile(
        rf"CREATE (?:UNIQUE )?INDEX (?!IF NOT EXISTS)\S+ ON {_TABLE} "
    ),
    "a constraint that is checked at once": re.compile(
        rf"ALTER TABLE {_TABLE} ADD (?:CONSTRAINT \S+ )?(?:CHECK|FOREIGN KEY)(?![^;]*NOT VALID)"
    ),
    "a constraint that builds an index": re.compile(
        rf"ALTER TABLE {_TABLE} ADD (?:CONSTRAINT \S+ )?(?:UNIQUE|PRIMARY KEY) \("
    ),
    "a column that must not be empty, looked for row by row": re.compile(
        rf"ALTER TABLE {_TABLE} ALTER COLUMN \S+ SET NOT NULL"
    ),
    "a column whose values are written anew": re.compile(
        rf"ALTER TABLE {_TABLE} ALTER COLUMN \S+ TYPE "
    ),
    "every row changed at once": re.compile(rf"UPDATE {_TABLE} SET "),
}


def broken_rules(sql: str) -> list[str]:
    return [rule for rule, pattern in FORBIDDEN.items() if pattern.search(sql)]


@pytest.fixture(scope="module")
def said(postgres_server: PostgresServer) -> Iterator[dict[str, str]]:
    """What each newer revision says to PostgreSQL, on one line."""
    database = Database(postgres_server.create("lock_rules"))
    found = {}
    with database.migrate() as connection:
        statements: list[str] = []
        event.listen(connection, "before_cursor_execute", lambda *said: statements.append(said[2]))
        for revision in REVISIONS:
            statements.clear()
            migrate_to(connection, revision)
            found[revision] = " ".join(";".join(statements).split())
    yield found
    database.close()
    postgres_server.drop("lock_rules")


@pytest.mark.postgres
def test_a_revision_keeps_no_large_table_locked(said: dict[str, str]) -> None:
    assert {each: broken_rules(said[each]) for each in LATER} == {each: [] for each in LATER}


@pytest.mark.postgres
def test_the_rules_see_what_the_first_revisions_did(said: dict[str, str]) -> None:
    assert "0016_size_of_work" not in breaking(said)
    assert {"0002_truth_revisions", "0005_flags_and_costs"} <= breaking(said)


def breaking(said: dict[str, str]) -> set[str]:
    return {revision for revision, sql in said.items() if broken_rules(sql)}


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE INDEX ix_run_author ON run (author);",
        "CREATE UNIQUE INDEX uq_x ON metric_value (key);",
        "ALTER TABLE run ADD CONSTRAINT ck_run_n CHECK (n > 0);",
        "ALTER TABLE evaluation ADD CONSTRAINT fk_x FOREIGN KEY(run_id) REFERENCES run (id);",
        "ALTER TABLE run ADD CONSTRAINT uq_x UNIQUE (author);",
        "ALTER TABLE run ALTER COLUMN author SET NOT NULL;",
        "ALTER TABLE score_chunk ALTER COLUMN seq TYPE BIGINT;",
        "UPDATE run SET author = 'nobody';",
    ],
)
def test_what_locks_a_large_table_is_found(sql: str) -> None:
    assert len(broken_rules(sql)) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE INDEX IF NOT EXISTS ix_run_author ON run (author);",
        "CREATE INDEX ix_work_size ON work (size);",
        "ALTER TABLE run ADD COLUMN colour TEXT;",
        "ALTER TABLE run ADD CONSTRAINT ck_run_n CHECK (n > 0) NOT VALID;",
        "ALTER TABLE run VALIDATE CONSTRAINT ck_run_n;",
        "UPDATE work SET size = 0;",
    ],
)
def test_what_is_quick_is_let_through(sql: str) -> None:
    assert broken_rules(sql) == []
