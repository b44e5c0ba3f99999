"""What people do with flags: one or many at once, all of them or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from offdiag.domain.reasons import require_reason
from offdiag.domain.runs import require_name
from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.flags.lifecycle import (
    FlagEventKind,
    FlagState,
    Standing,
    Step,
    acknowledged,
    dismissed,
    reopened,
    snoozed,
)
from offdiag.services.flags.recording import events_of_steps
from offdiag.store import flags
from offdiag.store.database import Database
from offdiag.store.flags import FlagEvent, FlagRecord
from offdiag.store.session import Session

MOST_AT_ONCE = 1_000


def acknowledge_flags(
    database: Database, ids: Sequence[int], *, author: str | None
) -> list[FlagRecord]:
    """Note that somebody has seen flags. Raises `NotFound`, and `Conflict` for closed ones."""
    return _settle(database, ids, author, acknowledged)


def snooze_flags(
    database: Database, ids: Sequence[int], *, until: datetime, author: str | None
) -> list[FlagRecord]:
    """Put flags aside until a moment, from which on they count as open again.

    Raises `InvalidInput` for a moment without a time zone or in the past, and as above.
    """
    if until.utcoffset() is None:
        raise InvalidInput(
            f"{until.isoformat()} has no time zone.",
            field="until",
            hint="Append one, such as +00:00.",
        )
    if until <= database.clock():
        raise InvalidInput(
            f"{until.isoformat()} is over.", field="until", hint="Name a moment to come."
        )
    return _settle(database, ids, author, lambda standing: snoozed(standing, until))


def dismiss_flags(
    database: Database, ids: Sequence[int], *, reason: str, author: str | None
) -> list[FlagRecord]:
    """Note that flags do not matter, and why. Raises `InvalidInput` without a reason."""
    why = require_reason(reason)
    return _settle(database, ids, author, lambda standing: dismissed(standing, why))


def reopen_flags(
    database: Database, ids: Sequence[int], *, author: str | None
) -> list[FlagRecord]:
    """Take back what was settled. Raises `NotFound`, and `Conflict` for closed flags."""
    return _settle(database, ids, author, reopened)


def assign_flags(
    database: Database, ids: Sequence[int], *, assignee: str | None, author: str | None
) -> list[FlagRecord]:
    """Make somebody responsible for flags, or (None) nobody. Raises `NotFound`."""
    if assignee is not None:
        require_name(assignee, "assignee")
    with database.write() as session:
        found = _found(session, ids)
        changed = [flag.id for flag in found if flag.assignee != assignee]
        flags.assign_flags(session, changed, assignee)
        said = _remark(
            changed,
            FlagEventKind.ASSIGNED,
            assignee or "nobody",
            author=author,
            now=database.clock(),
        )
        flags.insert_events(session, said)
        return flags.flags_by_id(session, ids)


def comment_on_flags(
    database: Database, ids: Sequence[int], *, text: str, author: str | None
) -> list[FlagRecord]:
    """Add a remark to the history of flags. Raises `InvalidInput` for none, and `NotFound`."""
    remark = require_reason(text, field="comment")
    with database.write() as session:
        found = _found(session, ids)
        said = _remark(
            [flag.id for flag in found],
            FlagEventKind.COMMENTED,
            remark,
            author=author,
            now=database.clock(),
        )
        flags.insert_events(session, said)
        return found


def _settle(
    database: Database,
    ids: Sequence[int],
    author: str | None,
    step: Callable[[Standing], Step],
) -> list[FlagRecord]:
    with database.write() as session:
        found = _found(session, ids)
        closed = next((f for f in found if f.standing.state is FlagState.CLOSED), None)
        if closed is not None:
            raise Conflict(
                f"flag {closed.id} is closed: its rule no longer fires.",
                field="flag",
                hint="It opens by itself if the rule fires again. Nothing was changed.",
            )
        now = database.clock()
        steps = [(flag.id, step(flag.standing)) for flag in found]
        changed = [(flag_id, taken) for flag_id, taken in steps if taken.kind is not None]
        flags.update_standings(session, [(id_, taken.after) for id_, taken in changed], now=now)
        flags.insert_events(session, events_of_steps(changed, author=author, now=now))
        return flags.flags_by_id(session, ids)


def _found(session: Session, ids: Sequence[int]) -> list[FlagRecord]:
    if not ids or len(ids) > MOST_AT_ONCE:
        raise InvalidInput(
            f"{len(ids)} flags are named.",
            field="flag",
            hint=f"Name at least one and at most {MOST_AT_ONCE}.",
        )
    found = flags.flags_by_id(session, ids)
    missing = sorted(set(ids) - {flag.id for flag in found})
    if missing:
        raise NotFound(
            f"there is no flag {missing[0]}.",
            field="flag",
            hint="`offdiag flags list` shows the flags. Nothing was changed.",
        )
    return found


def _remark(
    ids: Sequence[int], kind: FlagEventKind, text: str, *, author: str | None, now: datetime
) -> list[FlagEvent]:
    return [FlagEvent(flag_id, now, author, kind, text) for flag_id in ids]
