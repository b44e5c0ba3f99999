"""The web servers and workers of a soak. The first of each kind is one that no fault hits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from load.programs import environment_of, free_port, gunicorn_command, offdiag_command
from soak.programs import Program

N_SERVERS = 2
N_WORKERS = 3
_LOOK_EVERY_S = 0.2
_NO_LIMIT = "1000000 per minute"
"""Limits of requests are for strangers; here everybody is asked for as much as there is."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Web servers beside their addresses, and workers."""

    servers: tuple[Program, ...]
    urls: tuple[str, ...]
    workers: tuple[Program, ...]

    @property
    def programs(self) -> tuple[Program, ...]:
        return (*self.servers, *self.workers)

    @property
    def exposed_server(self) -> Program:
        return self.servers[-1]

    @property
    def exposed_workers(self) -> tuple[Program, ...]:
        return tuple(worker for worker in self.workers if worker.is_exposed)

    def look_after(self) -> None:
        """Start again whatever has ended."""
        for program in self.programs:
            program.look_after()

    def are_ready(self) -> bool:
        """Whether all servers say that they are."""
        return all(_is_ready(url) for url in self.urls)

    def wait_until_ready(self, timeout_s: float) -> bool:
        """Whether they come to say so in time."""
        give_up_at = time.monotonic() + timeout_s
        while not self.are_ready():
            if time.monotonic() > give_up_at:
                return False
            time.sleep(_LOOK_EVERY_S)
        return True


@contextmanager
def fleet(
    database_url: str, folder: Path, *, lease_s: float, short_lease_s: float
) -> Iterator[Fleet]:
    """Two servers and three workers over a registry; none outlives the block.

    On PostgreSQL servers are gunicorn as the example of its configuration has it, on SQLite
    `offdiag serve`. Everybody has to show a token. Workers that faults may hit have the short
    leases.
    """
    ports = [free_port() for _ in range(N_SERVERS)]
    environment = environment_of(
        database_url,
        OFFDIAG_ACCESS__READ_LIMIT=_NO_LIMIT,
        OFFDIAG_ACCESS__API_LIMIT=_NO_LIMIT,
    )
    started: list[Program] = []

    def start(name: str, number: int, command: list[str]) -> Program:
        log = folder / f"{name}-{number}.log"
        is_exposed = number > 0
        lease = {"OFFDIAG_JOBS__LEASE_S": f"{short_lease_s if is_exposed else lease_s:g}"}
        started.append(Program(name, command, environment | lease, log, is_exposed=is_exposed))
        return started[-1]

    try:
        servers = tuple(
            start("web server", number, _serving(database_url, port, folder))
            for number, port in enumerate(ports)
        )
        workers = tuple(
            start("worker", number, offdiag_command("worker")) for number in range(N_WORKERS)
        )
        yield Fleet(servers, tuple(f"http://127.0.0.1:{port}" for port in ports), workers)
    finally:
        for program in started:
            program.end()


def _serving(database_url: str, port: int, folder: Path) -> list[str]:
    if database_url.startswith("sqlite"):
        return offdiag_command("serve", "--no-worker", "--port", str(port))
    return gunicorn_command(folder / f"gunicorn-{port}.conf.py", port)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).is_success
    except httpx.TransportError:
        return False
