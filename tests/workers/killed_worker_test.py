"""A worker killed at any moment, and started again, leaves what an undisturbed one leaves."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from offdiag.store import work
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from support.contents import contents
from support.logging_runs import log, work_off

KILL_POINTS = Path(__file__).parent.parent / "support" / "kill_points.py"
N_RUNS = 20
N_KILLS = 3

pytestmark = pytest.mark.processes


def many_runs(database: Database, n_runs: int = N_RUNS) -> None:
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 5, 2_000)
    for _ in range(n_runs):
        noise = rng.random(2_000) < rng.random()
        log(database, y_true=truth, y_pred=np.where(noise, rng.integers(0, 5, 2_000), truth))


@contextmanager
def worker_process(database: Database) -> Iterator[subprocess.Popen[bytes]]:
    """`offdiag worker` on this database, with leases of one second."""
    environment = {
        **os.environ,
        "OFFDIAG_URL": database.url,
        "OFFDIAG_JOBS__LEASE_S": "1",
        "OFFDIAG_JOBS__MAX_ATTEMPTS": "50",
    }
    command = [str(Path(sys.executable).with_name("offdiag")), "worker"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def evaluated(database: Database) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(EvaluationRow)) or 0


def wait_until(condition: object, *, timeout_s: float) -> None:
    assert callable(condition)
    give_up_at = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < give_up_at, "it did not happen in time"
        time.sleep(0.02)


def test_killed_between_any_two_statements(sqlite_database: Database) -> None:
    log(sqlite_database)
    assert sqlite_database.path is not None
    undisturbed = sqlite_database.path.with_name("undisturbed.db")
    sqlite_database.close()
    shutil.copy(sqlite_database.path, undisturbed)

    done = subprocess.run(
        [sys.executable, str(KILL_POINTS), str(undisturbed)],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]

    assert [line["killed"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert len(lines) > 15, "the work has fewer statements than were counted when this was written"
    assert len({line["contents"] for line in lines}) == 1


def test_killed_at_random_moments(database: Database) -> None:
    many_runs(database)
    rng = random.Random(5)

    for kill in range(N_KILLS):
        with worker_process(database) as process:
            target = min(N_RUNS - 1, evaluated(database) + 3)
            wait_until(lambda goal=target: evaluated(database) >= goal, timeout_s=60)
            time.sleep(rng.random() * 0.05)
            process.send_signal(signal.SIGKILL)
        if kill == 0:
            with database.read() as session:
                assert work.count_by_state(session)["dead"] == 0
    with worker_process(database):
        wait_until(lambda: evaluated(database) == N_RUNS, timeout_s=60)
        wait_until(lambda: not contents(database)["work"], timeout_s=20)

    with database.read() as session:
        current = session.scalar(
            select(func.count()).select_from(EvaluationRow).where(EvaluationRow.is_current)
        )
        states = set(session.scalars(select(RunRow.state)))
        left = session.scalar(select(func.count()).select_from(WorkRow))
    assert (current, states, left) == (N_RUNS, {"evaluated"}, 0)


def test_the_content_after_kills_is_that_of_an_undisturbed_worker(
    sqlite_database: Database, tmp_path: Path
) -> None:
    many_runs(sqlite_database, 12)
    assert sqlite_database.path is not None
    sqlite_database.close()
    undisturbed_file = shutil.copy(sqlite_database.path, tmp_path / "undisturbed.db")
    undisturbed = Database(f"sqlite:///{undisturbed_file}", synchronous="normal")
    work_off(undisturbed)

    for goal in (2, 5, 9):
        with worker_process(sqlite_database) as process:
            wait_until(lambda least=goal: evaluated(sqlite_database) >= least, timeout_s=60)
            process.send_signal(signal.SIGKILL)
    with worker_process(sqlite_database):
        wait_until(lambda: not contents(sqlite_database)["work"], timeout_s=60)

    assert contents(sqlite_database, in_any_order=True) == contents(undisturbed, in_any_order=True)
    undisturbed.close()


def test_a_worker_told_to_stop_ends_what_it_began(sqlite_database: Database) -> None:
    many_runs(sqlite_database, 10)

    with worker_process(sqlite_database) as process:
        wait_until(lambda: evaluated(sqlite_database) >= 1, timeout_s=60)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=20)

    assert code == 0
    with sqlite_database.read() as session:
        assert work.count_by_state(session)["doing"] == 0
