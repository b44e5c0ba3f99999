"""Whichever call to the database fails, what holds always holds, and doing it again ends it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import func, make_url, select

from offdiag.errors import DatabaseUnavailable
from offdiag.store import health
from offdiag.store.database import Database
from offdiag.store.health import integrity_problems
from offdiag.store.models import ReportEditionRow, ReportFileRow
from support.contents import contents, row_counts
from support.failing_calls import failing_at
from support.operations import DEEDS, Deed, opened
from support.postgres import PostgresServer

STRIDES = {"sqlite": 1 if "OFFDIAG_LONG" in os.environ else 13, "postgresql": 31}
"""A registry for each call takes long, so one call in so many fails, from one that is drawn."""

every_deed = pytest.mark.parametrize(
    "deed", ["log_run", "log_matrix", "finish", "revise_truth", "tick", "report"]
)


@pytest.fixture(autouse=True)
def _reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFDIAG_REPORTS__FOLDER", str(tmp_path / "reports"))


def came_through(database: Database, deed: Deed, nth: int) -> bool:
    """Do it while the n-th call fails. True if it has fewer calls."""
    with failing_at(database, nth) as calls:
        try:
            deed.do(database)
        except DatabaseUnavailable:
            assert calls.has_failed
    assert_nothing_is_half_there(database)
    return not calls.has_failed


def assert_nothing_is_half_there(database: Database) -> None:
    with database.read() as session:
        assert not integrity_problems(session)
        assert not list(health.incomplete_runs(session))
        assert not list(health.runs_without_results(session))
        written = dict(
            session.execute(
                select(ReportEditionRow.state, func.count(ReportFileRow.kind))
                .outerjoin(ReportFileRow, ReportFileRow.edition_id == ReportEditionRow.id)
                .group_by(ReportEditionRow.state)
            ).all()
        )
    assert written.items() <= {"pending": 0, "computed": 4}.items()


@every_deed
def test_on_sqlite_any_call_may_fail(sqlite_database: Database, tmp_path: Path, deed: str) -> None:
    acted = DEEDS[deed]
    acted.prepare(sqlite_database)
    assert sqlite_database.path is not None
    sqlite_database.close()
    found = []

    for nth in drawn_calls("sqlite"):
        copy = shutil.copy(sqlite_database.path, tmp_path / f"{nth}.db")
        with closing(opened(f"sqlite:///{copy}")) as database:
            is_over = came_through(database, acted, nth)
            acted.do_again(database)
            found.append(contents(database))
        if is_over:
            break

    assert nth > 10
    assert all(each == found[-1] for each in found)


@pytest.mark.postgres
@every_deed
def test_on_postgresql_some_calls_may_fail(
    postgres_database: Database, postgres_server: PostgresServer, deed: str
) -> None:
    acted = DEEDS[deed]
    acted.prepare(postgres_database)
    postgres_database.close()
    template = make_url(postgres_database.url).database or ""
    found: list[dict[str, int]] = []

    calls = drawn_calls("postgresql")
    for database in copies(postgres_server, template):
        nth = next(calls)
        is_over = came_through(database, acted, nth)
        acted.do_again(database)
        found.append(row_counts(database))
        if is_over:
            break

    assert all(each == found[-1] for each in found)


def drawn_calls(dialect: str) -> Iterator[int]:
    """Numbers of calls that fail, one in each turn."""
    stride = STRIDES[dialect]
    return count(1 + secrets.randbelow(stride), stride)


def copies(server: PostgresServer, template: str) -> Iterator[Database]:
    """Copies of a database, each gone before the next is made."""
    while True:
        with closing(opened(server.create("copy", template=template))) as database:
            try:
                yield database
            finally:
                server.drop("copy")
