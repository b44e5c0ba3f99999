"""Who goes on working takes the next piece in the transaction that ends the last one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, select

from offdiag.services.jobs.attempts import Outcome
from offdiag.services.jobs.kinds import TaskKind
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.run_job import run_due_jobs
from offdiag.store import job_lease, jobs
from offdiag.store.database import Database, Session
from offdiag.store.jobs import JobRequest
from offdiag.store.models import WorkRow
from support.logging_runs import POLICY

LEASE_S = 30.0
KEYS = ["a", "b", "c"]

Write = Callable[[Session], None]


def submit(database: Database) -> None:
    with database.write() as session:
        jobs.insert_many_pending(session, "note", [JobRequest(key, {"key": key}) for key in KEYS])


def noting(begun: list[str], write: Write = lambda _: None) -> Mapping[str, TaskKind]:
    def compute(_database: Database, args: Mapping[str, Any]) -> Write:
        begun.append(args["key"])
        return write

    return {"note": TaskKind(compute, lambda _session, _args, _error: None)}


def states(database: Database) -> dict[str, str]:
    with database.read() as session:
        return {row.key: row.state for row in session.scalars(select(WorkRow))}


@contextmanager
def counting_commits(database: Database) -> Iterator[list[None]]:
    engine = database._engines.writing
    found: list[None] = []

    def count(_connection: object) -> None:
        found.append(None)

    event.listen(engine, "commit", count)
    try:
        yield found
    finally:
        event.remove(engine, "commit", count)


@pytest.mark.both_databases
def test_each_piece_but_the_first_takes_one_transaction(database: Database) -> None:
    submit(database)
    begun: list[str] = []
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    with counting_commits(database) as commits:
        outcomes = list(
            run_due_jobs(database, keeper, POLICY, noting(begun), goes_on=lambda: True)
        )

    assert outcomes == [Outcome.DONE] * len(KEYS)
    assert begun == KEYS
    assert states(database) == {}
    assert len(commits) == len(KEYS) + 1


def test_who_is_told_to_stop_takes_nothing_more(database: Database) -> None:
    submit(database)
    begun: list[str] = []
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    outcomes = list(
        run_due_jobs(database, keeper, POLICY, noting(begun), goes_on=lambda: len(begun) < 2)
    )

    assert outcomes == [Outcome.DONE] * 2
    assert states(database) == {"c": "todo"}


def test_a_result_that_is_not_written_takes_nothing(database: Database) -> None:
    submit(database)
    begun: list[str] = []
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    def failing(_session: Session) -> None:
        message = "no"
        raise ValueError(message)

    outcomes = run_due_jobs(database, keeper, POLICY, noting(begun, failing), goes_on=lambda: True)

    assert next(outcomes) is Outcome.RELEASED
    assert states(database) == dict.fromkeys(KEYS, "todo")


def test_a_lease_that_was_lost_takes_nothing(database: Database) -> None:
    submit(database)
    begun: list[str] = []
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    def compute(db: Database, args: Mapping[str, Any]) -> Write:
        begun.append(args["key"])
        with db.write() as session:
            held = session.scalars(select(WorkRow).where(WorkRow.state == "doing")).one()
            held.lease = "somebody else"
        return lambda _: None

    tasks = {"note": TaskKind(compute, lambda _session, _args, _error: None)}
    outcomes = run_due_jobs(database, keeper, POLICY, tasks, goes_on=lambda: True)

    assert next(outcomes) is Outcome.LOST
    assert states(database) == {"a": "doing", "b": "todo", "c": "todo"}


def test_what_another_transaction_holds_is_passed_by_rather_than_waited_for(
    postgres_database: Database,
) -> None:
    submit(postgres_database)
    keys = select(WorkRow).where(WorkRow.key == "a")

    with postgres_database.write() as holding:
        held = holding.scalars(keys.with_for_update()).one().id
        with postgres_database.write() as session:
            lease = job_lease.claim(
                session, held, token="t", lease_s=LEASE_S, max_attempts=POLICY.max_attempts
            )

    assert lease is None
    assert states(postgres_database) == dict.fromkeys(KEYS, "todo")
