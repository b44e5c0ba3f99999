"""The programs of a load run: a server over a registry, workers beside it, a PostgreSQL."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired

from load.programs import (
    ROOT,
    environment_of,
    free_port,
    gunicorn_command,
    offdiag_command,
    wait_until_it_answers,
)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server listens, and the first of its processes."""

    url: str
    pid: int


@contextmanager
def postgres_url(name: str) -> Iterator[str]:
    """A new database on a server of its own, which loses nothing in a crash."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.postgres import lasting_server

    with lasting_server() as server:
        yield server.create(name)


@contextmanager
def served(database_url: str, folder: Path, *, n_workers: int) -> Iterator[Server]:
    """A server over a registry, with workers that evaluate what is logged.

    On PostgreSQL that is gunicorn as the example of its configuration has it, on SQLite
    `offdiag serve`. Everybody has to show a token.
    """
    environment = environment_of(database_url)
    with ExitStack() as stack:
        for number in range(n_workers):
            log = folder / f"worker-{number}.log"
            stack.enter_context(_running(offdiag_command("worker"), environment, log))
        start = _waitress if database_url.startswith("sqlite") else _gunicorn
        yield stack.enter_context(start(environment, folder / "server.log"))


@contextmanager
def _waitress(environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    command = offdiag_command("serve", "--no-worker", "--port", "0")
    with _running(command, environment, log) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        yield Server(found[0].rstrip("/"), process.pid)


@contextmanager
def _gunicorn(environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    port = free_port()
    command = gunicorn_command(log.with_name("gunicorn.conf.py"), port)
    with _running(command, environment, log) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_it_answers(url, log)
        yield Server(url, process.pid)


@contextmanager
def _running(
    command: list[str], environment: Mapping[str, str], log: Path
) -> Iterator[Popen[str]]:
    """A process that is asked to end with the block, and ended if it does not."""
    with log.open("a") as errors:
        process = Popen(
            command,
            env=dict(environment),
            cwd=log.parent,
            stdout=PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=30)
        except TimeoutExpired:
            process.kill()
            process.communicate()
