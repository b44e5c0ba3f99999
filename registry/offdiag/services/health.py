"""Health of a registry: metrics for monitoring, and heartbeats of workers and schedulers.

Processes report that they are alive, so that people can see whether work is being done.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from offdiag.domain.runs import RunState
from offdiag.store import job_lease
from offdiag.store.database import Database, Session
from offdiag.store.health import QueueState, log_bytes, registry_health
from offdiag.store.job_lease import Heart


@dataclass(frozen=True, slots=True)
class RegistryMetrics:
    """Runs by state, the queue, and seconds since the last heartbeat of each kind of process.

    `log_bytes` is the length of the write-ahead log, None on PostgreSQL.
    """

    runs_by_state: Mapping[RunState, int]
    queue: QueueState
    silence_s: Mapping[str, float]
    log_bytes: int | None


def registry_metrics(database: Database) -> RegistryMetrics:
    """All metrics, of one moment. Raises `DatabaseUnavailable`."""
    with database.read() as session:
        health = registry_health(session)
        beats = job_lease.list_heartbeats(session)
    silence_s: dict[str, float] = {}
    for each in beats:
        silence_s.setdefault(each.kind, each.age_s)
    return RegistryMetrics(health.runs_by_state, health.queue, silence_s, log_bytes(database))


HeartKind = Literal["worker", "scheduler"]

EVERY_S = 10.0
SILENT_AFTER_S = 30.0
"""A process without a heartbeat for this long is probably dead."""
_FORGOTTEN_AFTER_S = 86_400.0


def heart_of_this_process(kind: HeartKind, database: Database) -> Heart:
    return Heart(kind, socket.gethostname(), os.getpid(), database.clock())


def beat(database: Database, heart: Heart) -> None:
    """Record a heartbeat, and forget processes that have been silent for a day."""
    with database.write() as session:
        job_lease.beat(session, heart)
        job_lease.forget_silent(session, older_than_s=_FORGOTTEN_AFTER_S)


def has_worker(session: Session) -> bool:
    """Whether a worker has given a sign of life lately."""
    return any(
        beat.age_s <= SILENT_AFTER_S for beat in job_lease.list_heartbeats(session, "worker")
    )


def stop_beating(database: Database, heart: Heart) -> None:
    """Record that this process ends as it should."""
    with database.write() as session:
        job_lease.forget(session, heart.name)
