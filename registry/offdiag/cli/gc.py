"""`offdiag gc`."""

from __future__ import annotations

from datetime import timedelta

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json


@click.command()
@click.option(
    "--older-than",
    metavar="DAYS",
    type=click.FloatRange(min=0),
    help="Remove runs that were deleted longer ago.  [default: gc.older_than_days]",
)
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=0),
    help="Superseded evaluations to keep of each run and slice.  [default: gc.keep]",
)
@click.option(
    "--open-older-than",
    metavar="DAYS",
    type=click.FloatRange(min=0),
    help="Remove also runs that were opened longer ago and never finished.",
)
@url_option
@json_option
def gc(
    *,
    older_than: float | None,
    keep: int | None,
    open_older_than: float | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Remove for good what nobody will look at any more.

    Current results and their predictions are never touched.
    """
    from offdiag.cli.registry import opened
    from offdiag.services.retention.collecting import collect

    settings = settings_for(url)
    days = settings.gc.older_than_days if older_than is None else older_than
    with opened(settings) as database, busy("Removing what is not needed"):
        found = collect(
            database,
            older_than=timedelta(days=days),
            keep=settings.gc.keep if keep is None else keep,
            open_older_than=None if open_older_than is None else timedelta(days=open_older_than),
        )
    if as_json:
        print_json(
            {
                "deleted_runs": found.deleted_runs,
                "open_runs": found.open_runs,
                "evaluations": found.evaluations,
            }
        )
    else:
        click.echo(
            f"Removed {found.deleted_runs} deleted runs, {found.open_runs} runs that were never "
            f"finished, and {found.evaluations} superseded evaluations."
        )
