"""A network between a client and a server that does what networks do, at the test's command."""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

from sqlalchemy.engine import make_url

from offdiag.store.database import Database

_PIECE = 16_384
_NO_FAREWELL = struct.pack("ii", 1, 0)


class Trap(Enum):
    """What happens once certain bytes come by from the client."""

    LOST_REQUEST = "they do not arrive, and the connection is cut"
    LOST_ANSWER = "they arrive, and the connection is cut before the answer is through"
    FROZEN = "they arrive, and nothing comes through any more in either direction"


class Network:
    """Carries bytes from a port of this machine to a server, a TCP address or a socket file."""

    def __init__(self, server: tuple[str, int] | str) -> None:
        self.latency_s = 0.0
        self.bytes_per_s: float | None = None
        self.stall_chance = 0.0
        self.n_trapped = 0
        self.n_connections = 0
        self._server = server
        self._flows = threading.Event()
        self._flows.set()
        self._trap: tuple[bytes, Trap] | None = None
        self._watched: bytes | None = None
        self._pairs: list[_Pair] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        """Let nothing through; both ends are still acknowledged every byte."""
        self._flows.clear()

    def watch(self, marker: bytes) -> None:
        """From now on remember the connections on which a client sends `marker`."""
        self._watched = marker

    def freeze_watched(self) -> int:
        """Freeze the connections that were remembered, and no other; returns how many are open."""
        watched = [pair for pair in self._pairs if pair.is_watched and not pair.is_over]
        for pair in watched:
            pair.flows.clear()
        return len(watched)

    def thaw(self) -> None:
        """Let everything through that was held back."""
        self._flows.set()
        for pair in self._pairs:
            pair.flows.set()

    def cut(self) -> None:
        """Reset every connection there is."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            pair.cut()

    def set_trap(self, marker: bytes, trap: Trap) -> None:
        """Once, when a client sends `marker`."""
        self._trap = (marker, trap)

    def close(self) -> None:
        self._listener.close()
        self.thaw()
        self.cut()

    def take_trap(self, data: bytes) -> Trap | None:
        """What is to happen to these bytes of a client, once."""
        if self._trap is None or self._trap[0] not in data:
            return None
        trap, self._trap = self._trap[1], None
        self.n_trapped += 1
        return trap

    def is_watched(self, data: bytes) -> bool:
        """Whether a connection on which a client sends this is to be remembered."""
        return self._watched is not None and self._watched in data

    def delay(self, n_bytes: int) -> None:
        """As long as so many bytes take."""
        self._flows.wait()
        wait_s = self.latency_s / 2
        if self.bytes_per_s:
            wait_s += n_bytes / self.bytes_per_s
        if random.random() < self.stall_chance:
            wait_s += 0.3  # A segment was lost, and is sent again.
        if wait_s:
            time.sleep(wait_s)
        self._flows.wait()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                family = socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET
                upstream = socket.socket(family)
                try:
                    upstream.connect(self._server)
                except OSError:
                    client.close()
                    continue
                self.n_connections += 1
                self._pairs.append(_Pair(self, client, upstream))


class _Pair:
    def __init__(self, network: Network, client: socket.socket, upstream: socket.socket) -> None:
        self._network = network
        self._client = client
        self._upstream = upstream
        self._loses_answer = False
        self.is_watched = False
        self.is_over = False
        self.flows = threading.Event()
        self.flows.set()
        for target in (self._to_server, self._to_client):
            threading.Thread(target=target, daemon=True).start()

    def cut(self) -> None:
        self.is_over = True
        self.flows.set()
        for end in (self._client, self._upstream):
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_FAREWELL)
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _to_server(self) -> None:
        with suppress(OSError):
            while data := self._client.recv(_PIECE):
                self.is_watched = self.is_watched or self._network.is_watched(data)
                trap = self._network.take_trap(data)
                if trap is Trap.LOST_REQUEST:
                    break
                self._network.delay(len(data))
                self.flows.wait()
                self._loses_answer = trap is Trap.LOST_ANSWER
                if trap is Trap.FROZEN:
                    self._network.freeze()
                self._upstream.sendall(data)
        if not self._loses_answer:
            self.cut()

    def _to_client(self) -> None:
        with suppress(OSError):
            while data := self._upstream.recv(_PIECE):
                if self._loses_answer:
                    break
                self._network.delay(len(data))
                self.flows.wait()
                self._client.sendall(data)
        self.cut()


@contextmanager
def network_to(server: tuple[str, int] | str) -> Iterator[Network]:
    """A network to a server, while the block lasts."""
    network = Network(server)
    try:
        yield network
    finally:
        network.close()


@contextmanager
def network_to_server_of(database: Database) -> Iterator[Network]:
    """A network to the PostgreSQL server of a database, while the block lasts."""
    folder = make_url(database.url).query["host"]
    with network_to(f"{folder}/.s.PGSQL.5432") as network:
        yield network


def url_through(network: Network, database: Database, **options: str) -> str:
    """The address of a PostgreSQL database by way of the network to its server."""
    url = make_url(database.url).set(
        host="127.0.0.1", port=network.port, query={"sslmode": "disable", **options}
    )
    return url.render_as_string(hide_password=False)
