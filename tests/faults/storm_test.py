"""Workers killed again and again while runs are logged: nothing lost, nothing doubled.

`make storm` does the same for much longer.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import delete, select

from offdiag.domain.runs import RunState
from offdiag.reports.scope import ReportScope
from offdiag.services.reports.edition import report_now
from offdiag.store.database import Database
from offdiag.store.jobs import NO_ERROR_REPORTED
from offdiag.store.models import RunRow, WorkRow
from support.ledgers import Client, assert_verified
from support.reporting import editions
from support.storms import (
    LEASE_S,
    crowding,
    killing_everything,
    killing_workers,
    poisoned,
)
from support.worker_processes import wait_for_results, wait_until, workers

pytestmark = pytest.mark.processes

N_RUNS = 14
N_KILLS = 2


@pytest.fixture
def random() -> Random:
    """Another one each time; its seed is printed with a failure."""
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")  # noqa: T201
    return Random(seed)


def test_workers_are_killed_and_every_result_is_there_once(
    sqlite_database: Database, tmp_path: Path, random: Random
) -> None:
    after = killing_workers(sqlite_database, tmp_path, random, n_runs=N_RUNS, n_kills=N_KILLS)

    assert after.wrong == ()
    assert (after.acknowledged, after.runs, after.evaluations) == (N_RUNS, N_RUNS, N_RUNS)
    with sqlite_database.read() as session:
        assert set(session.scalars(select(RunRow.state))) == {RunState.EVALUATED}


def test_leases_lost_on_a_crowded_machine_are_no_reason_to_give_work_up(
    sqlite_database: Database, tmp_path: Path, random: Random
) -> None:
    found = crowding(
        sqlite_database, tmp_path, random, n_runs=8, lease_s=1.0, n_busy=0, n_stalls=2
    )

    assert (found.given_up, found.after.wrong) == (0, ())
    assert found.after.runs == found.after.evaluations == 8


@pytest.mark.postgres
def test_clients_and_workers_killed_in_one_moment_leave_nothing_undone(
    postgres_database: Database, tmp_path: Path, random: Random
) -> None:
    after = killing_everything(postgres_database, tmp_path, random, rounds=1)

    assert after.wrong == ()
    # A client may be killed between its commit and its note: such a run is there as well.
    assert 0 < after.acknowledged <= after.runs <= after.acknowledged + 2
    assert after.evaluations == after.runs


@pytest.mark.postgres
def test_a_work_table_emptied_in_a_storm_is_rebuilt(
    postgres_database: Database, tmp_path: Path, random: Random
) -> None:
    n_runs = 8
    client = Client(postgres_database, tmp_path / "ledger", random)
    for number in range(n_runs):
        client.log(number)
    report_now(
        postgres_database, name="weekly", scope=ReportScope(project="default", dataset="holdout")
    )

    with workers(
        postgres_database.url, tmp_path / "log", number=2, lease_s=LEASE_S, supervised=True
    ) as crew:
        for moment in (2, 5):
            wait_for_results(postgres_database, crew, moment)
            with postgres_database.write() as session:
                session.execute(delete(WorkRow))
            crew.kill_one(random)
            crew.start()
        wait_for_results(postgres_database, crew, n_runs)
        wait_until(lambda: editions(postgres_database)[0].state.value == "computed", crew)

    assert_verified(postgres_database, client.ledger)


def test_poison_is_given_up_after_five_starts_and_the_healthy_are_done(
    sqlite_database: Database, tmp_path: Path, random: Random
) -> None:
    found = poisoned(sqlite_database, tmp_path, random, n_healthy=4, lease_s=5.0)

    assert (found.starts, found.state, found.error) == (5, RunState.FAILED, NO_ERROR_REPORTED)
