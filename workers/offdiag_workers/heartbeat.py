"""Heartbeats sent from a separate thread, so that a long job does not delay them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.health import (
    EVERY_S,
    HeartKind,
    beat,
    heart_of_this_process,
    stop_beating,
)
from offdiag.store.database import Database
from offdiag.store.job_lease import Heart

log = structlog.get_logger()


@contextmanager
def beating(database: Database, kind: HeartKind) -> Iterator[None]:
    """Report this process as alive while the block runs, and as ended afterwards."""
    heart = heart_of_this_process(kind, database)
    ended = threading.Event()
    thread = threading.Thread(
        target=_beat_until, args=(database, heart, ended), name=f"{kind} heartbeat", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(DatabaseUnavailable, SchemaMismatch):
            stop_beating(database, heart)


def _beat_until(database: Database, heart: Heart, ended: threading.Event) -> None:
    while True:
        try:
            beat(database, heart)
        except (DatabaseUnavailable, SchemaMismatch) as error:
            log.warning("heartbeat_skipped", error=str(error))
        if ended.wait(EVERY_S):
            return
