"""How a registry is doing, in numbers that a monitoring system keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from offdiag.domain.runs import RunState
from offdiag.store import job_lease
from offdiag.store.database import Database
from offdiag.store.health import QueueState, log_bytes, registry_health


@dataclass(frozen=True, slots=True)
class Vitals:
    """Runs by state, the queue, and seconds since the liveliest process of each kind spoke.

    `log_bytes` is the length of the write-ahead log, None on PostgreSQL.
    """

    runs_by_state: Mapping[RunState, int]
    queue: QueueState
    silence_s: Mapping[str, float]
    log_bytes: int | None


def vitals(database: Database) -> Vitals:
    """All of it, of one moment. Raises `DatabaseUnavailable`."""
    with database.read() as session:
        health = registry_health(session)
        beats = job_lease.list_heartbeats(session)
    silence_s: dict[str, float] = {}
    for each in beats:
        silence_s.setdefault(each.kind, each.age_s)
    return Vitals(health.runs_by_state, health.queue, silence_s, log_bytes(database))
