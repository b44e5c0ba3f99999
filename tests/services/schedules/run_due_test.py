"""Time becomes editions: each fire once, whoever ticks, whatever the clocks do."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from offdiag.services.schedules.due import Missed, Plan, missed, run_due_schedules
from offdiag.services.schedules.edit import (
    change_schedule,
    pause_schedule,
    remove_schedule,
    resume_schedule,
    run_schedule,
)
from offdiag.store.database import Database
from offdiag.store.models import ScheduleRow
from offdiag.store.schedules import ScheduleRecord, find_schedule
from support.filled_once import filled_once
from support.reporting import SCOPE, editions, log_run, utc, weekly, work_keys

MONDAY = utc("2026-11-23 06:00")
HOUR, MINUTE, WEEK = timedelta(hours=1), timedelta(minutes=1), timedelta(weeks=1)


@pytest.fixture(autouse=True)
@filled_once
def _dataset(database: Database) -> None:
    log_run(database)


def schedule(database: Database) -> ScheduleRecord:
    with database.read() as session:
        found = find_schedule(session, project="skin", name="weekly")
    assert found is not None
    return found


def due_of(record: ScheduleRecord) -> datetime:
    assert record.next_due is not None
    return datetime.fromtimestamp(record.next_due, MONDAY.tzinfo)


@pytest.mark.both_databases
def test_a_schedule_fires_once_in_its_time_with_its_work_and_moves_on(
    database: Database,
) -> None:
    weekly(database, due=MONDAY)

    assert not run_due_schedules(database, MONDAY - timedelta(seconds=1)).fired
    assert not editions(database)
    ticked = run_due_schedules(database, MONDAY + timedelta(seconds=0.4))
    again = run_due_schedules(database, MONDAY + timedelta(seconds=0.4))

    assert not again.fired
    (edition,) = editions(database)
    assert [fired.fire_time for fired in ticked.fired] == ["2026-11-23T06:00 UTC"]
    assert (edition.number, edition.state.value, edition.covers_missed) == (1, "pending", 0)
    assert edition.fire_time == "2026-11-23T06:00 UTC"
    assert edition.due == MONDAY.timestamp()
    assert work_keys(database) == [f"report:{edition.id}"]
    assert due_of(schedule(database)) == MONDAY + WEEK
    assert schedule(database).last_fire == "2026-11-23T06:00 UTC"


def test_missed_fires_are_caught_up_by_one_edition_that_counts_them(database: Database) -> None:
    weekly(database, cron="0 * * * *", due=MONDAY)

    run_due_schedules(database, MONDAY + 5 * HOUR + 10 * MINUTE)

    (edition,) = editions(database)
    assert edition.fire_time == "2026-11-23T11:00 UTC"
    assert edition.covers_missed == 5
    assert due_of(schedule(database)) == MONDAY + 6 * HOUR


def test_when_the_clock_jumps_ahead_and_back_no_fire_happens_twice(database: Database) -> None:
    weekly(database, cron="0 * * * *", due=MONDAY)
    run_due_schedules(database, MONDAY)

    run_due_schedules(database, MONDAY + HOUR)
    for minute in range(0, 70, 10):
        run_due_schedules(database, MONDAY + minute * MINUTE)

    assert [edition.fire_time for edition in editions(database)] == [
        "2026-11-23T06:00 UTC",
        "2026-11-23T07:00 UTC",
    ]


def test_planned_anew_after_a_jump_a_fire_that_was_created_is_not_created_again(
    database: Database,
) -> None:
    made = weekly(database, cron="0 * * * *", due=MONDAY)
    run_due_schedules(database, MONDAY)
    with database.write() as session:
        session.execute(
            update(ScheduleRow)
            .where(ScheduleRow.id == made.id)
            .values(next_due=MONDAY.timestamp())
        )

    again = run_due_schedules(database, MONDAY + MINUTE)

    assert not again.fired
    assert len(editions(database)) == 1
    assert due_of(schedule(database)) == MONDAY + HOUR


def test_over_the_autumn_change_each_wall_time_is_created_once(database: Database) -> None:
    start = utc("2026-10-24 22:00")
    weekly(database, cron="*/30 * * * *", zone="Europe/Berlin", due=start)

    for step in range(5 * 60 // 10):
        run_due_schedules(database, start + 10 * step * MINUTE)

    walls = [edition.fire_time.split()[0][11:] for edition in editions(database)]
    assert walls == ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "03:30"]


def test_over_the_spring_change_a_skipped_time_is_created_once(database: Database) -> None:
    start = utc("2026-03-29 01:00")
    weekly(database, cron="30 2 * * *", zone="Europe/Berlin", due=start)

    for step in range(12):
        run_due_schedules(database, start + 10 * step * MINUTE)

    assert [edition.fire_time for edition in editions(database)] == [
        "2026-03-29T03:00 Europe/Berlin"
    ]


def test_a_paused_schedule_does_not_fire_and_resuming_does_not_catch_up(
    database: Database,
) -> None:
    weekly(database, due=MONDAY)

    paused = pause_schedule(database, project="skin", name="weekly")
    run_due_schedules(database, MONDAY + 3 * WEEK)
    resumed = resume_schedule(database, project="skin", name="weekly")

    assert (paused.enabled, paused.next_due) == (False, None)
    assert resumed.enabled
    assert due_of(resumed) > database.clock()
    assert not editions(database)


def test_a_run_by_hand_is_an_edition_beside_the_planned_ones(database: Database) -> None:
    weekly(database, due=MONDAY)

    asked = run_schedule(database, project="skin", name="weekly")
    run_due_schedules(database, MONDAY)

    by_hand, planned = editions(database)
    assert (asked.edition_id, asked.number) == (by_hand.id, 1)
    assert by_hand.fire_time.endswith(" UTC (by hand)")
    assert (planned.number, planned.fire_time) == (2, "2026-11-23T06:00 UTC")


def test_the_editions_of_a_removed_schedule_stay_and_its_name_goes_on_counting(
    database: Database,
) -> None:
    weekly(database, due=MONDAY)
    run_due_schedules(database, MONDAY)

    remove_schedule(database, project="skin", name="weekly")
    weekly(database, due=MONDAY)
    run_due_schedules(database, MONDAY)

    assert [(edition.number, edition.schedule_id is None) for edition in editions(database)] == [
        (1, True),
        (2, False),
    ]


def test_a_changed_schedule_follows_its_new_plan(database: Database) -> None:
    weekly(database, due=MONDAY)

    changed = change_schedule(
        database, name="weekly", cron="0 7 * * *", zone="UTC", scope=SCOPE, delivery=()
    )

    assert (changed.version, changed.cron) == (2, "0 7 * * *")
    assert due_of(changed) < database.clock() + timedelta(days=1)


@pytest.mark.both_databases
def test_a_schedule_changed_while_it_was_about_to_fire_is_left_to_the_next_tick(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    weekly(database, due=MONDAY)

    def changed_meanwhile(plan: Plan, since: datetime, until: datetime) -> Missed | None:
        with database.write() as session:
            session.execute(update(ScheduleRow).values(version=2))
        return missed(plan, since, until)

    monkeypatch.setattr("offdiag.services.schedules.due.missed", changed_meanwhile)

    assert not run_due_schedules(database, MONDAY).fired
    assert not editions(database)


def test_an_unreadable_schedule_does_not_stop_the_others(database: Database) -> None:
    broken = weekly(database, name="broken", due=MONDAY)
    weekly(database, due=MONDAY)
    with database.write() as session:
        session.execute(
            update(ScheduleRow).where(ScheduleRow.id == broken.id).values(zone="Mars/Olympus")
        )

    ticked = run_due_schedules(database, MONDAY)

    assert [fired.name for fired in ticked.fired] == ["weekly"]
    assert ticked.unreadable[0].startswith("skin/broken: zone: there is no time zone")


def test_without_a_given_time_that_of_the_database_counts(database: Database) -> None:
    weekly(database, cron="* * * * *", due=database.clock() - 90 * MINUTE)

    (fired,) = run_due_schedules(database).fired

    assert 88 <= fired.covers_missed <= 91
