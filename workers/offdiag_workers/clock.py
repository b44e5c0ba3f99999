"""APScheduler as the clock: it turns time into calls, and remembers nothing.

Its job stores ran jobs twice with two schedulers and lost a job whose process was killed, so
nothing is stored in it: what is due lies in our own tables, every call is idempotent, and any
number of processes may tick.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger

from offdiag.errors import DatabaseUnavailable
from offdiag.services.work.perform import RetryPolicy
from offdiag.services.work.sweep import sweep
from offdiag.store.database import Database

log = structlog.get_logger()

SWEEP_EVERY_S = 5


@contextmanager
def ticking(database: Database, policy: RetryPolicy) -> Iterator[None]:
    """Run the clock in threads of its own while the block runs. The first sweep is at once."""
    scheduler = BackgroundScheduler(
        jobstores={"default": MemoryJobStore()},
        executors={"default": ThreadPoolExecutor(2)},
        job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        timezone="UTC",
    )
    _sweep(database, policy)
    scheduler.add_job(_sweep, IntervalTrigger(seconds=SWEEP_EVERY_S), args=(database, policy))
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)


def _sweep(database: Database, policy: RetryPolicy) -> None:
    try:
        swept = sweep(database, policy)
    except DatabaseUnavailable as error:
        log.warning("sweep_skipped", error=str(error))
        return
    if swept.buried or swept.submitted:
        log.info("swept", buried=swept.buried, submitted=swept.submitted)
