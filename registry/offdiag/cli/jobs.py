"""`offdiag jobs …` and `recompute`: the job queue, another try, and evaluating again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import help_text, json_option, url_option
from offdiag.cli.output import busy, print_json, print_tables
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from offdiag.services.evaluation.recompute import RecomputeRequest


@click.group()
def jobs() -> None:
    """Show the job queue and retry failed jobs."""


@help_text("jobs list", "jobs list --json", see=("jobs retry", "doctor"))
@jobs.command(name="list")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@url_option
@json_option
def list_jobs(limit: int, url: str | None, as_json: bool) -> None:
    """List failed, running and queued jobs, and the processes that execute them."""
    from offdiag.cli.job_tables import jobs_tables
    from offdiag.records.job import job_list
    from offdiag.services.jobs.page import jobs_page

    with opened(settings_for(url)) as database:
        page = jobs_page(database, limit=limit)
        now = database.clock()
    if as_json:
        print_json(job_list(page, now).plain())
    else:
        print_tables(*jobs_tables(page))


@help_text(
    "jobs retry 17",
    "jobs retry --all",
    see=("jobs list",),
    arguments={"job": "Number of the job, which `offdiag jobs list` shows."},
)
@jobs.command()
@click.argument("job", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Retry all failed jobs.")
@url_option
@json_option
def retry(job: int | None, everything: bool, url: str | None, as_json: bool) -> None:
    """Retry jobs that failed after their last attempt."""
    from offdiag.records.job import AllRetried, Retried
    from offdiag.services.jobs.page import retry_all, retry_job

    if (job is None) is not everything:
        raise click.UsageError("Name one job, or give --all.")
    with opened(settings_for(url)) as database:
        done = (
            AllRetried(n_jobs=retry_all(database))
            if job is None
            else Retried(id=retry_job(database, job))
        )
    if as_json:
        print_json(done.plain())
    else:
        number = done.n_jobs if isinstance(done, AllRetried) else 1
        click.echo(f"{number} queued again.")


@help_text(
    "recompute",
    "recompute --all",
    "recompute r_4bcd6fgh8jkm",
    see=("verify", "jobs list"),
    arguments={"run_ids": "Ids of runs.  [default: all that are outdated]"},
)
@click.command()
@click.argument("run_ids", metavar="[RUN]...", nargs=-1)
@click.option(
    "--outdated", is_flag=True, help="Runs without results or with outdated ones. The default."
)
@click.option(
    "--all", "everything", is_flag=True, help="Delete all results and compute them again."
)
@url_option
@json_option
def recompute(
    run_ids: tuple[str, ...], *, outdated: bool, everything: bool, url: str | None, as_json: bool
) -> None:
    """Queue runs for re-evaluation by the worker.

    Results are computed from the stored predictions, so they can be deleted and recomputed at
    any time with the same values.
    """
    from offdiag.services.evaluation.recompute import (
        recompute_all,
        recompute_runs,
        recompute_stale,
    )

    if sum((bool(run_ids), outdated, everything)) > 1:
        raise click.UsageError("Name runs, or give --outdated or --all.")
    with opened(settings_for(url)) as database, busy("Queueing evaluations"):
        if run_ids:
            asked = recompute_runs(database, run_ids)
        else:
            asked = recompute_all(database) if everything else recompute_stale(database)
    if as_json:
        print_json(_recompute_dict(asked))
    else:
        click.echo(_sentence(asked))


def _recompute_dict(asked: RecomputeRequest) -> dict[str, object]:
    return {
        "n_submitted": asked.n_submitted,
        "runs": [
            {"id": run.run_id, "reasons": [reason.value for reason in run.reasons]}
            for run in asked.runs
        ],
    }


def _sentence(asked: RecomputeRequest) -> str:
    from offdiag.services.evaluation.recompute import reason_in_words

    if not asked.runs:
        return "No run is outdated."
    counted = Counter(reason for run in asked.runs for reason in run.reasons)
    why = ", ".join(f"{reason_in_words(reason)}: {n}" for reason, n in counted.items())
    waiting = len(asked.runs) - asked.n_submitted
    already = f" {waiting} of them were queued already." if waiting else ""
    runs = "1 run is" if len(asked.runs) == 1 else f"{len(asked.runs)} runs are"
    return f"{runs} queued ({why}).{already}"
