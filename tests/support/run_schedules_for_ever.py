"""Processes that tick like schedulers in a hurry, by clocks that run fast, until killed."""

from __future__ import annotations

import subprocess
import time
from datetime import datetime, timedelta

from offdiag.services.schedules.due import run_due_schedules
from offdiag.store.database import Database
from support.processes import said_first, say
from support.quick_starts import QuickProcess, forked


def scheduler(
    database: Database, start: datetime, *, speed: float, began: float, pause_s: float = 0.0
) -> QuickProcess:
    """Start one, and wait until it has ticked.

    Its clock showed `start` at the moment `began` of the machine and runs `speed` times as fast.
    """
    process = forked(
        *(_run_for_ever, database.url, start, speed, began, pause_s), stdout=subprocess.PIPE
    )
    assert said_first(process) == "ticked"
    return process


def _run_for_ever(url: str, start: datetime, speed: float, began: float, pause_s: float) -> None:
    database = Database(url, synchronous="normal")
    has_ticked = False
    while True:
        run_due_schedules(database, start + timedelta(seconds=(time.time() - began) * speed))
        if not has_ticked:
            say("ticked")
        has_ticked = True
        time.sleep(pause_s)
