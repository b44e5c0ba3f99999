"""Servers on this machine that behave as a test wants, and remember who called."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import HTTPServer

Behaviour = Callable[[socket.socket, "Listener"], None]
_PATIENCE_S = 20


@dataclass
class Listener:
    """A server; `received` holds what each connection sent, as far as it was read."""

    host: str
    port: int
    received: list[bytes] = field(default_factory=list)
    connections: int = 0
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/hook"


@contextmanager
def listening(behaviour: Behaviour, *, host: str = "127.0.0.1") -> Iterator[Listener]:
    """Accept connections one after the other and let `behaviour` talk to each."""
    with socket.create_server((host, 0)) as server:
        server.settimeout(0.05)
        listener = Listener(host, server.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, listener, behaviour), daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            listener.closing.set()
            thread.join(_PATIENCE_S)
            assert not thread.is_alive()


def _serve(server: socket.socket, listener: Listener, behaviour: Behaviour) -> None:
    while not listener.closing.is_set():
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        listener.connections += 1
        connection.settimeout(_PATIENCE_S)
        # A client that hangs up is what many of these tests are about.
        with connection, suppress(OSError):
            behaviour(connection, listener)


_POLLED_EVERY_S = 0.01
"""A server looks this often whether it is to stop: by default it takes half a second."""


@contextmanager
def running(server: HTTPServer) -> Iterator[str]:
    """Let a server of HTTP answer in a thread; yields its address without a final slash."""
    thread = threading.Thread(target=server.serve_forever, args=(_POLLED_EVERY_S,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def request(connection: socket.socket, listener: Listener) -> bytes:
    """Read one HTTP request with its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536) or b"\r\n\r\n"
    head, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    while length is not None and len(body) < int(length[1]):
        body += connection.recv(65_536)
    listener.received.append(head + b"\r\n\r\n" + body)
    return body


def answering(status: str, *headers: str, body: bytes = b"") -> Behaviour:
    """Answer every request in the same way."""

    def behave(connection: socket.socket, listener: Listener) -> None:
        request(connection, listener)
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    return behave


def dripping(start: bytes, *, every_s: float = 0.02) -> Behaviour:
    """Begin an answer and then send a byte now and then, for ever."""

    def behave(connection: socket.socket, listener: Listener) -> None:
        request(connection, listener)
        connection.sendall(start)
        while not listener.closing.wait(every_s):
            connection.sendall(b"x")

    return behave


def flooding(connection: socket.socket, listener: Listener) -> None:
    """Answer with more than anybody wants to read."""
    request(connection, listener)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not listener.closing.is_set():
        connection.sendall(b"x" * 65_536)


def recovering(after: int, *, ill: Behaviour, well: Behaviour) -> Behaviour:
    """Behave in one way for so many connections and in another from then on."""

    def behave(connection: socket.socket, listener: Listener) -> None:
        (ill if listener.connections <= after else well)(connection, listener)

    return behave


def silent(connection: socket.socket, listener: Listener) -> None:
    """Take the request and say nothing."""
    request(connection, listener)
    listener.closing.wait(_PATIENCE_S)
