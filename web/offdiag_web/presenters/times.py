"""Moments and durations in words, relative to a given now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Moment:
    """One point in time: for reading ("4 min ago"), in full (UTC), and for machines."""

    relative: str
    full: str
    machine: str


def moment(when: datetime, *, now: datetime) -> Moment:
    """Describe `when` as seen from `now`, both aware."""
    utc = when.astimezone(tz=now.tzinfo)
    return Moment(
        relative=_relative(now - when, when),
        full=f"{utc:%Y-%m-%d %H:%M:%S} UTC",
        machine=when.isoformat(),
    )


def _relative(age: timedelta, when: datetime) -> str:
    seconds = age.total_seconds()
    if seconds < 10:
        return "just now"
    if seconds > 30 * 86_400:
        return f"{when.day} {when:%b %Y}"
    return f"{spell(seconds)} ago"


def spell(seconds: float) -> str:
    """A duration in its largest unit: "12 s", "4 min", "3 h", "5 d"."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(max(seconds, 0))} s"


def spell_short(seconds: float) -> str:
    """How long something ran: "3 ms", "1.2 s", "2 min"."""
    if seconds < 0.9995:
        return f"{max(seconds * 1000, 0):.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else spell(seconds)


def ahead_text(seconds: float) -> str:
    """ "in 3 d", or that the time has come."""
    return f"in {spell(seconds)}" if seconds >= 1 else "due now"
