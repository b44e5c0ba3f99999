"""Processes that tick like schedulers in a hurry, by clocks that run fast, until killed."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event

from offdiag.services.schedules.due import run_due_schedules
from offdiag.store.database import Database
from support.worker_processes import forked, signal_between_processes


def scheduler(
    database: Database, start: datetime, *, speed: float, began: float, pause_s: float = 0.0
) -> BaseProcess:
    """Start one, and wait until it has ticked.

    Its clock showed `start` at the moment `began` of the machine and runs `speed` times as fast.
    """
    run_scheduler = signal_between_processes()
    process = forked(_run_for_ever, database.url, start, speed, began, pause_s, run_scheduler)
    assert run_scheduler.wait(60)
    return process


def _run_for_ever(
    url: str, start: datetime, speed: float, began: float, pause_s: float, run_scheduler: Event
) -> None:
    database = Database(url, synchronous="normal")
    while True:
        run_due_schedules(database, start + timedelta(seconds=(time.time() - began) * speed))
        run_scheduler.set()
        time.sleep(pause_s)
