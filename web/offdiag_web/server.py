"""The waitress server with graceful shutdown and protection against slow clients.

Nothing is cut off when it stops, and a client that sends a byte now and then does not block it. A
proxy in front does both as well, but most people run `offdiag serve` without one.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask
from waitress.utilities import RequestEntityTooLarge

from offdiag_web.shutdown import is_draining, start_draining

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

RECEIVED_AT_ONCE = 1 << 20
LARGEST_HEADER = 32 << 10
SENDER_TIMEOUT_S = 20.0
"""Seconds in which a request has to arrive; large requests get longer, as they arrive."""
SLOWEST_PER_S = 2_000
"""Bytes per second at which a request may take longer."""
IDLE_S = 60
MOST_CONNECTIONS = 1_000
FINISH_S = 30.0
"""Seconds that running requests may take to finish after the server stops accepting others."""
_LOOK_EVERY_S = 2
_TURN_S = 0.5


class _Task(WSGITask):  # type: ignore[misc]  # the library ships no types
    def build_response_header(self) -> bytes:
        if is_draining():
            self.request.headers["CONNECTION"] = "close"
        header: bytes = super().build_response_header()
        return header


class _Refusal(ErrorTask):  # type: ignore[misc]  # the same
    def execute(self) -> None:
        self.channel.is_too_large = isinstance(self.request.error, RequestEntityTooLarge)
        super().execute()


class _Channel(HTTPChannel):  # type: ignore[misc]  # the same
    """A connection that measures how long a request has been arriving, and how much of it has.

    After the refusal of a request that `is_too_large`, what still arrives of it is discarded for a
    while: closing at once would reset the connection, and the client might not get the response.
    """

    task_class = _Task
    error_task_class = _Refusal

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._since: float | None = None
        self._n_received = 0
        self.is_too_large = False
        self._discards_until: float | None = None
        super().__init__(*arguments, **named)

    def handle_close(self) -> None:
        if not self.is_too_large or self._discards_until is not None:
            super().handle_close()
            return
        self._discards_until = time.monotonic() + SENDER_TIMEOUT_S
        self.will_close = False
        with suppress(OSError):  # The client may be gone.
            self.socket.shutdown(socket.SHUT_WR)

    def readable(self) -> bool:
        return self._discards_until is not None or bool(super().readable())

    def writable(self) -> bool:
        return bool(self.will_close if self._discards_until is not None else super().writable())

    def received(self, data: bytes) -> bool:
        if self._discards_until is not None:
            return False
        if self._since is None:
            self._since, self._n_received = time.monotonic(), 0
        self._n_received += len(data)
        was_taken = bool(super().received(data))
        if self.request is None:
            self._since = None
        return was_taken

    def is_too_slow(self) -> bool:
        if self._discards_until is not None:
            return time.monotonic() > self._discards_until
        if self._since is None:
            return False
        allowed_s = SENDER_TIMEOUT_S + self._n_received / SLOWEST_PER_S
        return time.monotonic() - self._since > allowed_s

    def is_idle(self) -> bool:
        return not (self.requests or self.request or self.total_outbufs_len)


class Listening(TcpWSGIServer):  # type: ignore[misc]  # the same
    """A server on a socket that is already bound; `run` returns after `stop` was called.

    It handles requests in `threads` threads; a body of more than `most_bytes` is refused, and
    smaller ones are kept in memory.
    """

    channel_class = _Channel

    def __init__(
        self,
        application: WSGIApplication,
        listener: socket.socket,
        *,
        threads: int,
        most_bytes: int,
    ) -> None:
        settings = Adjustments(
            sockets=[listener],
            threads=threads,
            ident=None,
            recv_bytes=RECEIVED_AT_ONCE,
            inbuf_overflow=most_bytes,
            max_request_body_size=most_bytes,
            max_request_header_size=LARGEST_HEADER,
            channel_timeout=IDLE_S,
            cleanup_interval=_LOOK_EVERY_S,
            connection_limit=MOST_CONNECTIONS,
            # The application checks which proxies are trusted.
            clear_untrusted_proxy_headers=False,
            # With `select`, file descriptors are limited to 1,024.
            asyncore_use_poll=True,
        )
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(threads)
        self._closes_at: float | None = None
        self._ends_at: float | None = None
        self._is_interrupted = self._is_cut_off = False
        super().__init__(
            application,
            {},
            True,
            listener,
            dispatcher=dispatcher,
            adj=settings,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
            bind_socket=False,
        )

    def stop(self, *, drain_s: float = 0.0) -> None:
        """Let `run` return: after `drain_s` refuse connections, then wait for running requests.

        Can be called from any thread, but not from a signal handler.
        """
        start_draining()
        self._closes_at = time.monotonic() + drain_s
        self.pull_trigger()

    def interrupt(self) -> None:
        """Let `run` return as for Ctrl-C: a second call cuts off running requests."""
        self._is_cut_off, self._is_interrupted = self._is_interrupted, True
        self.stop()

    def run(self) -> None:
        """Handle requests until `stop` or `interrupt`."""
        try:
            while not self._is_ended():
                wasyncore.loop(timeout=_TURN_S, use_poll=True, map=self._map, count=1)
        finally:
            self.task_dispatcher.shutdown()

    def maintenance(self, now: float) -> None:
        """Close connections that are idle for long or send too slowly."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.is_too_slow():
                channel.will_close = True

    def _is_ended(self) -> bool:
        if self._is_cut_off:
            return True
        now = time.monotonic()
        if self._closes_at is not None and now >= self._closes_at and self._ends_at is None:
            self._ends_at = now + FINISH_S
            self._refuse_connections()
        if self._ends_at is None:
            return False
        for channel in self.active_channels.values():
            if channel.is_idle():
                channel.will_close = True
        return not self.active_channels or now >= self._ends_at

    def _refuse_connections(self) -> None:
        # Clients that the kernel has already connected still get a response.
        before = -1
        while before != len(self.active_channels):
            before = len(self.active_channels)
            self.handle_accept()
        wasyncore.dispatcher.close(self)
