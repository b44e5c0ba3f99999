"""Workers killed again and again while runs are logged: nothing lost, nothing doubled."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import delete, select

from offdiag.domain.runs import RunState
from offdiag.reports.scope import ReportScope
from offdiag.services.reports.asking import report_now
from offdiag.store import runs
from offdiag.store.database import Database
from offdiag.store.models import EvaluationRow, RunRow, WorkRow
from offdiag.store.work import WITHOUT_A_WORD
from support.contents import count_rows
from support.ledgers import Client, verify_with
from support.logging_runs import log
from support.reporting import issues
from support.worker_processes import wait_for_results, wait_until, workers

pytestmark = pytest.mark.processes

N_RUNS = 300
N_WORKERS = 3
N_KILLS = 20
LEASE_S = 5.0
"""Workers end themselves after two thirds of it, which a slow machine must not bring about."""


@pytest.fixture
def random() -> Random:
    """Another one each time; its seed is printed with a failure."""
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")  # noqa: T201
    return Random(seed)


def test_three_workers_twenty_kills_three_hundred_results(
    database: Database, tmp_path: Path, random: Random
) -> None:
    moments = sorted(random.randrange(N_RUNS - 10) for _ in range(N_KILLS))
    client = Client(database, tmp_path / "ledger", random)

    with workers(
        database.url, tmp_path / "log", number=N_WORKERS, lease_s=LEASE_S, supervised=True
    ) as crew:
        for number in range(N_RUNS // 3):
            client.log(number)
        for moment in moments:
            while client.n_acknowledged < N_RUNS and count_rows(database, EvaluationRow) < moment:
                client.log(client.n_acknowledged)
            wait_for_results(database, crew, moment)
            time.sleep(random.random() * 0.1)
            crew.kill_one(random)
            crew.start()
        while client.n_acknowledged < N_RUNS:
            client.log(client.n_acknowledged)
        wait_until(lambda: count_rows(database, WorkRow) == 0, crew)

    checked = verify_with(database, client.ledger)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{N_RUNS} runs, {N_RUNS} computed again: nothing is wrong." in checked.stdout
    assert count_rows(database, RunRow) == count_rows(database, EvaluationRow) == N_RUNS
    with database.read() as session:
        assert set(session.scalars(select(RunRow.state))) == {RunState.EVALUATED}


def test_a_work_table_emptied_in_a_storm_is_rebuilt(
    database: Database, tmp_path: Path, random: Random
) -> None:
    n_runs = 60
    client = Client(database, tmp_path / "ledger", random)
    for number in range(n_runs):
        client.log(number)
    report_now(database, name="weekly", scope=ReportScope(project="default", dataset="holdout"))

    with workers(
        database.url, tmp_path / "log", number=N_WORKERS, lease_s=LEASE_S, supervised=True
    ) as crew:
        for moment in (10, 30):
            wait_for_results(database, crew, moment)
            with database.write() as session:
                session.execute(delete(WorkRow))
            crew.kill_one(random)
            crew.start()
        wait_for_results(database, crew, n_runs)
        wait_until(lambda: issues(database)[0].state.value == "computed", crew)

    checked = verify_with(database, client.ledger)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_poison_is_given_up_after_five_starts_and_the_healthy_are_done(
    database: Database, tmp_path: Path, random: Random
) -> None:
    n_healthy = 20
    poison = log(database, dataset="poison")
    client = Client(database, tmp_path / "ledger", random)
    for number in range(n_healthy):
        client.log(number)

    with workers(
        database.url,
        tmp_path / "log",
        number=N_WORKERS,
        lease_s=2.0,
        poison=poison.id,
        supervised=True,
    ) as crew:
        wait_until(lambda: state(database, poison.id) is RunState.FAILED, crew)
        wait_for_results(database, crew, n_healthy)

    assert crew.said().count("poisoned") == 5
    with database.read() as session:
        (dead,) = session.scalars(select(WorkRow))
        assert (dead.state, dead.attempts, dead.error) == ("dead", 5, WITHOUT_A_WORD)


def state(database: Database, run_id: str) -> RunState:
    with database.read() as session:
        return runs.get_run(session, run_id).state
