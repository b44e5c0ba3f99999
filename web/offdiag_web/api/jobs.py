"""The job queue: read jobs and retry them."""

from __future__ import annotations

from offdiag.domain.access import Role
from offdiag.records.job import (
    AllRetried,
    Job,
    JobList,
    JobsQuery,
    Retried,
    asked_jobs,
    job_document,
)
from offdiag.services.jobs import page
from offdiag.services.jobs.page import job_page
from offdiag_web.api.operations import operation, resource
from offdiag_web.app.context import current_registry, requires

blueprint = resource("jobs")


@operation(blueprint, "GET", "/jobs")
@requires(Role.VIEWER, everywhere=True)
def list_jobs(query: JobsQuery) -> JobList:
    """Read the queue, failed jobs first."""
    return asked_jobs(current_registry().database, query)


@operation(blueprint, "GET", "/jobs/<number:job_id>")
def get_job(job_id: int) -> Job:
    """Read one job; finished jobs are not found."""
    database = current_registry().database
    return job_document(job_page(database, job_id), database.clock())


@operation(blueprint, "POST", "/jobs/<number:job_id>/retry")
def retry_job(job_id: int) -> Retried:
    """Retry a failed job."""
    return Retried(id=page.retry_job(current_registry().database, job_id))


@operation(blueprint, "POST", "/jobs/retry")
@requires(Role.EDITOR, everywhere=True)
def retry_all_jobs() -> AllRetried:
    """Retry all failed jobs."""
    return AllRetried(n_jobs=page.retry_all(current_registry().database))
