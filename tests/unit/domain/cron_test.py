"""Cron expressions mean one thing or are refused."""

from __future__ import annotations

import pytest

from offdiag.domain.cron import parse_cron
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
        ("0 6 * *", "has 4 fields"),
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
        ("0 jan * * *", "cannot be read"),
        ("0 0 ? * 1", "'?' in the field day of month cannot be read"),
        ("0 0 L * *", "cannot be read"),
        ("0 0 * * 1#2", "cannot be read"),
        ("-1 * * * *", "cannot be read"),
        ("1.5 * * * *", "cannot be read"),
        ("1, * * * *", "cannot be read"),
        ("１ * * * *", "cannot be read"),
        ("@daily", "Write 0 0 * * * instead"),
        ("@reboot", "has 1 fields"),
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
