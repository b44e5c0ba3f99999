"""Connections that are cut off when their time is over, and TLS inside them."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def calls_after(seconds: float, cut_off: Callable[[], object]) -> Iterator[threading.Event]:
    """Call `cut_off` from a thread of its own if the block takes longer.

    The event is set before that. Leaving the block waits for a call that has begun.
    """
    is_over = threading.Event()

    def end() -> None:
        is_over.set()
        cut_off()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def ends_after(connection: socket.socket, seconds: float) -> Iterator[threading.Event]:
    """Cut a connection after a time. The event says that it was cut.

    Time limits of a socket are per operation: a server that sends a byte a second never
    exceeds one. Cutting wakes whatever waits for the connection, also inside TLS, because a
    duplicate of the socket is cut and the connection with it.
    """
    with connection.dup() as guard:

        def cut() -> None:
            with suppress(OSError):  # It may have ended by itself.
                guard.shutdown(socket.SHUT_RDWR)

        with calls_after(seconds, cut) as is_over:
            yield is_over


def secured(connection: socket.socket, host: str) -> ssl.SSLSocket:
    """The connection inside TLS, with the certificate of `host`. Raises `OSError`."""
    context = ssl.create_default_context()  # Reads certificates, which takes a while.
    # Of a connection that was reset the library makes a socket that nobody closes.
    connection.getpeername()
    return context.wrap_socket(connection, server_hostname=host)
