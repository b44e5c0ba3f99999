"""PgBouncer before the PostgreSQL server of the tests, lending connections by transaction."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.postgres import PostgresServer

N_CONNECTIONS = 2
"""To the server, fewer than clients, so that each transaction may get another one."""

_PORT = 6543
_SETTINGS = """
[databases]
* = host={server} user=postgres
[pgbouncer]
unix_socket_dir = {folder}
listen_addr =
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = {size}
server_lifetime = 3600
log_connections = 0
log_disconnections = 0
"""


@contextmanager
def running_pooler(server: PostgresServer) -> Iterator[str]:
    """Start a pooler; yields what a URL says after `?`. Skipped where it is not installed."""
    # Debian puts it where not everybody looks for programs.
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed (Debian: apt-get install pgbouncer)")
    with tempfile.TemporaryDirectory(prefix="offdiag-pooler-") as name:
        folder = Path(name)
        settings = folder / "pooler.ini"
        settings.write_text(
            _SETTINGS.format(
                server=server.socket_folder, folder=folder, port=_PORT, size=N_CONNECTIONS
            )
        )
        # It refuses to run as root; whoever runs the server may enter its folder.
        owner = Path(server.socket_folder).stat().st_uid
        os.chown(folder, owner, -1)
        folder.chmod(0o755)
        process = subprocess.Popen(
            [program, "--quiet", str(settings)],
            user=owner if os.getuid() == 0 else None,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(folder / f".s.PGSQL.{_PORT}", process)
            yield f"host={folder}&port={_PORT}"
        finally:
            process.kill()
            process.wait()


def _wait_for(socket: Path, process: subprocess.Popen[bytes]) -> None:
    give_up_at = time.monotonic() + 20
    while not socket.exists():
        assert process.poll() is None, "PgBouncer ended"
        assert time.monotonic() < give_up_at, "PgBouncer makes no socket"
        time.sleep(0.02)
