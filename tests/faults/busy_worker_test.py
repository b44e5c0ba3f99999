"""A worker with a huge run at hand: small ones get past, and a signal gives it back in time."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from offdiag.domain.runs import RunFacts, RunState
from offdiag.settings.model import JobsSettings
from offdiag.store.database import Database
from offdiag.store.models import HeartbeatRow, RunRow, WorkRow
from support.contents import count_rows
from support.logging_runs import ACTUAL, PREDICTED, log
from support.slow_workers import SLOWLY, slow_worker, wait_until

pytestmark = pytest.mark.processes

SMALL = len(PREDICTED)


def log_huge(database: Database, number: int) -> None:
    """A run that takes until the worker ends, and is larger than what counts as small."""
    log(
        database,
        facts=RunFacts(name="huge", client_key=f"{SLOWLY}-{number}"),
        y_true=ACTUAL * 2,
        y_pred=PREDICTED * 2,
        dataset="huge",
    )


def states(database: Database) -> dict[str, int]:
    found = {"todo": 0, "doing": 0}
    with database.read() as session:
        for state in session.scalars(select(WorkRow.state)):
            found[state] += 1
    return found


def n_evaluated(database: Database) -> int:
    with database.read() as session:
        return list(session.scalars(select(RunRow.state))).count(RunState.EVALUATED)


def test_small_runs_get_past_huge_ones_and_a_signal_gives_those_back(
    sqlite_database: Database, tmp_path: Path
) -> None:
    check(sqlite_database, "local", tmp_path)


def test_so_it_is_where_an_engine_hands_work_over(
    postgres_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFDIAG_JOBS__ENGINE", "procrastinate")
    check(postgres_database, "procrastinate", tmp_path)


def check(database: Database, engine: str, tmp_path: Path) -> None:
    jobs = JobsSettings(
        engine=engine, lease_s=6.0, concurrency=2, small_job_values=SMALL, shutdown_timeout_s=0.5
    )
    log_file = tmp_path / "log"
    with slow_worker(database.url, log_file, jobs) as worker:
        for number in range(2):
            log_huge(database, number)
        wait_until(lambda: states(database)["doing"] == 1, log_file)
        for _ in range(3):
            log(database)
        wait_until(lambda: n_evaluated(database) == 3, log_file)
        assert states(database) == {"todo": 1, "doing": 1}

        worker.terminate()
        assert worker.wait(10) == 0, log_file.read_text()

    assert states(database) == {"todo": 2, "doing": 0}
    assert count_rows(database, HeartbeatRow) == 0
    with database.read() as session:
        assert set(session.scalars(select(WorkRow.attempts))) == {0}
    assert "released_at_stop" in log_file.read_text()
