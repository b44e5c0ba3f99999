"""What happened to a flag and what people said about it, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from offdiag.flags.lifecycle import FlagEventKind
from offdiag.store.flags import FlagEvent
from offdiag_web.presenters.flags.words import day
from offdiag_web.presenters.times import Moment, moment

_BY_PEOPLE = {
    FlagEventKind.ACKNOWLEDGED: "acknowledged it",
    FlagEventKind.SNOOZED: "put it aside",
    FlagEventKind.DISMISSED: "dismissed it",
    FlagEventKind.REOPENED: "opened it again",
    FlagEventKind.ASSIGNED: "assigned it to",
    FlagEventKind.COMMENTED: "wrote",
}
_BY_ITSELF = {
    FlagEventKind.OPENED: "opened by an evaluation",
    FlagEventKind.CLOSED: "closed: the rule no longer fires",
    FlagEventKind.REOPENED: "open again",
    FlagEventKind.UPDATED: "another evaluation",
}
_QUOTED = frozenset({FlagEventKind.DISMISSED, FlagEventKind.COMMENTED})
"""What people said in their own words, line by line."""


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One entry. `who` is None where an evaluation or time did it; `quote` is plain text."""

    at: Moment
    who: str | None
    what: str
    quote: str | None


def history_lines(events: Sequence[FlagEvent], *, now: datetime) -> tuple[HistoryLine, ...]:
    """The history, oldest first as a discussion reads."""
    return tuple(_line(event, now) for event in events)


def _line(event: FlagEvent, now: datetime) -> HistoryLine:
    at = moment(event.at, now=now)
    if event.author is None and event.kind in _BY_ITSELF:
        why = f": {event.text}" if event.text else ""
        return HistoryLine(at, None, f"{_BY_ITSELF[event.kind]}{why}", None)
    what = _BY_PEOPLE.get(event.kind, event.kind.value)
    quote = event.text if event.kind in _QUOTED else None
    if quote is None and event.text:
        what = f"{what} {_readable(event)}"
    return HistoryLine(at, event.author or "somebody", what, quote)


def _readable(event: FlagEvent) -> str:
    """The text of an entry; the end of a rest is kept for machines."""
    text = event.text or ""
    if event.kind is not FlagEventKind.SNOOZED:
        return text
    try:
        until = datetime.fromisoformat(text.removeprefix("until "))
    except ValueError:
        return text
    return f"until {day(until)}"
