"""Doubled schedulers whose clocks are wrong, jump or stand still: each planned time counts once.

Real processes that are killed while they tick are in `workers/scheduler_processes_test.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from offdiag.services.schedules.due import run_due_schedules
from offdiag.store.database import Database
from offdiag.store.reports import EditionRecord
from support.logging_runs import work_off
from support.reporting import editions, files, log_run, utc, weekly, work_keys

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
START = utc("2026-11-23 06:00")
N_STEPS = 9
BERLIN = ZoneInfo("Europe/Berlin")


def run_at_once(database: Database, moments: Sequence[datetime]) -> None:
    """One scheduler for each moment, all of them at the same time."""
    with ThreadPoolExecutor(len(moments)) as schedulers:
        for ticked in [
            schedulers.submit(run_due_schedules, database, moment) for moment in moments
        ]:
            ticked.result()


def accounted_for(found: Sequence[EditionRecord]) -> int:
    """How many planned times the editions stand for; fails where one has two editions."""
    fires = [edition.fire_time for edition in found]
    assert len(set(fires)) == len(fires)
    assert [edition.number for edition in found] == list(range(1, len(found) + 1))
    return sum(1 + edition.covers_missed for edition in found)


def test_after_an_hour_without_schedulers_one_edition_says_for_how_many_it_stands(
    sqlite_database: Database,
) -> None:
    log_run(sqlite_database)
    weekly(sqlite_database, cron="* * * * *", due=START)
    run_at_once(sqlite_database, [START] * 4)

    run_at_once(sqlite_database, [START + HOUR] * 4)
    work_off(sqlite_database)

    first, caught_up = editions(sqlite_database)
    assert (first.covers_missed, caught_up.covers_missed) == (0, 59)
    assert caught_up.fire_time == "2026-11-23T07:00 UTC"
    written = files(sqlite_database, caught_up.id)["markdown"].content.decode()
    assert "stands for 59 earlier times at which no scheduler was running" in written
    assert work_keys(sqlite_database) == []


def test_four_schedulers_of_which_clocks_are_an_hour_fast_and_slow(database: Database) -> None:
    log_run(database)
    weekly(database, cron="*/10 * * * *", due=START)

    for step in range(N_STEPS):
        now = START + step * 10 * MINUTE
        run_at_once(database, [now, now + HOUR, now - HOUR, now])

    # Of two that find the same time due, one goes on with nothing and tries again a second later.
    last = START + (N_STEPS - 1) * 10 * MINUTE + HOUR
    run_due_schedules(database, last)
    assert accounted_for(editions(database)) == int((last - START) / (10 * MINUTE)) + 1


def test_a_clock_that_jumps_ahead_and_back_again_and_again(sqlite_database: Database) -> None:
    log_run(sqlite_database)
    weekly(sqlite_database, cron="*/10 * * * *", due=START)
    jumps = [0, 60, 0, -60, 0, 60, 120, 60, 0]

    for step, jump in enumerate(jumps):
        run_at_once(sqlite_database, [START + (10 * step + jump) * MINUTE] * 2)

    latest = max(10 * step + jump for step, jump in enumerate(jumps))
    assert accounted_for(editions(sqlite_database)) == latest // 10 + 1


@pytest.mark.parametrize(
    ("start", "hours"),
    [
        pytest.param(datetime(2026, 3, 28, 23, tzinfo=UTC), 23, id="spring"),
        pytest.param(datetime(2026, 10, 24, 22, tzinfo=UTC), 25, id="autumn"),
    ],
)
def test_on_days_on_which_clocks_are_changed_each_wall_time_is_created_once(
    sqlite_database: Database, start: datetime, hours: int
) -> None:
    log_run(sqlite_database)
    assert start.astimezone(BERLIN).hour == 0
    hourly_at = start + 15 * MINUTE
    weekly(sqlite_database, cron="15 * * * *", zone="Europe/Berlin", due=hourly_at)
    weekly(sqlite_database, name="nightly", cron="30 2 * * *", zone="Europe/Berlin", due=start)

    # All that is special is over at four in the morning.
    for step in range(2 * (hours - 20)):
        run_at_once(sqlite_database, [start + step * 30 * MINUTE] * 2)

    found = editions(sqlite_database)
    hourly = [edition for edition in found if edition.name == "weekly"]
    each_hour = [f"{hour:02}:15" for hour in range(4)]
    # What the clocks skip happens at the end of the gap, and what they repeat happens once.
    expected = [wall.replace("02:15", "03:00") if hours == 23 else wall for wall in each_hour]
    assert [edition.fire_time[11:16] for edition in hourly] == expected
    assert accounted_for(hourly) == 4
    assert len([edition for edition in found if edition.name == "nightly"]) == 1
