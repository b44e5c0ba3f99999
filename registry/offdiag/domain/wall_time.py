"""Local wall time and instants, and what happens when the clocks are changed.

Something planned for a wall time happens once on every day it is planned for:

* A time that the clocks show twice means its first occurrence.
* A time that the clocks skip means the first moment after the gap.

So instants never go backwards while wall times go forwards, and several skipped times mean
one and the same instant.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from offdiag.errors import InvalidInput

_NO_PLACES = frozenset({"Factory", "localtime"})
"""Names of the database that mean something else on every machine."""


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
    """The instant, in UTC, that a naive wall time means in a zone."""
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return instant if wall_of(instant, zone) == wall else _end_of_gap(wall, zone)


def wall_of(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the clocks of a zone show at an instant: naive, without a trace of the offset."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


def _end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """The first instant after a change of the clocks that skipped `wall`, to the second."""
    # Read with the offset from before the change the skipped time lies after it, and the
    # other way round.
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
