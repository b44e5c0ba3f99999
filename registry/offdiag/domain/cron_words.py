"""A cron expression in words, as a person would say it."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.cron import CronExpression

_WEEKDAYS = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_MOST_TIMES = 6
"""More times of the day than this are described, not listed."""


def cron_in_words(cron: CronExpression, zone: str) -> str:
    """ "Mondays at 06:00, Europe/Ljubljana"."""
    days, times = _days(cron), _times(cron)
    if days is None:
        # What happens within a day recurs on every day by itself; a time of day does not.
        said = times if times.startswith("every") else f"every day {times}"
    else:
        said = f"{days} {times}" if times.startswith("at") else f"{days}, {times}"
    return f"{said[0].upper()}{said[1:]}, {zone}"


def _days(cron: CronExpression) -> str | None:
    """Which days, None for every day."""
    months = None if len(cron.months) == 12 else listed(_names(cron.months, _MONTHS, first=1))
    if cron.names_weekdays:
        return _weekdays(cron.weekdays) + (f" in {months}" if months else "")
    if cron.names_days:
        return f"on day {listed([str(day) for day in cron.days])} of {months or 'every month'}"
    return f"every day in {months}" if months else None


def _weekdays(weekdays: Sequence[int]) -> str:
    # A week is said from Monday to Sunday.
    numbers = sorted((day - 1) % 7 for day in weekdays)
    names = [_WEEKDAYS[(number + 1) % 7] for number in numbers]
    if len(names) > 2 and numbers[-1] - numbers[0] == len(names) - 1:
        return f"{names[0]} to {names[-1]}"
    return listed(names)


def _times(cron: CronExpression) -> str:
    if len(cron.minutes) * len(cron.hours) <= _MOST_TIMES:
        times = [f"{hour:02}:{minute:02}" for hour in cron.hours for minute in cron.minutes]
        return f"at {listed(times)}"
    if len(cron.minutes) == 1 and len(cron.hours) < 24 and _is_even(cron.hours, of=24):
        minute = "" if cron.minutes[0] == 0 else f" at minute {cron.minutes[0]}"
        return f"every {24 // len(cron.hours)} hours{minute}"
    minutes = _minutes(cron.minutes)
    return minutes if len(cron.hours) == 24 else f"{minutes} {_hours(cron.hours)}"


def _minutes(minutes: Sequence[int]) -> str:
    if len(minutes) == 60:
        return "every minute"
    if len(minutes) > 1 and _is_even(minutes, of=60):
        return f"every {60 // len(minutes)} minutes"
    if tuple(minutes) == (0,):
        return "every hour"
    shown = listed([str(minute) for minute in minutes])
    return f"every hour at minute{'' if len(minutes) == 1 else 's'} {shown}"


def _hours(hours: Sequence[int]) -> str:
    if hours[-1] - hours[0] == len(hours) - 1:
        return f"from {hours[0]:02}:00 to {hours[-1]:02}:59"
    return f"in the hours {listed([str(hour) for hour in hours])}"


def _is_even(numbers: Sequence[int], *, of: int) -> bool:
    """Whether the numbers part 0 to `of` into equal steps."""
    return of % len(numbers) == 0 and tuple(numbers) == tuple(range(0, of, of // len(numbers)))


def _names(numbers: Sequence[int], names: Sequence[str], *, first: int) -> list[str]:
    return [names[number - first] for number in numbers]


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
