"""A connection that ends when its time is over, however slowly the other side speaks."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_after(connection: socket.socket, seconds: float) -> Iterator[threading.Event]:
    """Cut a connection after a time, from a thread of its own. The event says that it was cut.

    Time limits of a socket are per operation: a server that sends a byte a second never
    exceeds one. Cutting wakes whoever waits for the connection, also inside TLS, because a
    duplicate of the socket is cut and the connection with it.
    """
    guard = connection.dup()
    is_over = threading.Event()

    def cut() -> None:
        is_over.set()
        try:
            guard.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # It has ended by itself.

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()
        timer.join()
        guard.close()
