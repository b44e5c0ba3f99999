"""`offdiag jobs …`: the work queue, and another try for what was given up."""

from __future__ import annotations

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import print_json, print_tables


@click.group()
def jobs() -> None:
    """Look at the work queue."""


@jobs.command(name="list")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@url_option
@json_option
def list_jobs(limit: int, url: str | None, as_json: bool) -> None:
    """List what was given up, what failed, what runs and what waits, and who works on it."""
    from offdiag.cli.job_tables import jobs_dict, jobs_tables
    from offdiag.cli.registry import opened
    from offdiag.services.jobs.pages import jobs_page

    with opened(settings_for(url)) as database:
        page = jobs_page(database, limit=limit)
    if as_json:
        print_json(jobs_dict(page))
    else:
        print_tables(*jobs_tables(page))


@jobs.command()
@click.argument("job", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Try everything again that was given up.")
@url_option
@json_option
def retry(job: int | None, everything: bool, url: str | None, as_json: bool) -> None:
    """Put work that was given up back into the queue."""
    from offdiag.cli.registry import opened
    from offdiag.services.jobs.retrying import retry_all, retry_job

    if (job is None) is not everything:
        raise click.UsageError("Name one job, or give --all.")
    with opened(settings_for(url)) as database:
        if job is None:
            number = retry_all(database)
        else:
            retry_job(database, job)
            number = 1
    if as_json:
        print_json({"retried": number})
    else:
        click.echo(f"{number} put back into the queue.")
