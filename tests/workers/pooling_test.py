"""Through a pooler that lends connections by transaction everything works, more slowly at most."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from offdiag.cli.operate.doctor import examine
from offdiag.errors import DatabaseUnavailable, InvalidInput
from offdiag.services.jobs.procrastinate import PROCRASTINATE_NOTIFIER
from offdiag.services.retention.backups import back_up, restore
from offdiag.services.verification.verify import verify
from offdiag.settings import DatabaseSettings, JobsSettings, Settings
from offdiag.store.address import libpq_url
from offdiag.store.database import Database
from offdiag.store.schema import check, upgrade
from offdiag_workers.loop import run_worker
from support.archives import held
from support.logging_runs import log, work_off
from support.pooler import N_CONNECTIONS, running_pooler
from support.postgres import PostgresServer

pytestmark = pytest.mark.postgres

N_THREADS = 3 * N_CONNECTIONS


@pytest.fixture(scope="module")
def pooler(postgres_server: PostgresServer) -> Iterator[str]:
    with running_pooler(postgres_server) as place:
        yield place


def through(pooler: str, database: Database) -> str:
    return f"{database.url.partition('?')[0]}?{pooler}"


@pytest.fixture
def pooled(pooler: str, postgres_database: Database) -> Iterator[Database]:
    database = Database(f"{through(pooler, postgres_database)}&pooling=transaction")
    yield database
    database.close()


def test_many_threads_log_and_evaluate_over_few_connections(
    pooled: Database, postgres_database: Database
) -> None:
    def log_some(number: int) -> None:
        for each in range(2):
            log(pooled, y_pred=["a", "b", "b", "b", "c", "abc"[(number + each) % 3]])
        work_off(pooled)

    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(log_some, range(N_THREADS)))
    work_off(pooled)

    report = verify(postgres_database)
    assert report.is_clean
    with postgres_database.read() as session:
        counted = "SELECT count(*) FROM evaluation WHERE is_current"
        assert session.scalar(text(counted)) == 2 * N_THREADS


def test_limits_hold_in_each_transaction_and_are_nobody_elses(
    pooler: str, pooled: Database, postgres_database: Database
) -> None:
    import psycopg

    limits = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    shown = "SELECT " + ", ".join(f"current_setting('{name}')" for name in limits)

    for enter in (pooled.read, pooled.write):
        with enter() as session:
            assert tuple(session.execute(text(shown)).one()) == ("1min", "10s", "1min")

    with psycopg.connect(through(pooler, postgres_database), autocommit=True) as other:
        for _ in range(3 * N_CONNECTIONS):
            assert other.execute(shown.encode()).fetchone() == ("0", "0", "0")


def test_nothing_is_prepared_that_the_next_transaction_would_not_find(pooled: Database) -> None:
    for number in range(12):
        with pooled.write() as session:
            session.execute(text("SELECT CAST(:number AS integer) + 1"), {"number": number})

    with pooled.read() as session:
        assert session.execute(text("SELECT statement FROM pg_prepared_statements")).all() == []


def test_a_schema_is_made_and_filled_from_a_backup_through_it(
    pooler: str, pooled: Database, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    log(pooled)
    work_off(pooled)
    back_up(pooled, tmp_path / "backup.zip")
    empty = Database(postgres_server.create("pooled_empty"))
    target = Database(f"{through(pooler, empty)}&pooling=transaction")

    assert upgrade(target).is_current
    restore(target, tmp_path / "backup.zip", force=True)

    assert check(target).is_current
    assert held(target) == held(pooled)
    for database in (target, empty):
        database.close()
    postgres_server.drop("pooled_empty")


def test_a_worker_says_that_it_does_not_listen_and_works_all_the_same(pooled: Database) -> None:
    log(pooled)

    with capture_logs() as logs:
        report = run_worker(pooled, JobsSettings(), stop=threading.Event(), until_idle=True)

    assert report.done == 1
    (said,) = [entry for entry in logs if entry["event"] == "listen_is_off"]
    assert "pooler" in said["reason"]


def test_the_doctor_says_so_too(pooled: Database) -> None:
    findings = examine(Settings(database=DatabaseSettings(url=pooled.url)))

    (engine,) = [finding for finding in findings if finding.name == "engine"]
    assert "LISTEN is off" in engine.text


def test_who_does_not_mention_the_pooler_is_told_how(
    pooler: str, postgres_database: Database
) -> None:
    silent = Database(through(pooler, postgres_database))

    with pytest.raises(DatabaseUnavailable, match="a pooler refuses") as caught, silent.read():
        pass

    assert caught.value.hint is not None
    assert "?pooling=transaction" in caught.value.hint
    silent.close()


def test_an_engine_that_keeps_connections_needs_the_server_itself(pooled: Database) -> None:
    with pytest.raises(InvalidInput, match="keeps connections"):
        PROCRASTINATE_NOTIFIER.prepare(pooled)
    with pytest.raises(InvalidInput, match="keeps connections"):
        libpq_url(pooled.url)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ("pooling=statement", "pooling=statement is not known"),
        ("pooling=transaction&pooling=session", "is not known"),
        ("pooling=transaction&options=-c%20work_mem%3D1MB", "does not pass options on"),
    ],
)
def test_what_a_pooler_cannot_do_is_refused(parameters: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        Database(f"postgresql://somebody@nowhere/registry?{parameters}")
