"""`offdiag jobs …`: show the job queue and retry failed jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click
from rich.table import Table

from offdiag.cli.call import Call, registry_options
from offdiag.cli.documents import ask
from offdiag.cli.options import help_text, limit_option
from offdiag.cli.output import note
from offdiag.cli.tables import facts_table, filled_table
from offdiag.records.base import Request
from offdiag.records.job import AllRetried, JobList, JobsQuery, Process, Retried, asked_jobs

if TYPE_CHECKING:
    from offdiag.store.database import Database


@click.group()
def jobs() -> None:
    """Show the job queue and retry failed jobs."""


@help_text("jobs list", "jobs list --json", see=("jobs retry", "doctor"))
@jobs.command(name="list")
@limit_option("Maximum number of jobs.", most=10_000)
@registry_options
def list_jobs(limit: int, call: Call) -> None:
    """List failed, running and queued jobs, and the processes that execute them."""
    wanted = JobsQuery(limit=limit)
    found = ask(call, Request("/jobs", JobList, lambda at: asked_jobs(at, wanted), wanted))
    call.print(found, _tables(found))
    n_jobs = sum(found.counts.values())
    if n_jobs > len(found.jobs):
        note(f"There are {n_jobs:,} jobs; these are the first {limit:,}. --limit shows more.")


@help_text(
    "jobs retry 17",
    "jobs retry --all",
    see=("jobs list",),
    arguments={"job": "Number of the job, which `offdiag jobs list` shows."},
)
@jobs.command()
@click.argument("job", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Retry all failed jobs.")
@registry_options
def retry(job: int | None, everything: bool, call: Call) -> None:
    """Retry jobs that failed after their last attempt."""
    if (job is None) is not everything:
        raise click.UsageError("Name one job, or give --all.")
    done: AllRetried | Retried
    if job is None:
        done = ask(call, Request("/jobs/retry", AllRetried, _retried_all, method="POST"))
    else:
        path = f"/jobs/{job}/retry"
        done = ask(call, Request(path, Retried, lambda at: _retried(at, job), method="POST"))
    number = done.n_jobs if isinstance(done, AllRetried) else 1
    call.print(done, f"{number} queued again.")


def _retried_all(database: Database) -> AllRetried:
    from offdiag.services.jobs.page import retry_all

    return AllRetried(n_jobs=retry_all(database))


def _retried(database: Database, job: int) -> Retried:
    from offdiag.services.jobs.page import retry_job

    return Retried(id=retry_job(database, job))


_WORDS = {"failed": "to be retried", "dead": "failed"}
"""How tables call these states, as the page of jobs and `offdiag doctor` do; JSON has the keys."""


def _tables(found: JobList) -> Iterator[Table]:
    workers = [each for each in found.processes if each.kind == "worker"]
    schedulers = [each for each in found.processes if each.kind != "worker"]
    facts = {
        "queue": ", ".join(
            f"{number} {_WORDS.get(state, state)}" for state, number in found.counts.items()
        ),
        "worker": _alive(workers, is_alive=found.has_worker),
        "scheduler": _alive(schedulers, is_alive=found.has_scheduler),
    }
    yield facts_table("Job queue", facts)
    if found.jobs:
        yield filled_table(
            ("job", "state", "task", "about", "attempts", "last error"),
            (
                (
                    str(each.id),
                    _WORDS.get(each.state, each.state),
                    each.task,
                    each.about or json.dumps(each.args, ensure_ascii=False),
                    str(each.attempts),
                    each.error or "",
                )
                for each in found.jobs
            ),
        )


def _alive(processes: Sequence[Process], *, is_alive: bool) -> str:
    if not processes:
        return "NONE is running. Start offdiag worker or offdiag serve."
    newest = processes[0]
    place = f"{newest.pid}@{newest.host}, heartbeat {newest.age_s:.0f} s ago"
    return f"alive: {place}" if is_alive else f"SILENT: {place}. Start offdiag worker."
