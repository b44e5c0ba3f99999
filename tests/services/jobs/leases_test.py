"""A lease that is lost without an error of the task counts as no attempt, up to a bound."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import update

from offdiag.errors import DatabaseUnavailable
from offdiag.services.jobs.attempts import MOST_LOSSES, Ended, Outcome
from offdiag.services.jobs.kinds import TaskKind
from offdiag.services.jobs.leases import LeaseKeeper, Lost
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.jobs.run_job import Means, execute, run_job
from offdiag.store import job_lease, jobs
from offdiag.store.database import Database, Session
from offdiag.store.jobs import JobRequest, Lease
from offdiag.store.models import WorkRow
from support.logging_runs import POLICY
from support.optional import present

LEASE_S = 30.0


def asked_for(database: Database, key: str = "k") -> int:
    with database.write() as session:
        work_id = jobs.insert_pending(session, "note", JobRequest(key, {}))
    return present(work_id)


def take(database: Database, work_id: int) -> Lease:
    with database.write() as session:
        lease = job_lease.claim(
            session, work_id, token=secrets.token_hex(8), lease_s=LEASE_S, max_attempts=5
        )
    return present(lease)


def where_it_stands(database: Database, work_id: int) -> tuple[str, int, int] | None:
    """State, attempts and losses."""
    with database.read() as session:
        row = session.get(WorkRow, work_id)
        return None if row is None else (row.state, row.attempts, row.losses)


def doing(
    compute: Callable[[Database], None] = lambda _: None, *, reaches_out: bool = False
) -> Mapping[str, TaskKind]:
    def computed(database: Database, _args: Mapping[str, Any]) -> Callable[[Session], None]:
        compute(database)
        return lambda _session: None

    return {"note": TaskKind(computed, lambda *_: None, reaches_out=reaches_out)}


def overtaken(database: Database) -> None:
    """Somebody else took the work, as if its lease had run out; and then lost it as well."""
    with database.write() as session:
        session.execute(update(WorkRow).values(lease="another", lease_until=0.0))


@pytest.mark.both_databases
def test_work_whose_leases_are_lost_again_and_again_is_done_in_the_end(database: Database) -> None:
    work_id = asked_for(database)
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    for _ in range(2 * POLICY.max_attempts):
        lost = run_job(database, work_id, keeper, POLICY, doing(overtaken))
        assert lost is Outcome.LOST
    assert where_it_stands(database, work_id) == ("doing", 0, 2 * POLICY.max_attempts)

    assert run_job(database, work_id, keeper, POLICY, doing()) is Outcome.DONE


def test_who_lost_a_lease_is_told_why(database: Database) -> None:
    lease = take(database, asked_for(database))
    told: list[Ended] = []
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    execute(lease, Means(database, keeper, POLICY, doing(overtaken), told.append))

    assert [ended.outcome for ended in told] == [Outcome.LOST]
    assert present(told[0].error).endswith("of 30 s: the machine gave this process no time to.")


def test_work_that_loses_every_lease_is_given_up_in_the_end(database: Database) -> None:
    work_id = asked_for(database)
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    n_starts = 0
    while run_job(database, work_id, keeper, POLICY, doing(overtaken)) is Outcome.LOST:
        n_starts += 1

    assert n_starts == MOST_LOSSES + POLICY.max_attempts
    assert reconcile(database, POLICY, doing()).failed == 1


def test_what_others_see_counts_whatever_ended_it(database: Database) -> None:
    work_id = asked_for(database)
    keeper = LeaseKeeper(database, lease_s=LEASE_S)

    run_job(database, work_id, keeper, POLICY, doing(overtaken, reaches_out=True))

    assert where_it_stands(database, work_id) == ("doing", 1, 0)


@pytest.mark.both_databases
def test_all_that_a_process_holds_is_free_again_before_it_ends(database: Database) -> None:
    ids = [asked_for(database, key) for key in ("lost", "beside it")]
    lost: list[Lost] = []
    told = threading.Event()

    def end(each: Lost) -> None:
        lost.append(each)
        told.set()

    first, second = (take(database, work_id) for work_id in ids)
    with LeaseKeeper(database, lease_s=0.9, on_lost=end) as keeper:
        with database.write() as session:
            session.execute(
                update(WorkRow).where(WorkRow.id == first.work_id).values(lease="another")
            )
        with keeper.hold(first), keeper.hold(second):
            assert told.wait(60)

    assert where_it_stands(database, ids[0]) == ("doing", 0, 1)
    assert where_it_stands(database, ids[1]) == ("todo", 0, 1)
    assert lost[0].lease == first
    assert "it had run out, and the work was taken by others." in lost[0].reason


def test_a_database_that_was_away_hears_of_a_lost_lease_when_it_is_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_id = asked_for(database)
    write = database.write
    is_away = threading.Event()
    asked_in_vain = threading.Event()

    @contextmanager
    def sometimes(*arguments: Any, **named: Any) -> Iterator[Session]:
        if is_away.is_set():
            asked_in_vain.set()
            raise DatabaseUnavailable("the server cannot be reached.")
        with write(*arguments, **named) as session:
            yield session

    monkeypatch.setattr(database, "write", sometimes)

    def cut_off(_database: Database) -> None:
        is_away.set()
        raise DatabaseUnavailable("the server cannot be reached.")

    with LeaseKeeper(database, lease_s=0.6) as keeper:
        with pytest.raises(DatabaseUnavailable):
            run_job(database, work_id, keeper, POLICY, doing(cut_off))
        assert asked_in_vain.wait(60)
        is_away.clear()
        give_up_at = time.monotonic() + 60
        while where_it_stands(database, work_id) != ("todo", 0, 1):
            assert time.monotonic() < give_up_at


def test_a_lease_says_why_it_is_lost(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = take(database, asked_for(database))
    lost: list[Lost] = []
    told = threading.Event()

    def unreachable(**_: Any) -> Session:
        raise DatabaseUnavailable("the server cannot be reached.")

    def end(each: Lost) -> None:
        lost.append(each)
        told.set()

    monkeypatch.setattr(database, "write", unreachable)
    with LeaseKeeper(database, lease_s=0.6, on_lost=end) as keeper, keeper.hold(lease):
        assert told.wait(60)

    assert lost[0].reason.startswith("not extended for 0.")
    assert lost[0].reason.endswith(" of 0.6 s: the server cannot be reached.")
