"""A server on a free port: in a thread of the test, or as a process that can be killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import structlog
from werkzeug.serving import WSGIRequestHandler, make_server

from offdiag.settings import AccessSettings, ServerSettings, Settings
from offdiag.store.database import Database
from offdiag_web import create_app
from offdiag_workers.process import working_in_background
from support.listeners import running
from support.processes import killed_after
from support.quick_apps import remember_addresses, remember_templates
from support.quick_starts import QuickProcess
from support.registries import FORMS_KEY

remember_addresses()
remember_templates()


@contextmanager
def serving(
    database: Database, *, with_worker: bool = True, is_guarded: bool = False
) -> Iterator[str]:
    """The address of a server over a database, while the block lasts.

    A guarded one asks everybody for a token. What it logs goes to standard error, as that of
    a server does, and not among what a command under test prints.
    """
    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    settings = Settings(
        server=ServerSettings(secret_key=FORMS_KEY),
        access=AccessSettings(auth="required" if is_guarded else "auto"),
    )
    server = make_server(
        "127.0.0.1", 0, create_app(settings, database), threaded=True, request_handler=_Quiet
    )
    try:
        with (
            running(server) as url,
            working_in_background(database, settings) if with_worker else nullcontext(),
        ):
            yield url
    finally:
        structlog.reset_defaults()


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Tests show what they want to show."""


class ServerProcess:
    """`offdiag serve` over a file, which can be killed and started again on its port."""

    def __init__(self, database_url: str, log: Path, *options: str) -> None:
        self._database_url = database_url
        self._options = options
        self._log = log
        self._port = 0
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it can be asked."""
        command = str(Path(sys.executable).with_name("offdiag"))
        with self._log.open("a") as log:
            self._process = QuickProcess(
                [
                    command,
                    "serve",
                    *("--port", str(self._port)),
                    *("--url", self._database_url),
                    *self._options,
                ],
                env={name: text for name, text in os.environ.items() if "OFFDIAG" not in name},
                cwd=self._log.parent,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        with killed_after(self._process):
            line = self._process.stdout.readline()
        found = re.search(r"http://[^:]+:(\d+)", line)
        assert found is not None, line + self._log.read_text()
        self._port = int(found[1])

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()


@contextmanager
def server_process(folder: Path, *options: str) -> Iterator[ServerProcess]:
    """A server of its own over a new file in a folder, with options of `offdiag serve`."""
    url = f"sqlite:///{folder / 'registry.db'}"
    server = ServerProcess(url, folder / "server.log", *options)
    try:
        server.start()
        yield server
    finally:
        server.kill()
