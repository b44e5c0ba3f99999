"""The queue as people see it, and who works on it."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from offdiag.errors import NotFound
from offdiag.services.health import beat, heart_of_this_process, stop_beating
from offdiag.services.jobs.page import job_page, jobs_page
from offdiag.store import job_lease, jobs
from offdiag.store.database import Database
from offdiag.store.job_list import JobState
from offdiag.store.jobs import JobRequest
from offdiag.store.models import HeartbeatRow, WorkRow


def submitted(database: Database, key: str, **changes: object) -> int:
    with database.write() as session:
        work_id = jobs.insert_pending(session, "evaluate", JobRequest(key, {"run": key}))
        assert work_id is not None
        if changes:
            session.execute(update(WorkRow).where(WorkRow.id == work_id).values(**changes))
    return work_id


@pytest.mark.both_databases
def test_what_needs_a_look_comes_first(database: Database) -> None:
    queued = submitted(database, "a")
    dead = submitted(database, "b", state="dead", error="broken", attempts=5)
    failed = submitted(database, "c", error="timed out", attempts=2)
    running = submitted(database, "d")
    with database.write() as session:
        job_lease.claim(session, running, token="t", lease_s=30, max_attempts=5)

    page = jobs_page(database)

    assert [entry.id for entry in page.jobs.entries] == [dead, failed, running, queued]
    assert [entry.state for entry in page.jobs.entries] == [
        JobState.DEAD,
        JobState.FAILED,
        JobState.RUNNING,
        JobState.QUEUED,
    ]
    assert dict(page.jobs.counts) == dict.fromkeys(JobState, 1)
    assert page.jobs.entries[1].error == "timed out"
    assert 0 < (page.jobs.entries[2].lease_left_s or 0) <= 30


def test_a_long_queue_is_counted_whole_and_shown_in_part(database: Database) -> None:
    for number in range(5):
        submitted(database, str(number))

    page = jobs_page(database, limit=2)

    assert page.jobs.counts[JobState.QUEUED] == 5
    assert len(page.jobs.entries) == 2


def test_one_job_is_shown_until_it_is_done(database: Database) -> None:
    work_id = submitted(database, "a")

    assert job_page(database, work_id).args == {"run": "a"}
    with pytest.raises(NotFound, match="Finished jobs leave the queue"):
        job_page(database, work_id + 1)


def test_a_process_that_beats_is_alive(database: Database) -> None:
    worker = heart_of_this_process("worker", database)
    scheduler = heart_of_this_process("scheduler", database)

    for heart in (worker, worker, scheduler):
        beat(database, heart)

    page = jobs_page(database)
    assert [(found.kind, found.pid) for found in page.workers] == [("worker", worker.pid)]
    assert page.has_worker
    assert page.has_scheduler
    assert page.workers[0].age_s < 30


def test_a_process_that_has_been_silent_is_shown_and_not_alive(database: Database) -> None:
    beat(database, heart_of_this_process("scheduler", database))
    with database.write() as session:
        session.execute(update(HeartbeatRow).values(seen_at=HeartbeatRow.seen_at - 60))

    page = jobs_page(database)

    assert not page.has_scheduler
    assert page.schedulers[0].age_s >= 60


def test_a_process_that_has_been_silent_since_the_clock_was_set_back_is_not_alive(
    database: Database,
) -> None:
    beat(database, heart_of_this_process("worker", database))
    with database.write() as session:
        session.execute(update(HeartbeatRow).values(seen_at=HeartbeatRow.seen_at + 3_600))

    page = jobs_page(database)

    assert not page.has_worker
    assert page.workers[0].age_s >= 3_500


def test_a_process_that_ends_properly_is_gone(database: Database) -> None:
    heart = heart_of_this_process("worker", database)
    beat(database, heart)

    stop_beating(database, heart)

    assert not jobs_page(database).workers


@pytest.mark.both_databases
def test_what_was_killed_long_ago_is_forgotten_by_the_next_beat(database: Database) -> None:
    beat(database, heart_of_this_process("scheduler", database))
    with database.write() as session:
        session.execute(update(HeartbeatRow).values(seen_at=HeartbeatRow.seen_at - 90_000))

    beat(database, heart_of_this_process("worker", database))

    page = jobs_page(database)
    assert not page.schedulers
    assert page.has_worker
