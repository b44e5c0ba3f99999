"""Work is done once in effect: leases, fencing, retries, burial and the healing sweep."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from offdiag.domain.runs import RunState
from offdiag.errors import DatabaseUnavailable, StorageFull
from offdiag.metrics.suite import SUITE_VERSION
from offdiag.services.jobs.attempts import Outcome, RetryPolicy
from offdiag.services.jobs.kinds import TASKS, TaskKind
from offdiag.services.jobs.leases import LeaseKeeper
from offdiag.services.jobs.reconcile import reconcile
from offdiag.services.jobs.run_job import ClaimRules, run_job, run_next_job
from offdiag.store import job_lease, jobs, runs
from offdiag.store.database import Database, Session, database_now, utc_now
from offdiag.store.jobs import JobRequest
from offdiag.store.models import EvaluationRow, ProjectRow, WorkRow
from support.contents import count_rows
from support.logging_runs import POLICY, log, work_off
from support.optional import present

LEASE_S = 30.0


def keeper_of(database: Database) -> LeaseKeeper:
    return LeaseKeeper(database, lease_s=LEASE_S)


def submitted(database: Database, key: str = "k") -> int:
    with database.write() as session:
        work_id = jobs.insert_pending(session, "note", JobRequest(key, {"name": key}))
    return present(work_id)


def the_work(database: Database) -> WorkRow | None:
    with database.read() as session:
        return session.scalar(select(WorkRow))


def noting(
    compute: Callable[[Database], None] = lambda _: None,
) -> Mapping[str, TaskKind]:
    """A task that leaves a project of the given name behind as its result."""

    def computed(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
        compute(database)

        def write(session: Session) -> None:
            session.add(ProjectRow(name=args["name"], created_at=database.clock()))
            session.flush()

        return write

    def given_up(session: Session, args: Mapping[str, Any], error: str) -> None:
        name = f"gave up {args['name']}: {error}"
        session.add(ProjectRow(name=name, created_at=utc_now()))
        session.flush()

    return {"note": TaskKind(computed, given_up)}


def results(database: Database) -> list[str]:
    with database.read() as session:
        return sorted(session.scalars(select(ProjectRow.name)))


def expire(database: Database) -> None:
    """Let every lease have run out a minute ago, as after a kill."""
    with database.write() as session:
        session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until - LEASE_S - 60))


def test_a_key_waits_at_most_once(database: Database) -> None:
    submitted(database)

    with database.write() as session:
        again = jobs.insert_pending(session, "note", JobRequest("k", {}))

    assert again is None


def test_while_work_is_being_done_its_key_is_free_again(database: Database) -> None:
    work_id = submitted(database)
    with database.write() as session:
        job_lease.claim(session, work_id, token="t", lease_s=LEASE_S, max_attempts=5)

    assert submitted(database) != work_id


def test_work_that_somebody_holds_is_left_alone(database: Database) -> None:
    work_id = submitted(database)
    with database.write() as session:
        job_lease.claim(session, work_id, token="t", lease_s=LEASE_S, max_attempts=5)

    with keeper_of(database) as keeper:
        assert run_job(database, work_id, keeper, POLICY, noting()) is Outcome.ALREADY_CLAIMED
        assert run_next_job(database, keeper, POLICY, noting()) is None


@pytest.mark.both_databases
def test_work_of_a_killed_worker_is_taken_up_again_and_counts_as_an_attempt(
    database: Database,
) -> None:
    work_id = submitted(database)
    with database.write() as session:
        job_lease.claim(session, work_id, token="t", lease_s=LEASE_S, max_attempts=5)
    expire(database)

    attempts = []
    with keeper_of(database) as keeper:
        run_next_job(
            database,
            keeper,
            POLICY,
            noting(lambda db: attempts.append(getattr(the_work(db), "attempts", None))),
        )

    assert attempts == [2]
    assert results(database) == ["k"]


def test_a_worker_that_comes_back_late_writes_nothing(database: Database) -> None:
    work_id = submitted(database)

    def overtaken(db: Database) -> None:
        expire(db)
        with keeper_of(db) as other:
            assert run_job(db, work_id, other, POLICY, noting()) is Outcome.DONE

    with keeper_of(database) as keeper:
        outcome = run_job(database, work_id, keeper, POLICY, late(overtaken))

    assert outcome is Outcome.LOST
    assert results(database) == ["k"]


def late(compute: Callable[[Database], None]) -> Mapping[str, TaskKind]:
    """Like `noting`, under another name, so that both results would be seen."""

    def computed(database: Database, args: Mapping[str, Any]) -> Callable[[Session], None]:
        compute(database)

        def write(session: Session) -> None:
            session.add(ProjectRow(name=f"late {args['name']}", created_at=database.clock()))
            session.flush()

        return write

    return {"note": TaskKind(computed, noting()["note"].record_failure)}


def test_an_error_that_no_database_can_store_is_kept_escaped(database: Database) -> None:
    def failing_badly(_database: Database) -> None:
        raise ValueError("no class a\0b")

    work_id = submitted(database)
    with keeper_of(database) as keeper:
        outcome = run_job(database, work_id, keeper, POLICY, noting(failing_badly))

    assert outcome is Outcome.RELEASED
    assert present(the_work(database)).error == r"ValueError: no class a\x00b"


def test_failed_work_is_tried_again_with_its_error_kept(database: Database) -> None:
    work_id = submitted(database)

    with keeper_of(database) as keeper:
        outcome = run_job(database, work_id, keeper, POLICY, noting(failing))

    waiting = the_work(database)
    assert outcome is Outcome.RELEASED
    assert waiting is not None
    assert (waiting.state, waiting.attempts) == ("todo", 1)
    assert waiting.error == "ValueError: the disk of the test is on fire"
    assert results(database) == []


def failing(_database: Database) -> None:
    raise ValueError("the disk of the test is on fire")


def test_a_full_disk_is_no_attempt_and_its_work_waits(database: Database) -> None:
    work_id = submitted(database)

    def full(_database: Database) -> None:
        raise StorageFull("the disk is full.")

    with keeper_of(database) as keeper:
        with pytest.raises(StorageFull):
            run_job(database, work_id, keeper, POLICY, noting(full))
        waiting = the_work(database)
        next_one = run_next_job(database, keeper, POLICY, noting())

    assert waiting is not None
    assert (waiting.state, waiting.attempts, waiting.error) == ("todo", 0, None)
    assert next_one is None


def test_delays_between_attempts_double() -> None:
    policy = RetryPolicy(first_delay_s=1.5)

    assert [policy.delay_s(attempts) for attempts in (1, 2, 3)] == [1.5, 3.0, 6.0]


def test_a_delayed_attempt_is_not_due_yet(database: Database) -> None:
    submitted(database)
    policy = RetryPolicy(max_attempts=5, first_delay_s=60.0)

    with keeper_of(database) as keeper:
        run_next_job(database, keeper, policy, noting(failing))

        assert run_next_job(database, keeper, policy, noting()) is None


def test_work_that_always_fails_is_buried_after_exactly_five_starts(database: Database) -> None:
    submitted(database, "poison")
    submitted(database, "healthy")
    starts: list[str] = []

    def poison(db: Database) -> None:
        doing = the_doing(db)
        starts.append(doing)
        if doing == "poison":
            failing(db)

    with keeper_of(database) as keeper:
        while run_next_job(database, keeper, POLICY, noting(poison)) is not None:
            pass

    assert starts.count("poison") == 5
    failed = present(the_work(database))
    assert (failed.state, failed.attempts) == ("dead", 5)
    assert results(database) == [
        "gave up poison: ValueError: the disk of the test is on fire",
        "healthy",
    ]


def the_doing(database: Database) -> str:
    with database.read() as session:
        return session.scalar(select(WorkRow.key).where(WorkRow.state == "doing")) or ""


def test_work_that_kills_its_workers_is_buried_by_the_sweep(database: Database) -> None:
    work_id = submitted(database)
    for _ in range(5):
        with database.write() as session:
            claimed = job_lease.claim(session, work_id, token="t", lease_s=LEASE_S, max_attempts=5)
        assert claimed is not None
        expire(database)

    reconciled = reconcile(database, POLICY, noting())

    assert reconciled.failed == 1
    failed = present(the_work(database))
    assert failed.state == "dead"
    assert failed.error


def test_a_retry_gives_way_to_a_newer_request(database: Database) -> None:
    work_id = submitted(database)

    def fails_after_a_new_request(db: Database) -> None:
        submitted(db)
        failing(db)

    with keeper_of(database) as keeper:
        run_job(database, work_id, keeper, POLICY, noting(fails_after_a_new_request))

    waiting = present(the_work(database))
    assert waiting.id != work_id
    assert (waiting.state, waiting.attempts) == ("todo", 0)


def test_an_unreachable_database_is_no_attempt(
    database: Database,
) -> None:
    work_id = submitted(database)

    def unreachable(_database: Database) -> None:
        raise DatabaseUnavailable("the server cannot be reached.")

    with keeper_of(database) as keeper, pytest.raises(DatabaseUnavailable):
        run_job(database, work_id, keeper, POLICY, noting(unreachable))

    waiting = present(the_work(database))
    assert (waiting.state, waiting.attempts, waiting.error) == ("todo", 0, None)


@pytest.mark.both_databases
def test_a_lease_is_extended_while_the_work_goes_on(database: Database) -> None:
    work_id = submitted(database)
    first_end: list[float] = []
    extended = threading.Event()

    def slow(db: Database) -> None:
        held = the_work(db)
        assert held is not None
        assert held.lease_until is not None
        first_end.append(held.lease_until)
        while not extended.wait(0.02):
            held = the_work(db)
            if held is not None and (held.lease_until or 0) > first_end[0]:
                extended.set()

    with LeaseKeeper(database, lease_s=1.0) as keeper:
        outcome = run_job(database, work_id, keeper, POLICY, noting(slow))

    assert outcome is Outcome.DONE


@pytest.mark.both_databases
def test_two_workers_never_do_the_same_work(database: Database) -> None:
    for number in range(20):
        submitted(database, f"job {number:02}")

    def worker() -> None:
        with keeper_of(database) as keeper:
            while run_next_job(database, keeper, POLICY, noting()) is not None:
                pass

    threads = [threading.Thread(target=worker) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results(database) == [f"job {number:02}" for number in range(20)]


def test_the_sweep_rebuilds_a_work_table_that_was_emptied(database: Database) -> None:
    run = log(database)
    with database.write() as session:
        session.execute(delete(WorkRow))

    reconciled = reconcile(database, POLICY)
    work_off(database)

    assert reconciled.submitted == 1
    with database.read() as session:
        assert runs.get_run(session, run.id).state is RunState.EVALUATED


HOUR_S = 3_600.0


def test_work_submitted_before_the_clock_was_set_back_need_not_wait_for_it(
    database: Database,
) -> None:
    submitted(database)
    with database.write() as session:
        session.execute(update(WorkRow).values(due=WorkRow.due + HOUR_S))
    assert run_next_job(database, keeper_of(database), POLICY, noting()) is None

    reconcile(database, POLICY, noting())

    assert run_next_job(database, keeper_of(database), POLICY, noting()) is Outcome.DONE


def test_a_lease_of_days_ahead_is_of_a_worker_that_died_before_the_clock_was_set_back(
    database: Database,
) -> None:
    work_id = submitted(database)
    with database.write() as session:
        job_lease.claim(session, work_id, token="dead", lease_s=LEASE_S, max_attempts=5)
        session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until + 48 * HOUR_S))

    reconcile(database, POLICY, noting())

    assert run_next_job(database, keeper_of(database), POLICY, noting()) is Outcome.DONE


@pytest.mark.parametrize("own_lease_s", [LEASE_S / 10, LEASE_S, LEASE_S * 1000])
def test_a_lease_ends_no_later_than_its_length_from_now_whoever_looks(
    database: Database, own_lease_s: float
) -> None:
    work_id = submitted(database)
    assert ClaimRules(LEASE_S, 5).claim(database, work_id) is not None  # By a killed worker,
    with database.write() as session:  # before the clock was set back.
        session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until + HOUR_S))
    others = LeaseKeeper(database, lease_s=own_lease_s)

    reconcile(database, POLICY, noting())

    with database.read() as session:
        left_s = session.scalar(select(WorkRow.lease_until - database_now()))
    assert left_s is not None
    assert 0 < left_s <= LEASE_S
    assert run_next_job(database, others, POLICY, noting()) is None  # It may still be alive.
    with database.write() as session:
        session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until - LEASE_S))
    assert run_next_job(database, others, POLICY, noting()) is Outcome.DONE


def test_a_worker_that_outlives_a_clock_set_back_does_its_job_once(database: Database) -> None:
    submitted(database)

    def set_back(database: Database) -> None:
        with database.write() as session:
            session.execute(update(WorkRow).values(lease_until=WorkRow.lease_until + HOUR_S))
        reconcile(database, POLICY, noting())
        assert run_next_job(database, keeper_of(database), POLICY, noting()) is None

    done = run_next_job(database, keeper_of(database), POLICY, noting(set_back))

    assert done is Outcome.DONE
    assert results(database) == ["k"]


@pytest.mark.parametrize("lease_s", [1.0, 86_400.0])
def test_a_lease_of_any_length_is_left_alone_while_it_can_be_held(
    database: Database, lease_s: float
) -> None:
    work_id = submitted(database)
    assert ClaimRules(lease_s, 5).claim(database, work_id) is not None
    with database.read() as session:
        before = session.scalar(select(WorkRow.lease_until))

    reconcile(database, POLICY, noting())

    with database.read() as session:
        assert session.scalar(select(WorkRow.lease_until)) == before


def test_an_attempt_that_is_to_wait_and_a_lease_that_is_held_are_left_alone(
    database: Database,
) -> None:
    policy = RetryPolicy(max_attempts=5, first_delay_s=1.0)
    held, waiting = submitted(database, "held"), submitted(database, "waiting")
    with database.write() as session:
        job_lease.claim(session, held, token="alive", lease_s=LEASE_S, max_attempts=5)
        is_waiting = WorkRow.id == waiting
        longest_s = policy.delay_s(policy.max_attempts - 1) * 30
        session.execute(update(WorkRow).where(is_waiting).values(due=WorkRow.due + longest_s))

    reconcile(database, policy)

    with database.read() as session:
        assert job_lease.due_ids(session, max_attempts=5, limit=5) == []


def test_the_sweep_leaves_evaluated_and_asked_for_runs_alone(database: Database) -> None:
    log(database)
    waiting = reconcile(database, POLICY)
    work_off(database)

    done = reconcile(database, POLICY)

    assert (waiting.submitted, waiting.waiting) == (0, 1)
    assert (done.submitted, done.waiting) == (0, 0)


def test_results_of_an_older_suite_are_computed_again_and_kept_as_history(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(database)
    work_off(database)
    modules = ("services.evaluation.inputs", "services.evaluation.compute", "store.outdated")
    for module in (*modules, "store.evaluations"):
        monkeypatch.setattr(f"offdiag.{module}.SUITE_VERSION", SUITE_VERSION + 1)

    reconciled = reconcile(database, POLICY)
    work_off(database)

    assert reconciled.submitted == 1
    with database.read() as session:
        history = session.execute(
            select(EvaluationRow.suite_version, EvaluationRow.is_current).order_by(
                EvaluationRow.id
            )
        ).all()
    assert [tuple(row) for row in history] == [
        (SUITE_VERSION, False),
        (SUITE_VERSION + 1, True),
    ]


def test_evaluating_twice_gives_one_evaluation(database: Database) -> None:
    run = log(database)
    work_off(database)
    with database.write() as session:
        TASKS["evaluate"].compute(database, {"run": run.id})(session)

    assert count_rows(database, EvaluationRow) == 1


def test_a_run_whose_evaluation_was_given_up_is_failed(database: Database) -> None:
    run = log(database)

    with database.write() as session:
        TASKS["evaluate"].record_failure(session, {"run": run.id}, "boom")

    with database.read() as session:
        assert runs.get_run(session, run.id).state is RunState.FAILED
