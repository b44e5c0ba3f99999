"""`offdiag demo`: a registry with real runs, and its dashboard."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from offdiag.cli.options import help_text
from offdiag.cli.registry import opened, settings_for

if TYPE_CHECKING:
    from offdiag.settings import Settings

FOLDER = Path("demo-registry")


@help_text(
    "demo",
    "demo --no-serve --folder /tmp/demo",
    see=("serve", "runs list"),
    no_json="it serves until Ctrl-C",
)
@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="Folder of the registry.",
)
@click.option("--url", metavar="URL", help="Use this registry instead of a folder.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=42, show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes a free one.  [default: 8642]")
@click.option("--no-serve", is_flag=True, help="Exit after the table of runs.")
def demo(folder: Path, url: str | None, seed: int, port: int | None, no_serve: bool) -> None:
    """Train models on real data, log and evaluate them, and serve the dashboard.

    A second call uses the runs of the first.
    """
    from offdiag.cli.demonstration import (
        approve_champion,
        evaluated_entries,
        issue_report,
        judge_logged_runs,
        log_missing_trials,
    )
    from offdiag.cli.output import fits_intervals, print_tables
    from offdiag.cli.run_tables import run_table
    from offdiag.cli.server import serve_until_stopped
    from offdiag.logs import log_to_stderr
    from offdiag_workers.process import working_in_background

    log_to_stderr(logging.WARNING)
    if url is None:
        folder.mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{folder.absolute() / 'offdiag.db'}"
    settings = _with_port(settings_for(url), port)
    with opened(settings) as database:
        log_missing_trials(database, url=url, seed=seed)
        judge_logged_runs(database)
        with working_in_background(database, settings):
            entries = evaluated_entries(database)
            approve_champion(database)
            issue_report(database, settings)
            print_tables(run_table(entries, with_intervals=fits_intervals()))
            if not no_serve:
                serve_until_stopped(
                    database,
                    settings,
                    with_worker=False,
                    announce=lambda address: click.echo(
                        f"The dashboard is at {address} (Ctrl-C stops it)"
                    ),
                    any_port_if_taken=port is None,
                )


def _with_port(settings: Settings, port: int | None) -> Settings:
    if port is None:
        return settings
    server = settings.server.model_copy(update={"port": port})
    return settings.model_copy(update={"server": server})
