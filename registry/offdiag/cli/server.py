"""The dashboard with the worker, in one process until Ctrl-C."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack

from offdiag.errors import InvalidInput
from offdiag.inputs.bodies.columns import MOST_BYTES_SENT
from offdiag.settings import ServerSettings, Settings
from offdiag.settings.model import is_loopback, needs_sign_in
from offdiag.signals import acting_on_signals
from offdiag.store.database import Database
from offdiag.store.users import has_admin

_BESIDE = 4
"""Threads for health checks, and for refusing requests that exceed the limits."""


def serve_until_stopped(
    database: Database,
    settings: Settings,
    *,
    with_worker: bool,
    announce: Callable[[str], None],
    any_port_if_taken: bool = False,
) -> None:
    """Serve requests until SIGINT or SIGTERM; requests in progress are completed.

    After SIGTERM `/readyz` says no for `server.shutdown_delay_s` seconds, while it serves
    requests. A second SIGINT cancels requests in progress.

    `announce` is called with the address once it can be opened. Raises `InvalidInput` for a
    registry that is to be served to others and has no admin, and for a port that is taken,
    unless any other will do.
    """
    from offdiag_web import create_app
    from offdiag_web.app.limits import WAITING_PER_PLACE, admitting
    from offdiag_web.server import Listening
    from offdiag_web.wsgi import warming_up
    from offdiag_workers.process import working_in_background

    host = settings.server.host
    require_admin(database, settings)
    with ExitStack() as stack:
        listener = stack.enter_context(_bound(settings.server, any_port_if_taken))
        app = admitting(create_app(settings, database), settings.server)
        stack.enter_context(warming_up(app))
        threads = (1 + WAITING_PER_PLACE) * settings.server.threads + _BESIDE
        server = Listening(app, listener, threads=threads, most_bytes=MOST_BYTES_SENT)
        stack.callback(server.close)
        if with_worker:
            stack.enter_context(working_in_background(database, settings))

        def stop(number: signal.Signals) -> None:
            if number == signal.SIGTERM:
                server.stop(drain_s=settings.server.shutdown_delay_s)
            else:
                server.interrupt()

        stack.enter_context(acting_on_signals(stop))
        announce(_address(host, listener.getsockname()[1]))
        server.run()


def require_admin(database: Database, settings: Settings) -> None:
    """Raise `InvalidInput` where sign-in is required and there is no admin.

    A server that a network can reach requires sign-in, or does not start.
    """
    if not needs_sign_in(settings):
        return
    with database.read() as session:
        is_managed = has_admin(session)
    if not is_managed:
        reached = (
            f"{settings.server.host!r} can be reached from other machines"
            if not is_loopback(settings.server.host)
            else "sign-in is required"
        )
        raise InvalidInput(
            f"{reached}, and there is no admin.",
            field="server.host",
            hint="Create one: offdiag user add NAME --role admin",
        )


def _bound(settings: ServerSettings, any_port_if_taken: bool) -> socket.socket:
    """A socket that owns the configured port, or any other one where that will do."""
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
