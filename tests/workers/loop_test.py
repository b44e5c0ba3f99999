"""The loop works until told to stop, hears the notifier at once, and waits for a lost database."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import delete

from offdiag.errors import DatabaseUnavailable
from offdiag.services.jobs.run_job import run_due_jobs
from offdiag.services.jobs.submit import LOCAL_NOTIFIER
from offdiag.settings import Settings
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, WorkRow
from offdiag_workers import loop
from offdiag_workers.loop import run_worker
from offdiag_workers.process import working_in_background
from offdiag_workers.scheduler import run_scheduler
from support.contents import count_rows
from support.logging_runs import POLICY, log

JOBS = JobsSettings()


@contextmanager
def running(database: Database, jobs: JobsSettings = JOBS) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=run_worker, args=(database, jobs), kwargs={"stop": stop})
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)
        assert not thread.is_alive()


def wait_for_evaluations(database: Database, number: int, timeout_s: float = 20) -> None:
    give_up_at = time.monotonic() + timeout_s
    while True:
        found = count_rows(database, EvaluationRow)
        if found == number:
            return
        assert time.monotonic() < give_up_at, f"{found} of {number} evaluations"
        time.sleep(0.01)


def test_until_idle_it_does_what_is_due_and_returns(database: Database) -> None:
    for _ in range(3):
        log(database)

    report = run_worker(database, JOBS, stop=threading.Event(), until_idle=True)

    assert (report.done, report.failed) == (3, 0)


def test_work_logged_while_it_waits_is_done(sqlite_database: Database) -> None:
    with running(sqlite_database):
        log(sqlite_database)

        wait_for_evaluations(sqlite_database, 1)


def test_work_of_another_process_is_heard_or_found(postgres_database: Database) -> None:
    slow_polling = JobsSettings(poll_ms=60_000)
    elsewhere = Database(postgres_database.url)

    with running(postgres_database, slow_polling):
        log(elsewhere)
        wait_for_evaluations(postgres_database, 1)

    elsewhere.close()


def test_work_of_another_process_is_found_in_a_file_by_its_commit(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_LOOK_S", 60.0)
    monkeypatch.setattr(LOCAL_NOTIFIER, "wake", lambda: None)
    elsewhere = Database(sqlite_database.url)

    with running(sqlite_database):
        log(elsewhere)
        wait_for_evaluations(sqlite_database, 1)

    elsewhere.close()


def test_an_idle_worker_seldom_looks_into_a_file(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, looked = threading.Event(), []

    def noted(*args: object, **kwargs: object) -> object:
        looked.append(args)
        return run_due_jobs(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came

    def waited(heard: int, stop: threading.Event, *, timeout_s: float) -> int:
        asked.set()
        stop.wait(timeout_s)
        return heard

    monkeypatch.setattr(loop, "_LOOK_S", 60.0)
    monkeypatch.setattr(loop, "run_due_jobs", noted)
    monkeypatch.setattr(loop, "_wait_for_notification", waited)

    with running(sqlite_database, JobsSettings(poll_ms=1)):
        for _ in range(20):
            assert asked.wait(20)
            asked.clear()

    # Its first sign of life is a commit, too.
    assert len(looked) <= 3


def test_an_unreachable_database_is_waited_for(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(sqlite_database)
    calls = 0

    def broken_at_first(*args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls <= 2:
            raise DatabaseUnavailable("the server cannot be reached.")
        return run_due_jobs(*args, **kwargs)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(loop, "run_due_jobs", broken_at_first)
    monkeypatch.setattr(loop, "_DATABASE_RETRY_S", 0.01)

    with running(sqlite_database):
        wait_for_evaluations(sqlite_database, 1)
    assert calls > 2


def test_the_clock_sweeps_at_once_when_it_starts(sqlite_database: Database) -> None:
    log(sqlite_database)
    with sqlite_database.write() as session:
        session.execute(delete(WorkRow))

    with run_scheduler(sqlite_database, POLICY), running(sqlite_database):
        wait_for_evaluations(sqlite_database, 1)


def test_worker_and_clock_run_beside_other_threads(sqlite_database: Database) -> None:
    log(sqlite_database)

    with working_in_background(sqlite_database, Settings()):
        wait_for_evaluations(sqlite_database, 1)
