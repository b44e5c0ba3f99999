"""`offdiag worker`."""

from __future__ import annotations

import click

from offdiag.cli.options import settings_for, url_option


@click.command()
@url_option
def worker(url: str | None) -> None:
    """Evaluate what is logged, until Ctrl-C. Any number may run."""
    from offdiag.cli.registry import opened
    from offdiag.logs import log_to_stderr
    from offdiag_workers.process import work_until_signal

    settings = settings_for(url)
    log_to_stderr(settings.log.level, settings.log.format)
    with opened(settings, synchronous="normal") as database:
        work_until_signal(database, settings)
