"""Stopping in time: what is not ended soon after a signal is given back for others to do."""

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
    on_given_back: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Give back what the block still holds `drain_s` seconds after `stop`.

    A computation cannot be interrupted, only made void: its lease is gone, so it writes
    nothing. `on_given_back` is called then, from another thread; in a process of its own it
    ends the process.
    """
    ended = threading.Event()

    def give_back() -> None:
        stop.wait()
        if ended.wait(drain_s):
            return
        try:
            for lease in keeper.give_back_all():
                log.warning("given_back_at_stop", work=lease.work_id, **lease.args)
        except (DatabaseUnavailable, SchemaMismatch) as error:
            log.warning("not_given_back", error=str(error))
        on_given_back()

    thread = threading.Thread(target=give_back, name="drain", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
