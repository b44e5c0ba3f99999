"""What the clock does beside ticking, where settings say so: backups and nightly collections."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from offdiag.domain.access import Actor
from offdiag.errors import OffdiagError
from offdiag.services.retention.deletion import Collected, collect
from offdiag.settings import Settings
from offdiag.store.database import Database

log = structlog.get_logger()

LOOK_EVERY_S = 60
"""Seconds between two looks whether a backup is due."""
NIGHT_HOUR = 3
NIGHTLY = Actor("system", "clock", "gc.nightly")
"""Who is answerable for what is removed at night: the settings."""


class _StoppedError(Exception):
    """Ends a backup whose process is about to end; the next one makes it."""


@dataclass(frozen=True, slots=True)
class Round:
    """Something that is done again and again."""

    name: str
    trigger: BaseTrigger
    act: Callable[[], None]


class Maintenance:
    """The rounds that settings ask for, which end early when the process is to stop."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._stopped = threading.Event()

    def rounds(self) -> list[Round]:
        """All of them; none by default."""
        found = []
        if self._settings.backup.folder and self._database.dialect == "sqlite":
            found.append(Round("backup", IntervalTrigger(seconds=LOOK_EVERY_S), self.back_up))
        elif self._settings.backup.folder:
            log.warning("no_backups", reason="PostgreSQL is backed up by its own tools")
        if self._settings.gc.nightly:
            nightly = CronTrigger(hour=NIGHT_HOUR, minute=0, timezone="UTC", jitter=600)
            found.append(Round("collect", nightly, self.collect))
        return found

    def back_up(self) -> None:
        """Make the backup that is due, if one is."""
        from offdiag.services.retention.backups import back_up_if_due

        began = time.monotonic()
        try:
            path = back_up_if_due(
                self._database, self._settings.backup, progress=self._require_time
            )
        except _StoppedError:
            return
        except OffdiagError as error:
            log.warning("backup_failed", error=str(error))
            return
        if path is not None:
            log.info("backed_up", file=str(path), duration_s=round(time.monotonic() - began, 3))

    def collect(self) -> None:
        """Remove for good what nobody will look at any more."""
        keep = self._settings.gc
        found = collect(
            self._database.seen_by(None, NIGHTLY),
            older_than=timedelta(days=keep.older_than_days),
            keep=keep.keep,
            is_stopped=self._stopped.is_set,
        )
        if found != Collected(0, 0, 0):
            log.info("collected", runs=found.deleted_runs, evaluations=found.evaluations)

    def stop(self) -> None:
        """Let what was begun end soon."""
        self._stopped.set()

    def _require_time(self, _n_done: int, _n_rows: int) -> None:
        if self._stopped.is_set():
            raise _StoppedError
