"""An SQLite file that somebody keeps locked for long is waited for, by loggers and by workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from structlog.testing import capture_logs

from offdiag.settings.model import JobsSettings
from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow
from offdiag_workers.loop import run_worker
from support.contents import count_rows
from support.ledgers import Client, assert_verified
from support.worker_processes import wait_for_results, workers

N_RUNS = 5
LEASE_S = 1.0


@contextmanager
def locked_in_the_middle_of_work(database: Database) -> Iterator[None]:
    """Nobody else can write while the block runs, and somebody has begun work and not ended it."""
    while True:
        with database.write() as session:
            if jobs.count_by_state(session)["doing"]:
                yield
                return


@pytest.mark.processes
def test_a_worker_process_waits_longer_than_its_lease_and_goes_on(
    sqlite_database: Database, tmp_path: Path
) -> None:
    client = Client(sqlite_database, tmp_path / "ledger", Random(3))
    for number in range(N_RUNS):
        client.log(number)

    with workers(sqlite_database.url, tmp_path / "log", number=1, lease_s=LEASE_S) as crew:
        (worker,) = crew.living
        with locked_in_the_middle_of_work(sqlite_database):
            time.sleep(1.5 * LEASE_S)
            exit_code = worker.poll()
        wait_for_results(sqlite_database, crew, N_RUNS)

    assert exit_code is None, crew.said()
    assert_verified(sqlite_database, client.ledger)


def test_a_lock_held_beyond_the_time_limit_is_waited_for(
    sqlite_database: Database, tmp_path: Path
) -> None:
    impatient = Database(sqlite_database.url, synchronous="normal", busy_timeout_s=0.05)
    stop = threading.Event()
    loop = threading.Thread(
        target=run_worker, args=(impatient, JobsSettings()), kwargs={"stop": stop}
    )
    is_free = threading.Event()
    holding = threading.Event()

    def hold() -> None:
        with sqlite_database.write():
            holding.set()
            is_free.wait(20)

    holder = threading.Thread(target=hold)
    refusals: list[int] = []

    def refused() -> None:
        refusals.append(1)
        if len(refusals) == 3:
            is_free.set()

    client = Client(impatient, tmp_path / "ledger", Random(4), refused)
    client.log(0)
    with capture_logs() as logged:
        holder.start()
        assert holding.wait(20)
        loop.start()
        client.log(1)
        holder.join()
        while count_rows(sqlite_database, EvaluationRow) < 2:
            stop.wait(0.02)
        stop.set()
        loop.join()
    impatient.close()

    assert len(refusals) >= 3
    said = {entry["event"] for entry in logged}
    assert said <= {"database_unavailable", "heartbeat_skipped", "work_done"}
