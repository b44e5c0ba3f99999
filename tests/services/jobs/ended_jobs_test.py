"""Work that came too early is deferred, work that is hopeless is failed at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import func, select

from offdiag.services.jobs.attempts import Never, NotYet, Outcome, RetryPolicy
from offdiag.services.jobs.kinds import TaskKind
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_job
from offdiag.store import jobs
from offdiag.store.database import Database, Session, database_now
from offdiag.store.jobs import JobRequest
from offdiag.store.models import WorkRow

POLICY = RetryPolicy(max_attempts=5, first_delay_s=1.0)


def submitted(database: Database, key: str = "k") -> int:
    with database.write() as session:
        work_id = jobs.insert_pending(session, "try", JobRequest(key, {}))
    assert work_id is not None
    return work_id


def ending_with(error: Exception, **kind: Any) -> tuple[Mapping[str, TaskKind], list[str]]:
    """A task that raises, and what it was told when it was failed."""
    told: list[str] = []

    def compute(_database: Database, _args: Mapping[str, Any]) -> Callable[[Session], None]:
        raise error

    def give_up(_session: Session, _args: Mapping[str, Any], text: str) -> None:
        told.append(text)

    return {"try": TaskKind(compute, give_up, **kind)}, told


def one_attempt(
    database: Database, work_id: int, tasks: Mapping[str, TaskKind]
) -> tuple[Outcome, WorkRow, float]:
    """Outcome, the row left behind and the seconds until it is due."""
    with LeaseKeeper(database, lease_s=30) as keeper:
        outcome = run_job(database, work_id, keeper, POLICY, tasks)
    with database.read() as session:
        row, wait_s = session.execute(select(WorkRow, WorkRow.due - database_now())).one()
    return outcome, row, wait_s


@pytest.mark.both_databases
def test_what_came_too_early_is_looked_at_again_and_was_no_attempt(database: Database) -> None:
    tasks, told = ending_with(NotYet("the run is open.", delay_s=40))

    outcome, row, wait_s = one_attempt(database, submitted(database), tasks)

    assert outcome is Outcome.DEFERRED
    assert (row.state, row.attempts, row.error, row.lease) == ("todo", 0, None, None)
    assert 30 < wait_s <= 40
    assert not told


@pytest.mark.both_databases
def test_when_it_was_asked_for_again_meanwhile_the_newer_row_is_enough(
    database: Database,
) -> None:
    work_id = submitted(database)

    def compute(db: Database, _args: Mapping[str, Any]) -> Callable[[Session], None]:
        submitted(db)
        raise NotYet("the run is open.", delay_s=40)

    tasks = {"try": TaskKind(compute, lambda *_: None)}

    outcome, row, _ = one_attempt(database, work_id, tasks)

    assert outcome is Outcome.DEFERRED
    assert row.id != work_id


def test_what_is_hopeless_is_given_up_in_its_first_attempt(database: Database) -> None:
    tasks, told = ending_with(Never("no server is set. Set smtp.host."))

    outcome, row, _ = one_attempt(database, submitted(database), tasks)

    assert outcome is Outcome.FAILED
    assert (row.state, row.attempts) == ("dead", 1)
    assert row.error == "no server is set. Set smtp.host."
    assert told == [row.error]


@pytest.mark.parametrize(("delay_factor", "seconds"), [(1.0, 1), (30.0, 30)])
def test_a_task_with_a_delay_factor_waits_longer_between_attempts(
    database: Database, delay_factor: float, seconds: float
) -> None:
    tasks, _ = ending_with(OSError("no route to host"), delay_factor=delay_factor)

    outcome, _, wait_s = one_attempt(database, submitted(database), tasks)

    assert outcome is Outcome.RELEASED
    assert seconds - 5 < wait_s <= seconds


def test_reviving_work_whose_twin_waits_leaves_one_row(database: Database) -> None:
    tasks, _ = ending_with(Never("hopeless"))
    dead = submitted(database)
    one_attempt(database, dead, tasks)
    submitted(database)

    with database.write() as session:
        revived = jobs.revive(session, dead)
        rows = session.scalar(select(func.count()).select_from(WorkRow))

    assert revived is not None
    assert rows == 1
