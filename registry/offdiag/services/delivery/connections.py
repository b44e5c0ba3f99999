"""Network connections with a total time limit, also inside TLS."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def calls_after(seconds: float, cut_off: Callable[[], object]) -> Iterator[threading.Event]:
    """Call `cut_off` from another thread if the block takes longer than `seconds`.

    The event is set before the call. Leaving the block waits for a call that has begun.
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
    """Cut a connection after some time. The event says that it was cut.

    Time limits of a socket apply to each operation: a server that sends a byte per second never
    exceeds one. Cutting wakes whatever waits for the connection, also inside TLS, because it is
    done through a duplicate of the socket.
    """
    with connection.dup() as guard:

        def cut() -> None:
            with suppress(OSError):  # It may have ended by itself.
                guard.shutdown(socket.SHUT_RDWR)

        with calls_after(seconds, cut) as is_over:
            yield is_over


def secured(connection: socket.socket, host: str) -> ssl.SSLSocket:
    """The connection wrapped in TLS, verified for `host`. Raises `OSError`."""
    context = ssl.create_default_context()  # Reads certificates, which takes a while.
    # If the connection was reset, the library would make a socket that is never closed.
    connection.getpeername()
    return context.wrap_socket(connection, server_hostname=host)
