"""The dashboard, and beside it the worker, in one process until Ctrl-C."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address

from offdiag.errors import InvalidInput
from offdiag.settings import ServerSettings, Settings
from offdiag.store.database import Database


def serve_until_stopped(
    database: Database,
    settings: Settings,
    *,
    with_worker: bool,
    announce: Callable[[str], None],
    any_port_if_taken: bool = False,
) -> None:
    """Answer requests until SIGINT or SIGTERM; requests that were begun are ended.

    `announce` is called with the address once it can be opened. Raises `InvalidInput` for a
    host that is not this machine alone, and for a port that is taken, unless any other will do.
    """
    from waitress.server import create_server

    from offdiag_web import create_app
    from offdiag_workers.process import working_in_background

    host = settings.server.host
    require_loopback(host)
    with ExitStack() as stack:
        listener = stack.enter_context(_bound(settings.server, any_port_if_taken))
        app = create_app(settings, database)
        server = create_server(
            app, sockets=[listener], threads=settings.server.threads, ident=None
        )
        stack.callback(server.close)
        if with_worker:
            stack.enter_context(working_in_background(database, settings))
        stack.enter_context(_sigterm_like_ctrl_c())
        announce(_address(host, listener.getsockname()[1]))
        server.run()


def require_loopback(host: str) -> None:
    """Raise `InvalidInput` unless the host is this machine alone."""
    if not _is_loopback(host):
        raise InvalidInput(
            f"{host!r} can be reached from other machines, and there is no sign-in yet.",
            field="server.host",
            hint="Use 127.0.0.1, and let an SSH tunnel or a proxy with sign-in lead there.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
        f"{settings.port} on {settings.host} is taken by another program.",
        field="server.port",
        hint="Name another with --port, or take any free one with --port 0.",
    )


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
