"""Hearing PostgreSQL notifications and passing them on to the notifier of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from offdiag.errors import DatabaseUnavailable
from offdiag.services.jobs.notifiers import CHANNEL, LOCAL_NOTIFIER
from offdiag.store.database import Database
from offdiag.store.jobs import notifications

log = structlog.get_logger()

_WAIT_S = 1.0
_RECONNECT_S = 2.0


@contextmanager
def listening(database: Database, stop: threading.Event) -> Iterator[None]:
    """Listen in a thread of its own while the block runs, where there is anything to hear."""
    if not database.can_listen:
        if database.dialect == "postgresql":
            log.info("listen_is_off", reason="a pooler lends connections by transaction")
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(
        target=_listen, args=(database, stop, ended), name="listener", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _listen(database: Database, stop: threading.Event, ended: threading.Event) -> None:
    while not (stop.is_set() or ended.is_set()):
        try:
            for heard in notifications(database, CHANNEL, timeout_s=_WAIT_S):
                if heard:
                    LOCAL_NOTIFIER.wake()
                if stop.is_set() or ended.is_set():
                    return
        except DatabaseUnavailable as error:
            log.warning("not_listening", error=str(error))
            ended.wait(_RECONNECT_S)
