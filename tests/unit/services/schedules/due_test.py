"""When schedules fire: on the days that cron means, once on days with changed clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from offdiag.services.schedules.due import (
    MOST_COUNTED,
    Plan,
    missed,
    next_due_time,
    next_due_times,
)

FRIDAY = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEFORE_AUTUMN = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
BEFORE_SPRING = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)


def keys(expression: str, zone: str, after: datetime, number: int) -> list[str]:
    return [fire.key for fire in next_due_times(Plan.read(expression, zone), after, number)]


def instants(expression: str, zone: str, after: datetime, number: int) -> list[str]:
    plan = Plan.read(expression, zone)
    return [f"{fire.due:%d %H:%M}" for fire in next_due_times(plan, after, number)]


@pytest.mark.parametrize(
    ("day", "date"), [("0", 22), ("7", 22), ("1", 23), ("sun", 22), ("6", 21)]
)
def test_days_of_the_week_are_those_of_cron(day: str, date: int) -> None:
    fire = next_due_time(Plan.read(f"0 0 * * {day}", "UTC"), FRIDAY)

    assert fire.due == datetime(2026, 11, date, tzinfo=UTC)


def test_a_fire_is_named_by_local_wall_time() -> None:
    fire = next_due_time(Plan.read("0 6 * * *", "Europe/Ljubljana"), FRIDAY)

    assert fire.key == "2026-11-21T06:00 Europe/Ljubljana"
    assert fire.due == datetime(2026, 11, 21, 5, 0, tzinfo=UTC)


def test_the_next_fire_is_later_than_now() -> None:
    plan = Plan.read("0 6 * * *", "UTC")
    at_six = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)

    assert next_due_time(plan, at_six).due == at_six + timedelta(days=1)
    assert next_due_time(plan, at_six - timedelta(microseconds=1)).due == at_six


def test_in_autumn_a_repeated_time_fires_once() -> None:
    assert instants("30 2 * * *", "Europe/Berlin", BEFORE_AUTUMN, 2) == ["25 00:30", "26 01:30"]


def test_from_within_the_repeated_hour_the_time_is_over() -> None:
    in_second_occurrence = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)

    assert instants("30 2 * * *", "Europe/Berlin", in_second_occurrence, 1) == ["26 01:30"]


def test_in_spring_a_skipped_time_fires_once_right_after_the_gap() -> None:
    assert keys("30 2 * * *", "Europe/Berlin", BEFORE_SPRING, 2) == [
        "2026-03-29T03:00 Europe/Berlin",
        "2026-03-30T02:30 Europe/Berlin",
    ]


def test_skipped_times_and_the_time_after_them_are_one_fire() -> None:
    after = datetime(2026, 3, 29, 0, 20, tzinfo=UTC)

    assert instants("*/30 * * * *", "Europe/Berlin", after, 4) == [
        "29 00:30",
        "29 01:00",
        "29 01:30",
        "29 02:00",
    ]


def test_an_hourly_schedule_pauses_for_the_repeated_hour() -> None:
    after = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)

    assert instants("0 * * * *", "Europe/Berlin", after, 4) == [
        "24 23:00",
        "25 00:00",
        "25 02:00",
        "25 03:00",
    ]


def test_in_utc_an_hourly_schedule_never_pauses() -> None:
    after = datetime(2026, 10, 24, 23, 30, tzinfo=UTC)

    assert instants("0 * * * *", "UTC", after, 3) == ["25 00:00", "25 01:00", "25 02:00"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "America/New_York"])
def test_fires_go_forward_and_have_names_of_their_own_where_clocks_change(zone: str) -> None:
    plan = Plan.read("*/30 * * * *", zone)
    # Forty days from the first of March, and from the first of October.
    fires = [
        fire
        for month in (3, 10)
        for fire in next_due_times(plan, datetime(2026, month, 1, tzinfo=UTC), 40 * 48)
    ]

    assert all(a.due < b.due for a, b in pairwise(fires))
    assert len({fire.key for fire in fires}) == len(fires)


def test_a_leap_day_is_found_across_a_century_without_one() -> None:
    fire = next_due_time(Plan.read("0 0 29 2 *", "UTC"), datetime(2096, 3, 1, tzinfo=UTC))

    assert fire.due == datetime(2104, 2, 29, tzinfo=UTC)


def test_nothing_was_missed_before_the_next_fire() -> None:
    plan = Plan.read("0 6 * * *", "UTC")

    assert missed(plan, FRIDAY, FRIDAY + timedelta(hours=17)) is None


def test_the_latest_missed_fire_stands_for_the_earlier_ones() -> None:
    plan = Plan.read("0 * * * *", "UTC")

    found = missed(plan, FRIDAY, FRIDAY + timedelta(hours=3, minutes=10))

    assert found is not None
    assert found.latest.due == FRIDAY + timedelta(hours=3)
    assert found.earlier == 2


def test_catching_up_over_the_autumn_change_ends_and_counts_each_fire_once() -> None:
    plan = Plan.read("30 2 * * *", "Europe/Berlin")

    found = missed(plan, BEFORE_AUTUMN - timedelta(days=3), BEFORE_AUTUMN + timedelta(days=3))

    assert found is not None
    assert found.latest.key == "2026-10-27T02:30 Europe/Berlin"
    assert found.earlier == 5


def test_a_day_that_comes_every_four_years_is_found_from_the_end() -> None:
    plan = Plan.read("0 0 29 2 *", "UTC")

    found = missed(plan, datetime(2019, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))

    assert found is not None
    assert found.latest.due == datetime(2024, 2, 29, tzinfo=UTC)
    assert found.earlier == 1


def test_counting_ends_after_ten_thousand() -> None:
    plan = Plan.read("* * * * *", "UTC")

    found = missed(plan, FRIDAY - timedelta(days=300), FRIDAY)

    assert found is not None
    assert (found.latest.due, found.earlier) == (FRIDAY, MOST_COUNTED)
