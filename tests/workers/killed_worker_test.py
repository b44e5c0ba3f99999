"""A worker killed at any moment, and started again, leaves what an undisturbed one leaves."""

from __future__ import annotations

import json
import secrets
import shutil
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random

import numpy as np
import pytest

from offdiag.store import jobs
from offdiag.store.database import Database
from offdiag.store.models import WorkRow
from support.contents import contents, count_rows
from support.logging_runs import log, work_off
from support.quick_starts import run_quickly
from support.worker_processes import Workers, wait_for_results, wait_until, workers

KILL_POINTS = Path(__file__).parent.parent / "support" / "kill_points.py"
N_RUNS = 6
LEASE_S = 1.0

pytestmark = pytest.mark.processes


def many_runs(database: Database, n_runs: int = N_RUNS) -> None:
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 5, 2_000)
    for _ in range(n_runs):
        noise = rng.random(2_000) < rng.random()
        log(database, y_true=truth, y_pred=np.where(noise, rng.integers(0, 5, 2_000), truth))


def test_killed_between_any_two_statements(sqlite_database: Database) -> None:
    log(sqlite_database)
    assert sqlite_database.path is not None
    undisturbed = sqlite_database.path.with_name("undisturbed.db")
    sqlite_database.close()
    shutil.copy(sqlite_database.path, undisturbed)

    done = run_quickly([sys.executable, KILL_POINTS, undisturbed], check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]

    assert [line["killed"] for line in lines] == [True] * (len(lines) - 1) + [False]
    assert lines[-1]["n"] > 15, "there are fewer statements than when this was written"
    assert len({line["contents"] for line in lines}) == 1


def test_the_content_after_kills_is_that_of_an_undisturbed_worker(
    sqlite_database: Database, tmp_path: Path
) -> None:
    many_runs(sqlite_database)
    assert sqlite_database.path is not None
    sqlite_database.close()
    undisturbed_file = shutil.copy(sqlite_database.path, tmp_path / "undisturbed.db")
    undisturbed = Database(f"sqlite:///{undisturbed_file}", synchronous="normal")
    work_off(undisturbed)
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")  # noqa: T201
    random = Random(seed)

    with one_worker(sqlite_database, tmp_path) as crew:
        for goal in (1, 3):
            wait_for_results(sqlite_database, crew, goal)
            time.sleep(random.random() * 0.05)
            crew.kill_one(random)
            crew.start()
        wait_until(lambda: count_rows(sqlite_database, WorkRow) == 0, crew)

    assert contents(sqlite_database, in_any_order=True) == contents(undisturbed, in_any_order=True)
    undisturbed.close()


def test_a_worker_told_to_stop_ends_what_it_began(
    sqlite_database: Database, tmp_path: Path
) -> None:
    many_runs(sqlite_database)

    with one_worker(sqlite_database, tmp_path) as crew:
        (worker,) = crew.living
        wait_for_results(sqlite_database, crew, 1)
        worker.terminate()
        assert worker.wait(60) == 0, crew.said()

    with sqlite_database.read() as session:
        assert jobs.count_by_state(session)["doing"] == 0


def one_worker(database: Database, folder: Path) -> AbstractContextManager[Workers]:
    return workers(database.url, folder / "log", number=1, lease_s=LEASE_S)
