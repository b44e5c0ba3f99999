"""`offdiag sync`: send what waits in a spool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import json_option, settings_for, url_option
from offdiag.cli.output import busy, print_json, print_tables

if TYPE_CHECKING:
    from offdiag.sdk.remote.syncing import SyncedRun


@click.command()
@click.option(
    "--spool",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of runs that wait.  [default: OFFDIAG_SPOOL, else the configured one]",
)
@url_option
@json_option
@click.pass_context
def sync(context: click.Context, *, spool: Path | None, url: str | None, as_json: bool) -> None:
    """Send the runs that wait in a spool, each exactly once.

    What is stored is removed from the spool. It can be stopped and started again, and several
    may run at once.
    """
    from offdiag.sdk.remote.syncing import sync as sync_runs
    from offdiag.sdk.target import destination_at

    settings = settings_for(url)
    folder = Path(settings.client.spool) if spool is None else spool
    with busy("Sending"):
        found = list(sync_runs(folder, destination_at(settings.database.url, settings)))
    left = [run for run in found if not run.outcome.is_done]
    if as_json:
        print_json(
            {
                "spool": str(folder),
                "url": settings.database.url,
                "n_sent": len(found) - len(left),
                "n_left": len(left),
                "runs": [run.to_dict() for run in found],
            }
        )
    else:
        _show(folder, found, n_left=len(left))
    if left:
        context.exit(1)


def _show(folder: Path, found: list[SyncedRun], *, n_left: int) -> None:
    from rich.text import Text

    from offdiag.cli.tables import open_table
    from offdiag.cli.text import printable

    if not found:
        click.echo(f"Nothing waits in {folder}.")
        return
    click.echo(f"{len(found) - n_left} sent, {n_left} left in {folder}.")
    table = open_table()
    for name in ("name", "project", "chunks", "outcome", "run", "why"):
        table.add_column(name, overflow="fold")
    for run in found:
        texts = (run.name or run.folder, run.project or "")
        table.add_row(
            *(Text(printable(text)) for text in texts),
            str(run.n_sent),
            run.outcome.value,
            run.run_id or "",
            Text(printable(run.why or "")),
        )
    print_tables(table)
