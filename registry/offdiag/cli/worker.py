"""`offdiag worker`."""

from __future__ import annotations

import click

from offdiag.cli.options import settings_for, url_option


@click.command()
@url_option
def worker(url: str | None) -> None:
    """Evaluate what is logged, until Ctrl-C. Any number may run."""
    from offdiag.cli.logs import log_to_stderr
    from offdiag.store.schema import open_database
    from offdiag_workers.process import work_until_signal

    settings = settings_for(url)
    log_to_stderr()
    work_until_signal(open_database(settings.database.url, synchronous="normal"), settings)
