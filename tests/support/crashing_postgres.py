"""A PostgreSQL server that is stopped without warning and started again, as often as wanted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.postgres import PostgresServer, started_cluster


class CrashingServer:
    """A server of its own with one migrated database, and what is committed stays there."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        running = PostgresServer(str(cluster.get_postmaster_info().socket_dir))
        self.url = running.create("registry")
        database = Database(self.url)
        upgrade(database)
        database.close()

    def crash(self) -> None:
        """End all its processes at once, without a word to anybody."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start it again; it recovers what was committed from its log."""
        self._cluster.ensure_postgres_running()

    def _control(self, *arguments: str) -> None:
        subprocess.run(
            [self._cluster.bin_path / "pg_ctl", "-w", "-D", self._cluster.pgdata, *arguments],
            check=True,
            user=self._cluster.system_user,
            stdout=subprocess.DEVNULL,
        )


@contextmanager
def crashing_server(under: Path | None = None) -> Iterator[CrashingServer]:
    """Start such a server with its files under a folder, and stop and remove it at the end."""
    with started_cluster(under) as cluster:
        yield CrashingServer(cluster)
