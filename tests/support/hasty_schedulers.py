"""Schedulers in a hurry, of which one is killed again and again, and the fires they made."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from offdiag.services.schedules.due import run_due_schedules
from offdiag.store.database import Database
from support.quick_starts import QuickProcess
from support.reporting import editions, log_run, utc, weekly
from support.run_schedules_for_ever import scheduler

_START = utc("2026-05-04 00:00")
_PAUSE_S = 0.02


@dataclass(frozen=True)
class Fires:
    """Planned times, those that an edition stands for, and those that two editions stand for."""

    planned: int
    stood_for: int
    doubled: int
    kills: int


def fires_under_kills(
    database: Database, random: Random, *, n_fires: int, speed: float, kill_every_s: float
) -> Fires:
    """Four schedulers on one plan of a fire a minute, by clocks that run `speed` times as fast."""
    log_run(database)
    weekly(database, name="every minute", cron="* * * * *", zone="Europe/Berlin", due=_START)
    began = time.time()

    def one_more() -> QuickProcess:
        return scheduler(database, _START, speed=speed, began=began, pause_s=_PAUSE_S)

    living = [one_more() for _ in range(4)]
    kills = 0
    try:
        while (time.time() - began) * speed < (n_fires - 1) * 60:
            time.sleep(kill_every_s)
            living.pop(random.randrange(len(living))).end()
            kills += 1
            living.append(one_more())
    finally:
        for process in living:
            process.end()
    now = _START + timedelta(seconds=(time.time() - began) * speed)
    run_due_schedules(database, now)
    found = editions(database)
    times = Counter(edition.fire_time for edition in found)
    return Fires(
        planned=int((now - _START) / timedelta(minutes=1)) + 1,
        stood_for=sum(1 + edition.covers_missed for edition in found),
        doubled=sum(number - 1 for number in times.values()),
        kills=kills,
    )
