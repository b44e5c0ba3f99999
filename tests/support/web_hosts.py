"""Servers of a team as processes of their own, which are told to stop and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import httpx

from support.hosts import Host
from support.quick_starts import QuickProcess
from support.registries import FORMS_KEY

Kind = Literal["serve", "gunicorn"]

CONFIG = Path(__file__).parents[2] / "config" / "gunicorn.conf.py.example"
_PATIENCE_S = 240
_ON_HOST = """
import runpy, sys
tests, name = sys.argv[1:3]
sys.path.insert(0, tests)
from support.hosts import Host
Host(name, "").move_in()
del sys.argv[1:3]
runpy.run_module("gunicorn", run_name="__main__")
"""
# One for all looks, as each would read the certificates of all authorities; each connects anew.
_LOOKING = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0), timeout=30, verify=False)


class WebHost:
    """One server of a kind over a database, on this machine or on a host of its own."""

    def __init__(
        self,
        kind: Kind,
        database_url: str,
        log: Path,
        *,
        host: Host | None = None,
        **settings: str,
    ) -> None:
        self._host = host
        self.address = "127.0.0.1" if host is None else host.address
        self.port = _free_port()
        self._log = log
        self._command = self._program(kind)
        self._environment = {
            **{name: text for name, text in os.environ.items() if "OFFDIAG" not in name},
            "OFFDIAG_URL": database_url,
            "OFFDIAG_SERVER__SECRET_KEY": FORMS_KEY,
            "OFFDIAG_SERVER__TRUSTED_HOSTS": self.address,
            "OFFDIAG_ACCESS__API_LIMIT": "100000 per minute",
            "OFFDIAG_LOG__FORMAT": "json",
            **settings,
        }
        self._process: QuickProcess | None = None

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def process(self) -> QuickProcess:
        assert self._process is not None
        return self._process

    @property
    def pid(self) -> int:
        return self.process.pid

    def start(self) -> None:
        """Start it; `wait_until_ready` waits until it answers."""
        with self._log.open("ab") as log:
            self._process = QuickProcess(
                self._command, cwd=self._log.parent, env=self._environment, stdout=log, stderr=log
            )

    def wait_until_ready(self) -> None:
        give_up_at = time.monotonic() + _PATIENCE_S
        while self.readiness() != "ready":
            assert time.monotonic() < give_up_at, self.said()
            assert self._process is not None
            assert self._process.poll() is None, self.said()
            time.sleep(0.05)

    def readiness(self) -> str:
        """What a proxy finds out: "ready", the code of why not, or "gone"."""
        try:
            told = _LOOKING.get(f"{self.url}/readyz").json()
        except (httpx.TransportError, ValueError):
            return "gone"
        return str(told.get("code", told["status"]))

    def stop(self) -> None:
        """Tell it to stop, and go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def wait(self, timeout_s: float = 60) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        return self._process.wait(timeout_s)

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def said(self) -> str:
        """Everything it has logged."""
        return self._log.read_text(encoding="utf-8")

    def _config(self) -> Path:
        # gunicorn leaves what it compiled beside the file it reads.
        copy = self._log.with_name(f"gunicorn-{self.port}.conf.py")
        copy.write_text(CONFIG.read_text(encoding="utf-8"), encoding="utf-8")
        return copy

    def _program(self, kind: Kind) -> list[str]:
        if kind == "serve":
            offdiag = str(Path(sys.executable).with_name("offdiag"))
            return [
                *(offdiag, "serve", "--no-worker"),
                *("--host", self.address, "--port", str(self.port)),
            ]
        started = ["-m", "gunicorn"]
        if self._host is not None:
            started = ["-c", _ON_HOST, str(Path(__file__).parents[1]), self._host.name]
        return [
            *(sys.executable, *started, "--config", str(self._config())),
            *("--bind", f"{self.address}:{self.port}", "--workers", "1"),
        ]


@contextmanager
def web_hosts(*hosts: WebHost) -> Iterator[None]:
    """Start them all, and wait until all are ready; none outlives the block."""
    try:
        for host in hosts:
            host.start()
        for host in hosts:
            host.wait_until_ready()
        yield
    finally:
        for host in hosts:
            host.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
