"""Several hosts on one machine: network namespaces on a bridge, whose cables can be pulled.

Needs root and `ip` of iproute2; elsewhere the test is skipped and says which of them is missing.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from offdiag.store.database import Database
from offdiag.store.schema import upgrade
from support.postgres import PostgresServer, started_cluster

_OWN = os.getpid() % 10_000
"""What tells this network from that of another process, or of one that has just ended."""
_BRIDGE = f"offdiag{_OWN}"
_NET = f"10.77.{_OWN % 250}"
_PORT = 5432
_NEW_NETWORK = 0x40000000


@dataclass(frozen=True)
class Host:
    """A network namespace with one cable to the bridge."""

    name: str
    address: str

    @property
    def inside(self) -> list[str]:
        """What starts a program on this host."""
        return ["ip", "netns", "exec", self.name]

    def pull_cable(self) -> None:
        """From now on nothing it sends arrives, and nothing arrives there; nobody is told."""
        _ip("link", "set", self._cable, "down")

    def plug_cable(self) -> None:
        _ip("link", "set", self._cable, "up")

    def ignore(self, other: Host) -> None:
        """Send nothing to another host any more; what it sends still arrives here."""
        _ip("-n", self.name, "route", "add", "blackhole", f"{other.address}/32")

    def heed(self, other: Host) -> None:
        _ip("-n", self.name, "route", "del", "blackhole", f"{other.address}/32")

    def move_in(self) -> None:
        """Let this process, and the threads it starts from now on, be on this host."""
        library = ctypes.CDLL(None, use_errno=True)
        descriptor = os.open(f"/run/netns/{self.name}", os.O_RDONLY)
        if library.setns(descriptor, _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")
        os.close(descriptor)

    @property
    def _cable(self) -> str:
        return f"to-{self.name.removeprefix('offdiag-')}"

    def _build(self) -> None:
        _ip("netns", "add", self.name)
        _ip("link", "add", self._cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        _ip("link", "set", self._cable, "master", _BRIDGE, "up")
        _ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            _ip("-n", self.name, "link", "set", device, "up")


@contextmanager
def hosts(*names: str) -> Iterator[list[Host]]:
    """So many hosts, which this machine reaches as their neighbour; none outlives the block."""
    _require_network()
    built = [Host(f"offdiag-{_OWN}-{name}", f"{_NET}.{10 + n}") for n, name in enumerate(names)]
    try:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{_NET}.1/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        for host in built:
            host._build()
        yield built
    finally:
        for arguments in (
            *(("netns", "del", host.name) for host in built),
            ("link", "del", _BRIDGE),
        ):
            subprocess.run(["ip", *arguments], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def postgres_on(host: Host) -> Iterator[tuple[Database, str]]:
    """A migrated database on a host: by a way that no cable is part of, and its URL for others."""
    with started_cluster() as cluster:
        folder = Path(cluster.get_postmaster_info().socket_dir)
        _control(cluster, "stop", "-m", "fast")
        with (Path(cluster.pgdata) / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {_NET}.0/24 trust\n")
        _control(cluster, "start", "-o", f"-h 0.0.0.0 -p {_PORT} -k {folder}", inside=host.inside)
        server = PostgresServer(str(folder))
        server.speed_up()
        database = Database(server.create("registry"))
        upgrade(database)
        try:
            yield database, f"postgresql://postgres@{host.address}:{_PORT}/registry"
        finally:
            database.close()


def _control(cluster: Any, *arguments: str, inside: Sequence[str] = ()) -> None:
    as_user = ["runuser", "-u", cluster.system_user, "--"] if cluster.system_user else []
    log = ["-l", str(cluster.log)]
    subprocess.run(
        [
            *inside,
            *as_user,
            cluster.bin_path / "pg_ctl",
            "-w",
            "-D",
            cluster.pgdata,
            *log,
            *arguments,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _require_network() -> None:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need ip, of iproute2")
    tried = subprocess.run(
        ["ip", "link", "add", _BRIDGE, "type", "bridge"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        pytest.skip(f"no bridge can be made here: {tried.stderr.strip()}")
    _ip("link", "del", _BRIDGE)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"
