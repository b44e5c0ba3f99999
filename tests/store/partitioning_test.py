"""The large tables can be parted by run or by evaluation, as docs/scale.md says, without new keys.

PostgreSQL refuses to part a table whose unique keys leave out the column it is parted by, and so
does Citus, which also wants references to lead to the same part or to a table that is everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Table, UniqueConstraint

from offdiag.domain.runs import RunFacts
from offdiag.services.ingest.batch import GivenPairedCounts, PairedTable
from offdiag.services.ingest.log_paired_counts import log_paired_counts
from offdiag.store.database import Database
from offdiag.store.models import Base
from support.dashboard import LESION_COUNTS, LESIONS, log_counts
from support.kinds import Postgres
from support.logging_runs import log, work_off

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
ROW = re.compile(r"^\| `(\w+)` \|.*\| (`\w+`|everywhere) \|$", re.MULTILINE)
PARTED_BY = {table: by.strip("`") for table, by in ROW.findall(PAGE.read_text(encoding="utf-8"))}
EVERYWHERE = "everywhere"
PARTED = sorted(table for table, by in PARTED_BY.items() if by != EVERYWHERE)
N_PARTS = 3


def unique_keys(table: Table) -> Iterator[set[str]]:
    yield set(table.primary_key.columns.keys())
    for constraint in table.constraints:
        if isinstance(constraint, UniqueConstraint):
            yield set(constraint.columns.keys())
    for index in table.indexes:
        if index.unique:
            yield set(index.columns.keys())


def test_the_page_says_of_every_table_where_it_lies() -> None:
    assert sorted(PARTED_BY) == sorted(Base.metadata.tables)


@pytest.mark.parametrize("name", PARTED)
def test_every_unique_key_holds_the_column_and_the_primary_key_begins_with_it(name: str) -> None:
    table, by = Base.metadata.tables[name], PARTED_BY[name]

    assert next(iter(table.primary_key.columns)).name == by
    assert all(by in key for key in unique_keys(table))


@pytest.mark.parametrize("name", PARTED)
def test_references_lead_to_the_same_part_or_to_what_is_everywhere(name: str) -> None:
    by = PARTED_BY[name]
    for constraint in Base.metadata.tables[name].foreign_key_constraints:
        other = constraint.referred_table.name
        pairs = {key.parent.name: key.column.name for key in constraint.elements}
        assert PARTED_BY[other] == EVERYWHERE or pairs.get(by) == PARTED_BY[other]


@pytest.mark.parametrize("name", sorted(set(PARTED_BY) - set(PARTED)))
def test_what_is_everywhere_refers_to_nothing_that_is_parted(name: str) -> None:
    for constraint in Base.metadata.tables[name].foreign_key_constraints:
        assert PARTED_BY[constraint.referred_table.name] == EVERYWHERE


def count_together(database: Database) -> None:
    table = PairedTable(["a", "b"], {"one": ["a", "b"], "other": ["b", "a"]}, [3, 4])
    log_paired_counts(
        database,
        runs=[RunFacts(name=name) for name in table.predicted],
        dataset="together",
        given=GivenPairedCounts([table], counted_on="duckdb"),
    )


@pytest.fixture(scope="module")
def registry(
    postgres_databases: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Runs with predictions and scores, slices, counts, and an uploaded matrix."""
    with postgres_databases.new(tmp_path_factory.mktemp("parts")) as database:
        count_together(database)
        for number in range(4):
            log(
                database,
                y_true=["a", "b", "b", "a"],
                y_pred=["a", "b", "a", "a"],
                y_score=[0.1, 0.9, 0.2, 0.1 * number],
                positive_label="b",
                dataset="scored",
            )
        log_counts(database, LESION_COUNTS, LESIONS)
        work_off(database)
        yield database


def part(connection: psycopg.Connection, name: str, by: str) -> sql.Identifier:
    """A twin of a table with its columns, keys and checks, in parts by the hash of a column."""
    twin = sql.Identifier(f"{name}_in_parts")
    connection.execute(
        sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL) PARTITION BY HASH ({})").format(
            twin, sql.Identifier(name), sql.Identifier(by)
        )
    )
    for number in range(N_PARTS):
        connection.execute(
            sql.SQL(
                "CREATE TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})"
            ).format(sql.Identifier(f"{name}_{number}"), twin, N_PARTS, number)
        )
    return twin


@pytest.mark.postgres
@pytest.mark.parametrize("name", PARTED)
def test_a_table_in_parts_takes_every_row_and_finds_it_in_one_part(
    registry: Database, name: str
) -> None:
    table, by = sql.Identifier(name), PARTED_BY[name]
    with psycopg.connect(registry.url) as connection:
        twin = part(connection, name, by)
        connection.execute(sql.SQL("INSERT INTO {} SELECT * FROM {}").format(twin, table))

        rows = "SELECT md5(t::text) FROM {} AS t ORDER BY 1"
        both = [
            connection.execute(sql.SQL(rows).format(each)).fetchall() for each in (table, twin)
        ]
        plan = connection.execute(
            sql.SQL("EXPLAIN SELECT * FROM {} WHERE {} = {}").format(
                twin, sql.Identifier(by), sql.Literal("1")
            )
        ).fetchall()
        connection.rollback()

    assert both[0] == both[1]
    assert len({found for (line,) in plan for found in re.findall(rf"{name}_\d", line)}) == 1


@pytest.mark.postgres
def test_a_table_whose_keys_leave_the_column_out_is_refused(registry: Database) -> None:
    with (
        psycopg.connect(registry.url) as connection,
        pytest.raises(psycopg.errors.FeatureNotSupported, match="must include all partitioning"),
    ):
        part(connection, "flag", "run_id")
