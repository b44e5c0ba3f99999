"""What a role of a BI tool can read of a registry on PostgreSQL; it can do nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from sqlalchemy import text

from offdiag.domain.labels import LabelSet
from offdiag.errors import Conflict, InvalidInput
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.services.datasets import pin_baseline
from offdiag.services.retention.backups import back_up, restore
from offdiag.services.retention.deletion import delete_run
from offdiag.store import codec
from offdiag.store.bi_views import SCHEMA, VIEWS, View, publish_views, remove_views
from offdiag.store.database import Database
from offdiag.store.models import Base
from offdiag.store.relations.columns import RequestedColumns, schema_of
from offdiag.store.relations.rows import cell_rows, metric_rows
from offdiag.store.schema import upgrade
from support.dashboard import LesionRegistry, fill, log_counts
from support.kinds import Postgres
from support.revisions import extended_chain, use_chain

pytestmark = pytest.mark.postgres

READER = 'bi reader: of "Köln"'
PAGE = Path(__file__).parents[2] / "docs" / "bi.md"
QUESTIONS = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

OF_EACH_CLASS = {"recall", "precision", "f1", "support"}
NAMES = (
    *("run_id", "metric", "class_label", "value", "undefined_reason", "tends_to"),
    *("interval_low", "interval_high", "interval_method"),
)


@pytest.fixture(scope="module")
def registry(
    postgres_databases: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LesionRegistry]:
    """Runs of all kinds, with views that one role reads."""
    with postgres_databases.new(tmp_path_factory.mktemp("bi")) as database:
        found = fill(database)
        with role(database):
            publish_views(database, [READER])
            yield found


@pytest.fixture
def database(postgres_database: Database) -> Database:
    """An empty registry of a test's own."""
    return postgres_database


@contextmanager
def role(database: Database, name: str = READER) -> Iterator[None]:
    """A role of the server while the block runs."""
    quoted = sql.Identifier(name)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(quoted))
    yield
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP OWNED BY {}").format(quoted))
        connection.execute(sql.SQL("DROP ROLE {}").format(quoted))


def reading(database: Database, name: str = READER) -> psycopg.Connection[dict[str, Any]]:
    """A connection of the role."""
    return psycopg.connect(database.url, user=name, autocommit=True, row_factory=dict_row)


def ask(database: Database, question: str, name: str = READER) -> list[dict[str, Any]]:
    with reading(database, name) as connection:
        return connection.execute(question.encode()).fetchall()


def arrow_rows(database: Database, relation: str, found: Iterable[str]) -> list[dict[str, Any]]:
    """What `offdiag sql` reads, by another way than SQL."""
    wanted = RequestedColumns.of(schema_of(relation), None, None)
    with database.read() as session:
        read = {"metrics": metric_rows, "cells": cell_rows}[relation]
        rows: list[dict[str, Any]] = read(session, sorted(found), wanted).to_pylist()
    return rows


def in_any_order(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_has_the_columns_that_are_documented(registry: LesionRegistry, view: View) -> None:
    with reading(registry.database) as connection:
        found = connection.execute(f"SELECT * FROM {SCHEMA}.{view.name}".encode())
        assert found.description is not None
        assert [column.name for column in found.description] == list(view.columns)
        assert found.fetchone() is not None


def test_runs_that_are_deleted_are_left_out(registry: LesionRegistry) -> None:
    gone = log_counts(registry.database, [[5, 1], [1, 5]], ("a", "b"), dataset="gone")
    shown = {row["run_id"] for row in ask(registry.database, f"SELECT * FROM {SCHEMA}.runs")}

    delete_run(registry.database, gone, by=None)

    assert gone in shown
    for view in VIEWS:
        if "run_id" in view.columns:
            rows = ask(registry.database, f"SELECT DISTINCT run_id FROM {SCHEMA}.{view.name}")
            assert gone not in {row["run_id"] for row in rows}


def test_confusions_are_the_cells_of_the_matrices(registry: LesionRegistry) -> None:
    found = ask(registry.database, f"SELECT * FROM {SCHEMA}.confusions")
    expected = arrow_rows(registry.database, "cells", {row["run_id"] for row in found})

    cells = [
        {
            "run_id": row["run_id"],
            "actual": row["actual_label"],
            "predicted": row["predicted_label"],
            "count": row["n_cases"],
        }
        for row in found
    ]
    assert in_any_order(cells) == in_any_order(expected)
    for row in found:
        assert row["is_correct"] == (row["actual_label"] == row["predicted_label"])
    # A matrix that is nearly full is stored in one way, a band in another.
    assert {registry.plain, registry.many_classes} <= {row["run_id"] for row in found}


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_cells_are_read_exactly_however_large(registry: LesionRegistry, layout: str) -> None:
    counts = np.zeros((300, 300), dtype=np.int64)
    counts[299, 0], counts[0, 299], counts[17, 17] = 2**62 + 1, 255, 65_536
    if layout == "dense":
        counts = counts[np.ix_([0, 17, 299], [0, 17, 299])] + 1

    with psycopg.connect(registry.database.url) as connection:
        cells = connection.execute(
            f"SELECT actual, predicted, n_cases FROM {SCHEMA}.occupied_cells(%s, %s)".encode(),
            (codec.encode_counts(counts), len(counts)),
        ).fetchall()

    occupied = zip(*(axis.tolist() for axis in np.nonzero(counts)), strict=True)
    assert cells == [(*cell, counts[cell].item()) for cell in occupied]


@pytest.mark.parametrize("n_classes", [2, 300], ids=["dense", "sparse"])
def test_cells_of_weighted_samples_are_their_numbers(
    registry: LesionRegistry, n_classes: int
) -> None:
    samples = np.zeros((n_classes, n_classes), dtype=np.int64)
    samples[0, 1], samples[1, 1] = 300, 2
    halves, quarters = (np.multiply(samples, share, dtype=np.float64) for share in (0.5, 0.25))
    weighted = WeightedCounts(samples, halves, quarters, LabelSet.numbered(n_classes))

    with psycopg.connect(registry.database.url) as connection:
        cells = connection.execute(
            f"SELECT actual, predicted, n_cases FROM {SCHEMA}.occupied_cells(%s, %s)".encode(),
            (codec.encode_counted(weighted), n_classes),
        ).fetchall()

    assert cells == [(0, 1, 300), (1, 1, 2)]


def test_metrics_are_those_of_the_registry(registry: LesionRegistry) -> None:
    found = [
        *ask(registry.database, f"SELECT *, NULL AS class_label FROM {SCHEMA}.metrics"),
        *ask(registry.database, f"SELECT * FROM {SCHEMA}.class_metrics"),
    ]
    read = arrow_rows(registry.database, "metrics", {row["run_id"] for row in found})
    expected = [row for row in read if row["class"] is None or row["key"] in OF_EACH_CLASS]

    assert in_any_order(found) == in_any_order(
        dict(zip(NAMES, row.values(), strict=True)) for row in expected
    )
    assert any(row["undefined_reason"] for row in found)
    assert {row["metric"] for row in found if row["class_label"]} == OF_EACH_CLASS


def test_a_reader_reads_no_table(registry: LesionRegistry) -> None:
    with reading(registry.database) as connection:
        for table in Base.metadata.tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM public.{table}".encode())


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO {SCHEMA}.datasets (project) VALUES ('x')",
        f"UPDATE {SCHEMA}.runs SET author = 'me'",
        f"DELETE FROM {SCHEMA}.flags",
        "INSERT INTO public.project (name, created_at) VALUES ('x', now())",
        "DELETE FROM public.run",
        f"DROP VIEW {SCHEMA}.runs",
        f"CREATE TABLE {SCHEMA}.mine (n integer)",
        "CREATE TABLE public.mine (n integer)",
    ],
)
def test_a_reader_changes_nothing(registry: LesionRegistry, statement: str) -> None:
    with reading(registry.database) as connection:
        with pytest.raises(psycopg.Error):
            connection.execute(statement.encode())
        # It is no better off where it lifts its own limit.
        connection.execute("SET default_transaction_read_only = off")
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
        ):
            connection.execute(statement.encode())


def test_a_reader_has_limits(registry: LesionRegistry) -> None:
    shown = "current_setting('statement_timeout') AS t, current_setting('transaction_read_only')"

    assert list(ask(registry.database, f"SELECT {shown}")[0].values()) == ["1min", "on"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_questions_of_the_page_have_answers(registry: LesionRegistry, question: str) -> None:
    pin_baseline(registry.database, registry.plain, author=None)

    assert ask(registry.database, question)


def test_the_page_asks_three_questions() -> None:
    assert len(QUESTIONS) == 3


def test_views_and_readers_outlive_a_restored_backup(database: Database, tmp_path: Path) -> None:
    log_counts(database, [[5, 1], [1, 5]], ("a", "b"))
    back_up(database, tmp_path / "backup.zip")
    with role(database, "bi"):
        publish_views(database, ["bi"])

        restore(database, tmp_path / "backup.zip", force=True)

        assert len(ask(database, f"SELECT * FROM {SCHEMA}.runs", "bi")) == 1


def test_views_and_readers_outlive_an_upgrade(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
def upgrade() -> None:
    op.alter_column("project", "name", type_=sa.String(200))
"""
    use_chain(monkeypatch, extended_chain(tmp_path, "9999_changes_a_column", body))
    with role(database, "bi"):
        publish_views(database, ["bi"])

        upgrade(database)

        assert ask(database, f"SELECT * FROM {SCHEMA}.runs", "bi") == []


def test_views_of_others_are_not_dropped_with_ours(database: Database) -> None:
    publish_views(database, [])
    with database.write() as session:
        session.execute(text(f"CREATE VIEW mine AS SELECT * FROM {SCHEMA}.runs"))

    with pytest.raises(Conflict, match=r"view mine depends on view offdiag_bi\.runs"):
        publish_views(database, [])

    with database.write() as session:
        session.execute(text("DROP VIEW mine"))
    assert publish_views(database, []).readers == ()


def test_removing_leaves_nothing(database: Database) -> None:
    publish_views(database, [])

    remove_views(database)
    remove_views(database)

    with database.read() as session:
        assert session.scalar(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA}) is None


@pytest.mark.parametrize(
    ("name", "sentence"), [("nobody", "there is no role"), ("postgres", "can change the registry")]
)
def test_who_is_no_reader_gets_nothing(database: Database, name: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        publish_views(database, [name])

    with database.read() as session:
        assert session.scalar(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA}) is None


def test_an_owner_that_may_not_limit_roles_is_told_what_is_left(database: Database) -> None:
    name = database.url.partition("?")[0].rpartition("/")[2]
    with role(database, "modest"), role(database, 'the "bi"'):
        with database.write() as session:
            session.execute(text(f"GRANT CREATE ON DATABASE {name} TO modest"))
            session.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO modest"))
        modest = Database(database.url.replace("postgres@", "modest@"))

        published = publish_views(modest, ['the "bi"'])

        modest.close()
        assert [todo.partition(" IN ")[0] for todo in published.left_to_do] == [
            'ALTER ROLE "the ""bi"""'
        ] * 3
        assert ask(database, f"SELECT * FROM {SCHEMA}.runs", 'the "bi"') == []


def test_a_file_has_no_readers(sqlite_database: Database) -> None:
    with pytest.raises(InvalidInput, match="a file has no roles"):
        publish_views(sqlite_database, [])
