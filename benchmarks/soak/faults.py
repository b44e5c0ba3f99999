"""The faults of a soak, by what they are called in its table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from sqlalchemy import text

from load.process_tree import descendants
from offdiag.store.database import Database
from soak.crowd import Crowd
from soak.databases import Place
from soak.fleet import Fleet
from soak.programs import Program

_BEYOND_A_LEASE_S = 2.0
_STOPPED_WITHIN_S = 45.0
_READY_WITHIN_S = 60.0
_YOUNG_S = 20.0
_BUSY_FOR_EACH_CORE = 4
_BUSY = "while True: sum(range(1_000))"


@dataclass(frozen=True, slots=True)
class Scene:
    """What faults may hit. `troubles` are sentences on those that were not got over."""

    place: Place
    fleet: Fleet
    crowd: Crowd
    lease_s: float
    random: Random
    troubles: list[str] = field(default_factory=list)

    @property
    def database(self) -> Database:
        return self.place.database

    @property
    def folder(self) -> Path:
        return self.crowd.folder


Fault = Callable[[Scene], None]


def throw(kind: str, scene: Scene) -> None:
    """Do it, and wait until all servers say that they are ready again."""
    ALL[kind](scene)
    if not scene.fleet.wait_until_ready(_READY_WITHIN_S):
        scene.troubles.append(f"{kind}: not ready within {_READY_WITHIN_S:g} s")


def kinds_for(dialect: str) -> tuple[str, ...]:
    """The faults that there are on a kind of database."""
    return (*EVERYWHERE, *(ON_POSTGRESQL if dialect == "postgresql" else ON_SQLITE))


def _kill_worker(scene: Scene) -> None:
    _one_worker(scene).hit(signal.SIGKILL)


def _kill_web_process(scene: Scene) -> None:
    server = scene.fleet.exposed_server
    victim = scene.random.choice([server.pid, *sorted(descendants(server.pid))])
    if victim == server.pid:
        server.hit(signal.SIGKILL)
    else:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)


def _kill_client(scene: Scene) -> None:
    scene.crowd.kill_client(scene.random)


def _stop_worker(scene: Scene) -> None:
    _stop(_one_worker(scene), scene)


def _stop_web_server(scene: Scene) -> None:
    _stop(scene.fleet.exposed_server, scene)


def _freeze_worker(scene: Scene) -> None:
    frozen = _one_worker(scene).hit(signal.SIGSTOP)
    try:
        time.sleep(scene.lease_s + _BEYOND_A_LEASE_S)
    finally:
        frozen.send_signal(signal.SIGCONT)


def _terminate_connections(scene: Scene) -> None:
    with scene.database.listen() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


def _crash_database(scene: Scene) -> None:
    scene.place.crash()


def _lock_file(scene: Scene) -> None:
    with scene.database.write():
        time.sleep(scene.lease_s + _BEYOND_A_LEASE_S)


def _crowd_machine(scene: Scene) -> None:
    # A worker on PostgreSQL that gets no time to keep a short lease ends itself.
    for worker in scene.fleet.exposed_workers:
        worker.may_end()
    n_busy = _BUSY_FOR_EACH_CORE * (os.cpu_count() or 1)
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(n_busy)]
    try:
        time.sleep(scene.lease_s + _BEYOND_A_LEASE_S)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _one_worker(scene: Scene) -> Program:
    return scene.random.choice(scene.fleet.exposed_workers)


def _stop(program: Program, scene: Scene) -> None:
    process, is_young = program.hit(signal.SIGTERM), program.age_s < _YOUNG_S
    try:
        code = process.wait(_STOPPED_WITHIN_S)
    except subprocess.TimeoutExpired:
        scene.troubles.append(f"{program.name}: not stopped within {_STOPPED_WITHIN_S:g} s")
        process.kill()
        return
    # Before it has loaded what hears the signal the system ends it, and it holds nothing yet.
    if code != 0 and not (is_young and code == -signal.SIGTERM):
        scene.troubles.append(f"{program.name}: stopped with exit code {code}")


EVERYWHERE: Mapping[str, Fault] = {
    "a worker killed": _kill_worker,
    "a process of a web server killed": _kill_web_process,
    "a client killed": _kill_client,
    "a worker told to stop": _stop_worker,
    "a web server told to stop": _stop_web_server,
    "a worker frozen for longer than its lease": _freeze_worker,
    "more busy processes than the machine has room for": _crowd_machine,
}
ON_SQLITE: Mapping[str, Fault] = {"the file locked for longer than a lease": _lock_file}
ON_POSTGRESQL: Mapping[str, Fault] = {
    "all connections terminated": _terminate_connections,
    "the database server killed and started again": _crash_database,
}
ALL: Mapping[str, Fault] = {**EVERYWHERE, **ON_SQLITE, **ON_POSTGRESQL}
