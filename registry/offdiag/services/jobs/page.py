"""The jobs pages, and retrying jobs that failed."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import Conflict, NotFound
from offdiag.services.health import SILENT_AFTER_S
from offdiag.services.jobs.kinds import TASKS
from offdiag.services.jobs.submit import current_notifier
from offdiag.store import jobs
from offdiag.store.database import Database, Session
from offdiag.store.job_lease import Heartbeat, list_heartbeats
from offdiag.store.job_list import JobEntry, JobList, dead_ids, job_entry, job_list

MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class JobsPage:
    """The queue and the processes that work on it, most recently seen first."""

    jobs: JobList
    workers: tuple[Heartbeat, ...]
    schedulers: tuple[Heartbeat, ...]

    @property
    def has_worker(self) -> bool:
        """Whether a worker has given a sign of life within half a minute."""
        return is_alive(self.workers)

    @property
    def has_scheduler(self) -> bool:
        """Whether a scheduler has given a sign of life within half a minute."""
        return is_alive(self.schedulers)


def jobs_page(database: Database, *, limit: int | None = MOST_SHOWN) -> JobsPage:
    """The queue, with at most `limit` of its jobs, or all."""
    with database.read() as session:
        jobs = job_list(session, limit=limit)
        beats = list_heartbeats(session)
    return JobsPage(
        jobs,
        tuple(beat for beat in beats if beat.kind == "worker"),
        tuple(beat for beat in beats if beat.kind == "scheduler"),
    )


def job_page(database: Database, work_id: int) -> JobEntry:
    """One job. Raises `NotFound`, also once the job is done."""
    with database.read() as session:
        found = job_entry(session, work_id)
    if found is None:
        raise NotFound(
            f"there is no job {work_id}.",
            field="job",
            hint="Finished jobs leave the queue, and retried ones get a new number.",
        )
    return found


def is_alive(beats: tuple[Heartbeat, ...]) -> bool:
    """Whether any of these processes has given a sign of life lately."""
    return any(beat.age_s <= SILENT_AFTER_S for beat in beats)


def retry_job(database: Database, work_id: int) -> int:
    """Put a failed job back into the queue; returns the number under which it waits.

    Raises `NotFound` for an unknown job and `Conflict` for one that has not failed.
    """
    known = job_page(database, work_id)
    with database.write() as session:
        revived = _revive(session, work_id)
    if revived is None:
        raise Conflict(
            f"job {work_id} is {known.state.value}.",
            field="job",
            hint="Only failed jobs can be retried.",
        )
    return revived


def retry_all(database: Database) -> int:
    """Put all failed jobs back into the queue; returns how many there were."""
    with database.write() as session:
        revived = [_revive(session, work_id) for work_id in dead_ids(session)]
    return len(revived)


def revive_by_key(session: Session, key: str) -> bool:
    """Put the failed job with a key back into the queue. False if there is none."""
    known = jobs.find_by_key(session, key)
    return known is not None and _revive(session, known.work_id) is not None


def _revive(session: Session, work_id: int) -> int | None:
    lease = jobs.revive(session, work_id)
    if lease is None:
        return None
    if lease.task in TASKS:
        TASKS[lease.task].restart(session, lease.args)
    current_notifier().notify(session, [lease.work_id])
    return lease.work_id
