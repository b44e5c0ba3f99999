"""Stopping in time: what is not ended soon after a signal is released for others to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from offdiag.errors import DatabaseUnavailable, SchemaMismatch
from offdiag.services.jobs.leases import LeaseKeeper

log = structlog.get_logger()


@contextmanager
def draining(
    keeper: LeaseKeeper,
    stop: threading.Event,
    *,
    drain_s: float,
    on_released: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Release what the block still holds `drain_s` seconds after `stop`.

    A computation cannot be interrupted, only made void: its lease is gone, so it writes
    nothing. `on_released` is called then, from another thread; in a process of its own it
    ends the process.
    """
    ended = threading.Event()

    def release() -> None:
        stop.wait()
        if ended.wait(drain_s):
            return
        try:
            for lease in keeper.release_all():
                log.warning("released_at_stop", work=lease.work_id, **lease.args)
        except (DatabaseUnavailable, SchemaMismatch) as error:
            log.warning("not_released", error=str(error))
        on_released()

    thread = threading.Thread(target=release, name="drain", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
