"""The programs of a load run: a server over a registry, workers beside it, a PostgreSQL."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config" / "gunicorn.conf.py.example"
_START_WITHIN_S = 60.0
KEY = "0123456789abcdef" * 4
"""Signs forms, the same in all processes."""


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
    environment = _environment(database_url)
    with ExitStack() as stack:
        for number in range(n_workers):
            log = folder / f"worker-{number}.log"
            stack.enter_context(_running([_offdiag(), "worker"], environment, log))
        start = _waitress if database_url.startswith("sqlite") else _gunicorn
        yield stack.enter_context(start(environment, folder / "server.log"))


@contextmanager
def _waitress(environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    command = [_offdiag(), "serve", "--no-worker", "--port", "0"]
    with _running(command, environment, log) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        if found is None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        yield Server(found[0].rstrip("/"), process.pid)


@contextmanager
def _gunicorn(environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    settings = log.with_name("gunicorn.conf.py")
    settings.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("gunicorn")), "--config", str(settings)]
    with _running([*command, "--bind", f"127.0.0.1:{port}"], environment, log) as process:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url, log)
        yield Server(url, process.pid)


def _wait_for(url: str, log: Path) -> None:
    give_up_at = time.monotonic() + _START_WITHIN_S
    while time.monotonic() < give_up_at:
        try:
            if httpx.get(f"{url}/healthz", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


@contextmanager
def _running(
    command: list[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[str]]:
    """A process that is asked to end with the block, and ended if it does not."""
    with log.open("a") as errors:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=log.parent,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _environment(database_url: str) -> dict[str, str]:
    ours = {name: text for name, text in os.environ.items() if not name.startswith("OFFDIAG_")}
    return ours | {
        "OFFDIAG_URL": database_url,
        "OFFDIAG_ACCESS__AUTH": "required",
        "OFFDIAG_SERVER__SECRET_KEY": KEY,
    }


def _offdiag() -> str:
    return str(Path(sys.executable).with_name("offdiag"))
