"""Carrying out what somebody decided about flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from offdiag.errors import InvalidInput
from offdiag.records.flag import Action, Decision
from offdiag.services.flags import settling
from offdiag.store.database import Database
from offdiag_web.api.author import author

_TAKEN: Mapping[Action, str | None] = {
    Action.ACKNOWLEDGE: None,
    Action.SNOOZE: "until",
    Action.DISMISS: "reason",
    Action.REOPEN: None,
    Action.ASSIGN: "assignee",
    Action.COMMENT: "text",
}
"""The field that goes with each action."""


def carry_out(
    database: Database, decision: Decision, ids: Sequence[int], *, seen: Mapping[int, int]
) -> None:
    """Do what was decided about flags, of which some revisions were seen.

    Raises `InvalidInput` for a field that is missing or belongs to another action, and what
    the services raise.
    """
    _require_fitting(decision)
    who = author(decision.author)
    match decision.action:
        case Action.ACKNOWLEDGE:
            settling.acknowledge_flags(database, ids, author=who, seen=seen)
        case Action.REOPEN:
            settling.reopen_flags(database, ids, author=who, seen=seen)
        case Action.ASSIGN:
            settling.assign_flags(database, ids, assignee=decision.assignee, author=who, seen=seen)
        case Action.SNOOZE if decision.until is not None:
            settling.snooze_flags(database, ids, until=decision.until, author=who, seen=seen)
        case Action.DISMISS:
            settling.dismiss_flags(
                database, ids, reason=decision.reason or "", author=who, seen=seen
            )
        case Action.COMMENT:
            settling.comment_on_flags(database, ids, text=decision.text or "", author=who)


def _require_fitting(decision: Decision) -> None:
    taken = _TAKEN[decision.action]
    for field in ("until", "reason", "assignee", "text"):
        is_given = getattr(decision, field) is not None
        if is_given and field != taken:
            raise InvalidInput(
                f"nobody needs {field!r} to {decision.action.value}.",
                field=field,
                hint="Leave it out.",
            )
        if field == taken and not is_given and decision.action is not Action.ASSIGN:
            raise InvalidInput(
                f"to {decision.action.value}, {field!r} is needed.",
                field=field,
                hint="Send it with the decision.",
            )
