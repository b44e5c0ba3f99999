"""Schedules: cron expressions, their description in words, and time zones with clock changes.

Programs disagree on what a cron expression means: whether days of the week count from Sunday or
Monday, what a day of the month together with a day of the week asks for, whether there is a field
for seconds. Whatever could be read in two ways is refused here, and what is accepted is expanded
into plain sets of numbers, which can be read in only one way.

Something planned for a wall time happens once on every day for which it is planned:

* A time that the clocks show twice means its first occurrence.
* A time that the clocks skip means the first moment after the gap.

So instants never go backwards while wall times go forwards, and several skipped times mean the
same instant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from types import MappingProxyType
from zoneinfo import ZoneInfo, available_timezones

from offdiag.domain.sentences import capitalized, enumerated
from offdiag.errors import InvalidInput

LONGEST_EXPRESSION = 200
SUNDAY = 0
_DAYS_OF = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""Days of each month in its longest year."""
_ITEM = re.compile(r"(?:(\*)|([a-z]+|[0-9]+)(?:-([a-z]+|[0-9]+))?)(?:/([0-9]+))?")


def _numbered(names: str, *, first: int) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names.split(), start=first)}


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the five fields of an expression."""

    name: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)


_MINUTE = _Field("minute", 0, 59)
_HOUR = _Field("hour", 0, 23)
_DAY = _Field("day of month", 1, 31)
_MONTH = _Field(
    "month", 1, 12, _numbered("jan feb mar apr may jun jul aug sep oct nov dec", first=1)
)
_WEEKDAY = _Field("day of week", 0, 7, _numbered("sun mon tue wed thu fri sat", first=SUNDAY))
_FIELDS = (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY)

_MACROS = MappingProxyType(
    {
        "@hourly": "0 * * * *",
        "@daily": "0 0 * * *",
        "@midnight": "0 0 * * *",
        "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *",
        "@yearly": "0 0 1 1 *",
        "@annually": "0 0 1 1 *",
    }
)


@dataclass(frozen=True, slots=True)
class CronExpression:
    """When something happens, by local wall time, to the minute.

    Each field is a sorted tuple of the numbers that match; `weekdays` count from Sunday = 0 to
    Saturday = 6. A wall time matches when all five of its numbers do. `text` is the expression as
    written, with single spaces.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]

    @property
    def names_days(self) -> bool:
        """Whether only some days of the month match."""
        return len(self.days) < _DAY.high

    @property
    def names_weekdays(self) -> bool:
        """Whether only some days of the week match."""
        return len(self.weekdays) < 7


def parse_cron(text: str) -> CronExpression:
    """Read an expression such as `0 6 * * 1`.

    A field is `*`, a number, a range, either of the last two or `*` with a step, or several of
    these separated by commas. Months and days of the week may be named by three letters; 0 and 7
    are both Sunday. Raises `InvalidInput`, naming the field, for anything else, for expressions
    that no day matches, and for a day of the month together with a day of the week.
    """
    parts = _parts(text)
    fields = (_numbers(part, place) for part, place in zip(parts, _FIELDS, strict=True))
    cron = CronExpression(" ".join(parts), *fields)
    if cron.names_days and cron.names_weekdays:
        raise _refusal(
            f"{cron.text!r} names days of the month and days of the week.",
            "Some programs wait for both, others for either; name one of them, "
            "or make two schedules.",
        )
    if not any(cron.days[0] <= _DAYS_OF[month - 1] for month in cron.months):
        raise _refusal(
            f"{cron.text!r} never happens: no such month has a day {cron.days[0]}.",
            "Name a day that exists.",
        )
    return cron


def _parts(text: str) -> list[str]:
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    parts = text.lower().split()
    if len(parts) == 1 and parts[0] in _MACROS:
        raise _refusal(f"{shown!r} is a short name.", f"Write {_MACROS[parts[0]]} instead.")
    if len(parts) != len(_FIELDS):
        raise _refusal(
            f"{shown!r} has {len(parts)} field{'s' if len(parts) != 1 else ''}.",
            "Write five, separated by spaces: minute, hour, day of month, month, day of week. "
            "There are no seconds.",
        )
    if len(text) > LONGEST_EXPRESSION:
        raise _refusal(
            f"{shown!r} has {len(text)} characters.",
            f"At most {LONGEST_EXPRESSION} are read; ranges and steps are shorter than lists.",
        )
    return parts


def _numbers(part: str, place: _Field) -> tuple[int, ...]:
    found = {number for item in part.split(",") for number in _item(item, place)}
    return tuple(sorted({day % 7 for day in found} if place is _WEEKDAY else found))


def _item(item: str, place: _Field) -> range:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise _unreadable(item, place)
    star, first, last, step = match.groups()
    if first is not None and last is None and step is not None:
        raise _refusal(
            f"{item!r} has a step but no end.",
            f"Write {first}-{place.high}/{step}, or */{step}.",
        )
    low = place.low if star else _number(first, item, place)
    high = low if last is None else _number(last, item, place)
    if star:
        high = place.high
    if place is _WEEKDAY and last is not None and high == SUNDAY < low:
        high = 7  # A week that ends on Sunday, as in fri-sun.
    if low > high:
        raise _refusal(
            f"{item!r} in the field {place.name} runs backwards.",
            f"Write it as two ranges: {first}-{place.high},{place.low}-{last}.",
        )
    return range(low, high + 1, _step(step, item, place))


def _number(text: str, item: str, place: _Field) -> int:
    if text in place.names:
        return place.names[text]
    if not text.isdigit():
        raise _unreadable(item, place)
    number = int(text)
    if not place.low <= number <= place.high:
        raise _refusal(
            f"{number} in the field {place.name} is out of range.",
            f"It goes from {place.low} to {place.high}.",
        )
    return number


def _step(text: str | None, item: str, place: _Field) -> int:
    step = 1 if text is None else int(text)
    if not 1 <= step <= place.high - place.low:
        raise _refusal(
            f"the step of {item!r} in the field {place.name} is out of range.",
            f"It goes from 1 to {place.high - place.low}.",
        )
    return step


def _unreadable(item: str, place: _Field) -> InvalidInput:
    names = f" or {'-'.join((*place.names,)[:: len(place.names) - 1])}" if place.names else ""
    return _refusal(
        f"{item!r} in the field {place.name} cannot be read.",
        f"Use *, {place.low}-{place.high}{names}, steps such as */2, or a list with commas.",
    )


def _refusal(message: str, hint: str) -> InvalidInput:
    return InvalidInput(message, field="cron", hint=hint)


_WEEKDAYS = ("Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_MOST_TIMES = 6
"""If there are more times of day than this, they are described, not listed."""


def cron_in_words(cron: CronExpression, zone: str) -> str:
    """ "Mondays at 06:00, Europe/Ljubljana"."""
    days, times = _days(cron), _times(cron)
    if days is None:
        # Intervals within a day repeat every day anyway; for a time of day it has to be said.
        said = times if times.startswith("every") else f"every day {times}"
    else:
        said = f"{days} {times}" if times.startswith("at") else f"{days}, {times}"
    return f"{capitalized(said)}, {zone}"


def _days(cron: CronExpression) -> str | None:
    """The days in words, None for every day."""
    months = None if len(cron.months) == 12 else enumerated(_names(cron.months, _MONTHS, first=1))
    if cron.names_weekdays:
        return _weekdays(cron.weekdays) + (f" in {months}" if months else "")
    if cron.names_days:
        every = "every month that has it" if max(cron.days) > 28 else "every month"
        return f"on day {enumerated([str(day) for day in cron.days])} of {months or every}"
    return f"every day in {months}" if months else None


def _weekdays(weekdays: Sequence[int]) -> str:
    # Weekdays are listed from Monday to Sunday.
    numbers = sorted((day - 1) % 7 for day in weekdays)
    names = [_WEEKDAYS[(number + 1) % 7] for number in numbers]
    if len(names) > 2 and numbers[-1] - numbers[0] == len(names) - 1:
        return f"{names[0]} to {names[-1]}"
    return enumerated(names)


def _times(cron: CronExpression) -> str:
    if len(cron.minutes) * len(cron.hours) <= _MOST_TIMES:
        times = [f"{hour:02}:{minute:02}" for hour in cron.hours for minute in cron.minutes]
        return f"at {enumerated(times)}"
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
    shown = enumerated([str(minute) for minute in minutes])
    return f"every hour at minute{'' if len(minutes) == 1 else 's'} {shown}"


def _hours(hours: Sequence[int]) -> str:
    if hours[-1] - hours[0] == len(hours) - 1:
        return f"from {hours[0]:02}:00 to {hours[-1]:02}:59"
    return f"in the hours {enumerated([str(hour) for hour in hours])}"


def _is_even(numbers: Sequence[int], *, of: int) -> bool:
    """Whether the numbers divide 0 to `of` into equal steps."""
    return of % len(numbers) == 0 and tuple(numbers) == tuple(range(0, of, of // len(numbers)))


def _names(numbers: Sequence[int], names: Sequence[str], *, first: int) -> list[str]:
    return [names[number - first] for number in numbers]


_NO_PLACES = frozenset({"Factory", "localtime"})
"""Names in the time zone database that mean something else on every machine."""


def zone_of(name: str) -> ZoneInfo:
    """A time zone by its name in the IANA database, such as `Europe/Ljubljana`.

    Raises `InvalidInput` for unknown names; names are case-sensitive.
    """
    if name not in _zone_names():
        near = sorted(known for known in _zone_names() if known.lower() == name.lower())
        raise InvalidInput(
            f"there is no time zone {name[:80]!r}.",
            field="zone",
            hint=f"Write {near[0]}." if near else "Use a name such as Europe/Ljubljana or UTC.",
        )
    return ZoneInfo(name)


def zone_names() -> tuple[str, ...]:
    """All names that `zone_of` knows, sorted."""
    return tuple(sorted(_zone_names()))


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant, in UTC, of a naive wall time in a zone."""
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return instant if wall_of(instant, zone) == wall else _end_of_gap(wall, zone)


def wall_of(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the clocks of a zone show at an instant: naive, without the offset."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


ON_DEMAND = "(by hand)"
"""Ends the stored name of the time of an edition that no schedule planned."""


def due_text(fire_time: str) -> str:
    """The stored name of a due time, such as "2026-11-16T06:00 UTC", for people to read."""
    return fire_time.replace("T", " ", 1).replace(ON_DEMAND, "(on demand)")


def _end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant after the clock change that skipped `wall`, to the second."""
    # With the offset from before the change, the skipped time is after it; with the one from
    # after, before it.
    after = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    old_offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == old_offset:
            before = middle
        else:
            after = middle
    return after


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones() - _NO_PLACES)
