"""Cron expressions mean one thing or are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from offdiag.domain.schedule import (
    cron_in_words,
    due_text,
    instant_of,
    parse_cron,
    wall_of,
    zone_of,
)
from offdiag.errors import InvalidInput

MONDAY, SATURDAY, SUNDAY = 1, 6, 0


def test_each_field_is_spelled_out() -> None:
    cron = parse_cron("0,30 9-11 1-7/3 jan,jul *")

    assert cron.minutes == (0, 30)
    assert cron.hours == (9, 10, 11)
    assert cron.days == (1, 4, 7)
    assert cron.months == (1, 7)
    assert cron.weekdays == (0, 1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize("written", ["0", "7", "sun", "SUN", "Sun"])
def test_sunday_has_two_numbers_and_a_name(written: str) -> None:
    assert parse_cron(f"0 0 * * {written}").weekdays == (SUNDAY,)


@pytest.mark.parametrize(("written", "meant"), [("1", (MONDAY,)), ("6", (SATURDAY,))])
def test_other_days_of_the_week_count_from_monday_as_one(
    written: str, meant: tuple[int, ...]
) -> None:
    assert parse_cron(f"0 0 * * {written}").weekdays == meant


@pytest.mark.parametrize("written", ["5-7", "fri-sun", "5,6,0", "fri-7"])
def test_a_range_of_days_may_end_on_sunday(written: str) -> None:
    assert parse_cron(f"0 0 * * {written}").weekdays == (SUNDAY, 5, SATURDAY)


def test_steps_start_at_the_lowest_number() -> None:
    cron = parse_cron("*/20 */6 */15 */5 *")

    assert cron.minutes == (0, 20, 40)
    assert cron.hours == (0, 6, 12, 18)
    assert cron.days == (1, 16, 31)
    assert cron.months == (1, 6, 11)


def test_blanks_are_tidied_and_case_does_not_count() -> None:
    assert parse_cron(" 0  6 * *\tMON ").text == "0 6 * * mon"


def test_a_day_that_only_leap_years_have_is_a_day() -> None:
    assert parse_cron("0 0 29 2 *").days == (29,)


def test_a_day_that_some_of_the_months_have_is_a_day() -> None:
    assert parse_cron("0 0 31 1,2 *").months == (1, 2)


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("* * * * * *", "has 6 fields"),
        ("", "has 0 fields"),
        ("61 * * * *", "61 in the field minute is out of range. It goes from 0 to 59"),
        ("0 24 * * *", "24 in the field hour"),
        ("0 0 0 * *", "0 in the field day of month"),
        ("0 0 * 13 *", "13 in the field month"),
        ("0 0 * * 8", "8 in the field day of week"),
        ("0 0 31 2 *", "no such month has a day 31"),
        ("0 0 30,31 2 *", "no such month has a day 30"),
        ("0 0 31 4,6,9,11 *", "no such month has a day 31"),
        ("0 0 1 * 1", "names days of the month and days of the week"),
        ("0 0 */2 * mon", "names days of the month and days of the week"),
        ("*/0 * * * *", "the step of '*/0' in the field minute"),
        ("*/60 * * * *", "the step of '*/60' in the field minute"),
        ("5/10 * * * *", "has a step but no end. Write 5-59/10, or */10"),
        ("0 22-2 * * *", "runs backwards. Write it as two ranges: 22-23,0-2"),
        ("0 0 * * fri-mon", "runs backwards"),
        ("a * * * *", "'a' in the field minute cannot be read"),
        ("0 0 * * mo", "'mo' in the field day of week cannot be read"),
        ("0 0 ? * 1", "'?' in the field day of month cannot be read"),
        ("0 0 * * 1#2", "cannot be read"),
        ("1, * * * *", "cannot be read"),
        ("１ * * * *", "cannot be read"),
        ("@daily", "Write 0 0 * * * instead"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(expression: str, complaint: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_cron(expression)

    assert refused.value.field == "cron"
    assert complaint in str(refused.value)
    assert str(refused.value).endswith(".")


def test_an_expression_of_any_length_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="characters"):
        parse_cron(f"{','.join(['1'] * 1_000_000)} * * * *")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 6 * * 1", "Mondays at 06:00"),
        ("0 6 * * 0", "Sundays at 06:00"),
        ("0 6 * * 1-5", "Mondays to Fridays at 06:00"),
        ("0 6 * * fri-sun", "Fridays to Sundays at 06:00"),
        ("0 6 * * 1,4", "Mondays and Thursdays at 06:00"),
        ("0 6 * * 0,1", "Mondays and Sundays at 06:00"),
        ("30 2 * * *", "Every day at 02:30"),
        ("0 6,18 * * *", "Every day at 06:00 and 18:00"),
        ("* * * * *", "Every minute"),
        ("*/15 * * * *", "Every 15 minutes"),
        ("0 * * * *", "Every hour"),
        ("5 * * * *", "Every hour at minute 5"),
        ("5,10,20 * * * *", "Every hour at minutes 5, 10 and 20"),
        ("*/7 * * * *", "Every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56"),
        ("0 */2 * * *", "Every 2 hours"),
        ("20 */2 * * *", "Every 2 hours at minute 20"),
        ("0 */6 * * *", "Every day at 00:00, 06:00, 12:00 and 18:00"),
        ("* 3,5 * * *", "Every minute in the hours 3 and 5"),
        ("*/10 9-17 * * 1-5", "Mondays to Fridays, every 10 minutes from 09:00 to 17:59"),
        ("0 0 1 * *", "On day 1 of every month at 00:00"),
        ("0 0 1,15 * *", "On day 1 and 15 of every month at 00:00"),
        ("0 0 28 * *", "On day 28 of every month at 00:00"),
        ("0 0 31 * *", "On day 31 of every month that has it at 00:00"),
        ("0 0 1,29 * *", "On day 1 and 29 of every month that has it at 00:00"),
        ("0 0 29 2 *", "On day 29 of February at 00:00"),
        ("0 6 * 6-8 mon", "Mondays in June, July and August at 06:00"),
        ("0 6 * 12 *", "Every day in December at 06:00"),
    ],
)
def test_an_expression_in_words(expression: str, words: str) -> None:
    assert (
        cron_in_words(parse_cron(expression), "Europe/Ljubljana") == f"{words}, Europe/Ljubljana"
    )


BERLIN = zone_of("Europe/Berlin")


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_an_ordinary_wall_time_is_one_instant() -> None:
    assert instant_of(wall("2026-07-01 06:00"), BERLIN) == utc("2026-07-01 04:00")


def test_a_repeated_wall_time_means_its_first_occurrence() -> None:
    assert instant_of(wall("2026-10-25 02:30"), BERLIN) == utc("2026-10-25 00:30")


@pytest.mark.parametrize("minute", [0, 1, 30, 59])
def test_a_skipped_wall_time_means_the_first_moment_after_the_gap(minute: int) -> None:
    instant = instant_of(wall(f"2026-03-29 02:{minute:02}"), BERLIN)

    assert instant == utc("2026-03-29 01:00")
    assert wall_of(instant, BERLIN) == wall("2026-03-29 03:00")


def test_a_change_of_half_an_hour_is_a_gap_too() -> None:
    lord_howe = zone_of("Australia/Lord_Howe")

    instant = instant_of(wall("2026-10-04 02:10"), lord_howe)

    assert wall_of(instant, lord_howe) == wall("2026-10-04 02:30")


def test_a_day_that_an_island_skipped_is_a_gap_too() -> None:
    apia = zone_of("Pacific/Apia")

    instant = instant_of(wall("2011-12-30 12:00"), apia)

    assert wall_of(instant, apia) == wall("2011-12-31 00:00")


def test_both_occurrences_of_a_repeated_hour_show_the_same_wall_time() -> None:
    first = wall_of(utc("2026-10-25 00:30"), BERLIN)
    second = wall_of(utc("2026-10-25 01:30"), BERLIN)

    assert first == second
    assert second.fold == 0


@pytest.mark.parametrize(
    "name", ["Europe/Lubljana", "", "../../etc/passwd", "/etc/localtime", "localtime", "Factory"]
)
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="there is no time zone"):
        zone_of(name)


def test_a_zone_in_the_wrong_case_is_told_the_right_one() -> None:
    with pytest.raises(InvalidInput, match=r"Write Europe/Ljubljana\."):
        zone_of("europe/ljubljana")


def test_an_edition_that_no_schedule_planned_is_shown_as_on_demand() -> None:
    assert due_text("2026-11-16T06:00:07 Europe/Ljubljana (by hand)") == (
        "2026-11-16 06:00:07 Europe/Ljubljana (on demand)"
    )
    assert due_text("2026-11-16T06:00 UTC") == "2026-11-16 06:00 UTC"
