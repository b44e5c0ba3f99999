"""The job queue."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from offdiag.records.base import RequestBody, ResponseBody

if TYPE_CHECKING:
    from offdiag.domain.texts import Cell
    from offdiag.services.jobs.page import JobsPage
    from offdiag.store.database import Database
    from offdiag.store.job_list import JobEntry


class JobsQuery(RequestBody):
    """How many jobs to list: failed ones first, then running ones, then the rest."""

    limit: int = Field(default=200, ge=1, le=10_000)


class Job(ResponseBody):
    """One job. Finished jobs leave the queue."""

    id: int
    task: str
    args: dict[str, Any]
    about: str = Field(
        default="", description="The run, or the report with its target, that the job is about."
    )
    state: str = Field(description='"running", "queued", "failed" (tried again) or "dead".')
    attempts: int
    error: str | None
    asked_at: datetime
    due_at: datetime


class Process(ResponseBody):
    """A worker or a scheduler, with the time since its last heartbeat."""

    kind: str
    host: str
    pid: int
    started_at: datetime
    age_s: float


class JobList(ResponseBody):
    """The queue, and the processes that execute its jobs."""

    counts: dict[str, int]
    jobs: list[Job]
    has_worker: bool
    has_scheduler: bool
    processes: list[Process] = Field(default=[])


class Retried(ResponseBody):
    """The job that was put back into the queue."""

    id: int = Field(description="Its new number.")


class AllRetried(ResponseBody):
    """The number of jobs that were put back into the queue."""

    n_jobs: int


def about(entry: JobEntry) -> str:
    """What a job is about: a run, or a report, its edition and the target."""
    if entry.report is None:
        return ", ".join(map(str, entry.args.values()))
    report = entry.report
    edition = f"{report.project}/{report.name} #{report.number}"
    if report.target is None:
        return edition
    from offdiag.services.delivery.message import read_target

    return f"{edition}, {read_target(report.target).text}"


def job_document(entry: JobEntry, now: datetime) -> Job:
    return Job.made_of(entry, about=about(entry), due_at=now + timedelta(seconds=entry.waits_s))


def asked_jobs(database: Database, asked: JobsQuery) -> JobList:
    """The queue, failed jobs first."""
    from offdiag.services.jobs.page import jobs_page

    return job_list(jobs_page(database, limit=asked.limit), database.clock())


def job_list(page: JobsPage, now: datetime) -> JobList:
    """The queue, and the processes that execute its jobs."""
    return JobList.made_of(
        page,
        counts=page.jobs.counts,
        jobs=[job_document(entry, now) for entry in page.jobs.entries],
        processes=[*page.workers, *page.schedulers],
    )


JOB_COLUMNS = ("id", "task", "about", "state", "attempts", "asked_at", "due_at", "error")


def job_row(job: Job) -> tuple[Cell, ...]:
    """A job as a line of CSV, in the order of `JOB_COLUMNS`."""
    return job.row(JOB_COLUMNS)
