"""`offdiag serve` and `offdiag worker`: the two processes of a registry."""

from __future__ import annotations

import errno
import gc
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING

import click

from offdiag.cli.call import database_option, opened, settings_for
from offdiag.cli.options import help_text
from offdiag.cli.output import measured
from offdiag.errors import DatabaseUnavailable, InvalidInput
from offdiag.extras import require_extra
from offdiag.settings import ServerSettings, Settings
from offdiag.settings.model import LOCAL_ENGINE, is_loopback, needs_sign_in
from offdiag.signals import acting_on_signals

if TYPE_CHECKING:
    from offdiag.store.database import Database


@help_text(
    "serve",
    "serve --port 9000 --no-worker",
    "serve --url sqlite:///team.db",
    see=("worker", "doctor"),
    no_json="it serves until Ctrl-C",
)
@click.command()
@database_option
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="0 takes any free port.  [default: 8642]"
)
@click.option("--no-worker", is_flag=True, help="Evaluate runs in `offdiag worker` only.")
def serve(url: str | None, host: str | None, port: int | None, no_worker: bool) -> None:
    """Serve the dashboard, with worker and scheduler, until Ctrl-C."""
    # Nothing that is imported now is garbage; the warm-up of the server enables this again.
    gc.disable()
    from offdiag.logs import log_to_stderr

    settings = settings_for(url)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    server = settings.server.model_copy(update=given)
    settings = settings.model_copy(update={"server": server})
    log_to_stderr(settings.log.level, settings.log.format)
    with opened(settings, may_be_away=True) as database:
        serve_until_stopped(
            database,
            settings,
            with_worker=not no_worker,
            announce=lambda address: click.echo(f"offdiag is at {address} (Ctrl-C stops it)"),
        )


@help_text(
    "worker",
    "worker --url postgresql+psycopg://db.example.org/offdiag",
    "worker --until-idle",
    see=("serve", "jobs list"),
    no_json="it works until Ctrl-C",
)
@click.command()
@click.option("--until-idle", is_flag=True, help="Stop when no job is due.")
@database_option
@click.pass_context
def worker(context: click.Context, *, url: str | None, until_idle: bool) -> None:
    """Run a worker that evaluates logged runs, until Ctrl-C. Any number may run."""
    # Due jobs are executed without the scheduler, which needs the libraries of a server.
    require_extra("local" if until_idle else "server")
    if until_idle:
        context.exit(1 if _work_until_idle(settings_for(url)) else 0)
    from offdiag.logs import log_to_stderr
    from offdiag_workers.process import work_until_signal

    settings = settings_for(url)
    log_to_stderr(settings.log.level, settings.log.format)
    with opened(settings, synchronous="normal", may_be_away=True) as database:
        work_until_signal(database, settings)


def _work_until_idle(settings: Settings) -> int:
    """Execute all due jobs with a progress bar; returns how many failed."""
    from collections import Counter

    from offdiag.services.evaluation.pending import work_until_idle
    from offdiag.services.jobs.attempts import Outcome

    outcomes: Counter[Outcome] = Counter()
    with opened(settings, synchronous="normal") as database, measured("Jobs") as on_step:
        for n_done, (outcome, n_left) in enumerate(work_until_idle(database, settings.jobs), 1):
            outcomes[outcome] += 1
            on_step(n_done, n_done + n_left)
    n_failed = outcomes[Outcome.FAILED] + outcomes[Outcome.RELEASED]
    click.echo(f"Jobs done: {outcomes[Outcome.DONE]}, failed: {n_failed}.")
    if n_failed:
        click.echo("`offdiag jobs list` shows the errors; failed jobs are tried again.")
    return n_failed


_EXTRA_THREADS = 4
"""Threads that answer health checks and refuse requests over the limit."""


def serve_until_stopped(
    database: Database,
    settings: Settings,
    *,
    with_worker: bool,
    announce: Callable[[str], None],
    any_port_if_taken: bool = False,
) -> None:
    """Serve requests until SIGINT, SIGTERM or SIGHUP; requests in progress are completed.

    After the last two, `/readyz` returns 503 for `server.shutdown_delay_s` seconds while requests
    are served. A second SIGINT cancels requests in progress.

    `announce` is called with the address once it can be opened. Raises `InvalidInput` for a
    registry that requires sign-in and has no admin, and for a port in use, unless
    `any_port_if_taken` allows another one.
    """
    from offdiag.inputs.bodies.columns import MOST_BYTES_SENT
    from offdiag_web import create_app
    from offdiag_web.app.requests import WAITING_PER_PLACE, admitting
    from offdiag_web.server import Listening
    from offdiag_web.wsgi import share_memory, warming_up

    def working() -> AbstractContextManager[None]:
        from offdiag_workers.process import working_in_background

        return working_in_background(database, settings)

    share_memory()
    # A custom engine may refuse to start, which must be reported immediately.
    host = settings.server.host
    require_admin(database, settings)
    is_custom = settings.jobs.engine != LOCAL_ENGINE
    works_immediately = with_worker and is_custom and database.is_checked
    works_after_warm_up = with_worker and not works_immediately
    with ExitStack() as stack:
        listener = stack.enter_context(_bound(settings.server, any_port_if_taken))
        app = admitting(create_app(settings, database), settings.server)
        stack.enter_context(
            warming_up(app, beside=working if works_after_warm_up else nullcontext)
        )
        threads = (1 + WAITING_PER_PLACE) * settings.server.threads + _EXTRA_THREADS
        server = Listening(app, listener, threads=threads, most_bytes=MOST_BYTES_SENT)
        stack.callback(server.close)
        if works_immediately:
            stack.enter_context(working())

        def stop(number: signal.Signals) -> None:
            if number == signal.SIGINT:
                server.interrupt()
            else:
                server.stop(drain_s=settings.server.shutdown_delay_s)

        stack.enter_context(acting_on_signals(stop))
        announce(_address(host, listener.getsockname()[1]))
        server.run()


def require_admin(database: Database, settings: Settings) -> None:
    """Raise `InvalidInput` if sign-in is required and there is no admin.

    It is required of every server that can be reached from other machines. While the database is
    away, no one can sign in anyway.
    """
    from offdiag.services.access import users

    if needs_sign_in(settings):
        host = settings.server.host
        is_reached = not is_loopback(host)
        why = (
            f"{host!r} can be reached from other machines" if is_reached else "sign-in is required"
        )
        with suppress(DatabaseUnavailable):
            users.require_admin(database, why)


def _bound(settings: ServerSettings, any_port_if_taken: bool) -> socket.socket:
    """A listening socket on the configured port, or on a free one if allowed.

    Raises `InvalidInput` for a port in use, and `OSError` for an address that cannot be bound.
    """
    for port in (settings.port, 0) if any_port_if_taken else (settings.port,):
        try:
            family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
            return socket.create_server((settings.host, port), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    raise InvalidInput(
        f"{settings.port} on {settings.host} is used by another program.",
        field="server.port",
        hint="Name another with --port; --port 0 takes any free one.",
    )


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
