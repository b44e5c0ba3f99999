"""`offdiag serve` and `offdiag worker`: the two processes of a registry."""

from __future__ import annotations

import gc

import click

from offdiag.cli.options import help_text, url_option
from offdiag.cli.registry import opened, settings_for


@help_text(
    "serve",
    "serve --port 9000 --no-worker",
    "serve --url sqlite:///team.db",
    see=("worker", "doctor"),
    no_json="it serves until Ctrl-C",
)
@click.command()
@url_option
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes a free one.  [default: 8642]")
@click.option("--no-worker", is_flag=True, help="Evaluate runs in `offdiag worker` only.")
def serve(url: str | None, host: str | None, port: int | None, no_worker: bool) -> None:
    """Serve the dashboard, with worker and scheduler, until Ctrl-C."""
    # Nothing that is loaded now is garbage; the warm-up of the server turns this back.
    gc.disable()
    from offdiag.cli.server import serve_until_stopped
    from offdiag.logs import log_to_stderr

    settings = settings_for(url)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    server = settings.server.model_copy(update=given)
    settings = settings.model_copy(update={"server": server})
    log_to_stderr(settings.log.level, settings.log.format)
    with opened(settings) as database:
        serve_until_stopped(
            database,
            settings,
            with_worker=not no_worker,
            announce=lambda address: click.echo(f"offdiag is at {address} (Ctrl-C stops it)"),
        )


@help_text(
    "worker",
    "worker --url postgresql+psycopg://db.example.org/offdiag",
    see=("serve", "jobs list"),
    no_json="it works until Ctrl-C",
)
@click.command()
@url_option
def worker(url: str | None) -> None:
    """Run a worker that evaluates logged runs, until Ctrl-C. Any number may run."""
    from offdiag.logs import log_to_stderr
    from offdiag_workers.process import work_until_signal

    settings = settings_for(url)
    log_to_stderr(settings.log.level, settings.log.format)
    with opened(settings, synchronous="normal") as database:
        work_until_signal(database, settings)
