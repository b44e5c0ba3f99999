"""What the jobs pages show, one function per page and one transaction per call."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.errors import NotFound
from offdiag.services.heartbeats import SILENT_AFTER_S
from offdiag.store.database import Database
from offdiag.store.job_lease import Heartbeat, list_heartbeats
from offdiag.store.job_list import JobEntry, JobList, JobState, job_entry, job_list

__all__ = ["Heartbeat", "JobEntry", "JobState", "JobsPage", "job_page", "jobs_page"]

MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class JobsPage:
    """The queue and the processes that work on it, the liveliest first."""

    jobs: JobList
    workers: tuple[Heartbeat, ...]
    schedulers: tuple[Heartbeat, ...]

    @property
    def has_worker(self) -> bool:
        """Whether a worker gave a sign of life within half a minute."""
        return is_alive(self.workers)

    @property
    def has_scheduler(self) -> bool:
        """Whether a scheduler gave a sign of life within half a minute."""
        return is_alive(self.schedulers)


def jobs_page(database: Database, *, limit: int = MOST_SHOWN) -> JobsPage:
    """The whole queue, at most `limit` entries of it."""
    with database.read() as session:
        jobs = job_list(session, limit=limit)
        beats = list_heartbeats(session)
    return JobsPage(
        jobs,
        tuple(beat for beat in beats if beat.kind == "worker"),
        tuple(beat for beat in beats if beat.kind == "scheduler"),
    )


def job_page(database: Database, work_id: int) -> JobEntry:
    """One piece of work. Raises `NotFound`, also once it is done."""
    with database.read() as session:
        found = job_entry(session, work_id)
    if found is None:
        raise NotFound(
            f"there is no job {work_id}.",
            field="job",
            hint="It may be done: finished work leaves the queue.",
        )
    return found


def is_alive(beats: tuple[Heartbeat, ...]) -> bool:
    """Whether any of these processes gave a sign of life lately."""
    return any(beat.age_s <= SILENT_AFTER_S for beat in beats)
