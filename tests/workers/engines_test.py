"""Workers whose work an engine hands over: the engine may lose, double and delay as it likes."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import text

from offdiag.domain.runs import RunState
from offdiag.errors import InvalidInput
from offdiag.services.jobs.procrastinate import PROCRASTINATE_NOTIFIER
from offdiag.services.jobs.submit import notifier_named
from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database, Session
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from offdiag_workers.loop import WorkerReport
from offdiag_workers.process import run_engine, working_in_background
from support.contents import count_rows
from support.ledgers import Client, assert_verified
from support.logging_runs import log
from support.worker_processes import wait_for_results, wait_until, workers

PROCRASTINATE = Settings(jobs=JobsSettings(engine="procrastinate"))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFDIAG_JOBS__ENGINE", "procrastinate")
    notifier_named.cache_clear()


def n_jobs(database: Database) -> int:
    with database.read() as session:
        return int(session.scalar(text("SELECT count(*) FROM procrastinate_jobs")) or 0)


class Stuttering:
    """An engine that hands everything over three times, and once something long gone."""

    def __init__(self, work_ids: Sequence[int]) -> None:
        self._work_ids = work_ids

    def notify(self, session: Session, work_ids: Sequence[int]) -> None:
        """It hears nothing."""

    def prepare(self, database: Database) -> None:
        """It needs nothing."""

    def serve(
        self, _database: Database, run_job: Callable[[int], None], stop: threading.Event
    ) -> None:
        for work_id in (*self._work_ids, 123_456, *self._work_ids, *self._work_ids):
            run_job(work_id)
        stop.set()


def test_an_engine_that_stutters_has_each_effect_once(sqlite_database: Database) -> None:
    for _ in range(3):
        log(sqlite_database)
    with sqlite_database.read() as session:
        waiting = [row.id for row in session.query(WorkRow.id)]

    report = run_engine(
        Stuttering(waiting), sqlite_database, JobsSettings(), stop=threading.Event()
    )

    assert report == WorkerReport(done=3, failed=0)
    assert count_rows(sqlite_database, EvaluationRow) == 3


@contextmanager
def serving(database: Database) -> Iterator[None]:
    with working_in_background(database, PROCRASTINATE):
        yield


def until(database: Database, number: int) -> None:
    give_up = threading.Event()
    for _ in range(2_000):
        if count_rows(database, EvaluationRow) >= number:
            return
        give_up.wait(0.01)
    pytest.fail(f"{count_rows(database, EvaluationRow)} of {number} evaluations")


@pytest.mark.usefixtures("engine")
def test_procrastinate_performs_what_is_logged_and_keeps_no_jobs(
    postgres_database: Database,
) -> None:
    log(postgres_database)  # Before its tables are there: reconciliation rings for it.
    with serving(postgres_database):
        until(postgres_database, 1)
        log(postgres_database)
        until(postgres_database, 2)

    assert count_rows(postgres_database, WorkRow) == 0
    assert n_jobs(postgres_database) == 0
    with postgres_database.read() as session:
        assert {row.state for row in session.query(RunRow.state)} == {RunState.EVALUATED}


@pytest.mark.usefixtures("engine")
def test_a_job_is_there_exactly_when_its_run_is(postgres_database: Database) -> None:
    PROCRASTINATE_NOTIFIER.prepare(postgres_database)
    PROCRASTINATE_NOTIFIER.prepare(postgres_database)

    log(postgres_database)
    with suppress(RuntimeError), postgres_database.write() as session:
        PROCRASTINATE_NOTIFIER.notify(session, [98])
        raise RuntimeError
    with postgres_database.write() as session:
        PROCRASTINATE_NOTIFIER.notify(session, [99, 99])

    assert n_jobs(postgres_database) == 2


def test_procrastinate_does_not_serve_an_sqlite_registry(sqlite_database: Database) -> None:
    with pytest.raises(InvalidInput, match="this registry is SQLite"), serving(sqlite_database):
        pytest.fail("it served")


@pytest.mark.processes
@pytest.mark.usefixtures("engine")
def test_rings_are_lost_and_workers_killed_and_every_result_is_there_once(
    postgres_database: Database, tmp_path: Path
) -> None:
    n_runs, random = 8, Random(secrets.randbelow(2**32))
    PROCRASTINATE_NOTIFIER.prepare(postgres_database)
    client = Client(postgres_database, tmp_path / "ledger", random)
    for number in range(n_runs):
        client.log(number)
    with postgres_database.write() as session:
        session.execute(text("TRUNCATE procrastinate_jobs CASCADE"))

    with workers(
        postgres_database.url,
        tmp_path / "log",
        number=2,
        lease_s=3.0,
        supervised=True,
        engine="procrastinate",
    ) as crew:
        wait_for_results(postgres_database, crew, 3)
        crew.kill_one(random)
        crew.start()
        wait_until(lambda: count_rows(postgres_database, WorkRow) == 0, crew)

    assert_verified(postgres_database, client.ledger)
    assert count_rows(postgres_database, EvaluationRow) == n_runs
