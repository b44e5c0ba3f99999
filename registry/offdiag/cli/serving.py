"""The dashboard, and beside it the worker, in one process until Ctrl-C."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from typing import Any
from wsgiref.types import WSGIApplication

from offdiag.errors import InvalidInput
from offdiag.settings import ServerSettings, Settings
from offdiag.store.database import Database


def serve(
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
    from offdiag_web.application import create_app
    from offdiag_workers.process import working_in_background

    require_loopback(settings.server.host)
    with ExitStack() as stack:
        server = stack.enter_context(
            _listening(create_app(settings, database), settings.server, any_port_if_taken)
        )
        if with_worker:
            stack.enter_context(working_in_background(database, settings))
        stack.enter_context(_sigterm_like_ctrl_c())
        announce(_address(settings.server.host, int(server.effective_port)))
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


@contextmanager
def _listening(
    app: WSGIApplication, settings: ServerSettings, any_port_if_taken: bool
) -> Iterator[Any]:
    server = _bound(app, settings, settings.port)
    if server is None and any_port_if_taken:
        server = _bound(app, settings, 0)
    if server is None:
        raise InvalidInput(
            f"{settings.port} on {settings.host} is taken by another program.",
            field="server.port",
            hint="Name another with --port, or take any free one with --port 0.",
        )
    try:
        yield server
    finally:
        server.close()


def _bound(app: WSGIApplication, settings: ServerSettings, port: int) -> Any | None:
    """A server that owns the port, None if another program does."""
    from waitress.server import create_server

    try:
        return create_server(
            app, host=settings.host, port=port, threads=settings.threads, ident=None
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return None
        raise


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
