"""The work queue."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from offdiag.records.base import Answered, Asked


class JobsWanted(Asked):
    """How much of the queue is wanted: what needs a look first, then what runs, then the rest."""

    limit: int = Field(default=200, ge=1, le=1_000)


class Job(Answered):
    """One piece of work. What is done leaves the queue."""

    id: int
    task: str
    args: dict[str, Any]
    state: str = Field(description='"running", "queued", "failed" (tried again) or "dead".')
    attempts: int
    error: str | None
    asked_at: datetime
    due_at: datetime


class JobList(Answered):
    """The queue, and the processes that work on it."""

    counts: dict[str, int]
    jobs: list[Job]
    has_worker: bool
    has_scheduler: bool


class Retried(Answered):
    """The job that was put back into the queue."""

    id: int = Field(description="The number it waits under now.")


class AllRetried(Answered):
    """How many jobs were put back into the queue."""

    n_jobs: int
