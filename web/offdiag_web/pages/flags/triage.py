"""Decisions about flags and problems: read from forms, applied, confirmed in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from functools import partial

from flask import flash

from offdiag.errors import InvalidInput, OffdiagError
from offdiag.flags.lifecycle import Action
from offdiag.flags.problem_words import problem_name
from offdiag.services.flags.triage import Seen, decide_flags, flags_concerned
from offdiag.store.database import Database
from offdiag.store.problems import FoundProblems
from offdiag_web.app.context import current_registry
from offdiag_web.app.errors import Failure, failure_of
from offdiag_web.app.last_visit import open_problems
from offdiag_web.app.preferences import require_user_name
from offdiag_web.components import numbers
from offdiag_web.components.flags import flag_name

_TOKEN = re.compile(r"([1-9]\d{0,17})\.(0|[1-9]\d{0,17})")
_PROBLEM = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?")

ACTIONS = tuple(Action)


@dataclass(frozen=True, slots=True)
class Typed:
    """What a reader typed, to be shown again after an error."""

    action: str = ""
    until: str = ""
    reason: str = ""
    assignee: str = ""
    comment: str = ""

    @classmethod
    def of_form(cls, values: Mapping[str, str]) -> Typed:
        """The fields that a form sent."""
        return cls(**{each.name: values.get(each.name, "") for each in fields(cls)})


@dataclass(frozen=True, slots=True)
class Refused:
    """What was wrong with a form, and what it contained; empty if nothing was refused."""

    failure: Failure | None = None
    selected: Collection[int] = ()
    typed: Typed = Typed()

    @classmethod
    def because(
        cls, error: OffdiagError, values: Mapping[str, str], *, selected: Collection[int] = ()
    ) -> Refused:
        """What to show after a decision that ended with an error."""
        return cls(failure_of(error), selected, Typed.of_form(values))


REST = timedelta(days=7)
"""How long a snooze lasts unless another date is given."""


def rest_days(now: datetime) -> dict[str, str]:
    """The default end of a snooze, and the earliest possible one."""
    return {
        "until": f"{now + REST:%Y-%m-%d}",
        "earliest": f"{now + timedelta(days=1):%Y-%m-%d}",
    }


@dataclass(frozen=True, slots=True)
class Decision:
    """What the author decides about flags, and the revisions they have seen.

    `named` is how the confirmation names the flags, `accepted` its word for acknowledged.
    """

    action: str
    ids: Sequence[int]
    seen: Seen
    typed: Mapping[str, str]
    author: str
    named: str
    accepted: str = "acknowledged"


def read_decision(
    action: str, tokens: Sequence[str], typed: Mapping[str, str], *, author: str
) -> Decision:
    """The decision in a form; tokens name flags with the revisions their reader has seen.

    Raises `InvalidInput` without flags, and for an unknown action.
    """
    if action not in ACTIONS:
        raise InvalidInput("no action was chosen.", field="action", hint="Use one of the buttons.")
    matches = [_TOKEN.fullmatch(token) for token in tokens]
    seen = {int(match[1]): int(match[2]) for match in matches if match is not None}
    if not seen or None in matches:
        raise InvalidInput("no flag is selected.", field="flag", hint="Select at least one flag.")
    named = numbers.listed([flag_name(number) for number in seen])
    return Decision(action, list(seen), seen, typed, author, named)


def carry_out(database: Database, decision: Decision) -> str:
    """Apply a decision, and return a confirmation.

    Raises `Conflict` if someone else changed a flag before, `InvalidInput` for invalid values.
    """
    action, named, typed = Action(decision.action), decision.named, decision.typed
    decide = partial(
        decide_flags,
        database,
        list(decision.ids),
        action,
        author=decision.author,
        seen=decision.seen,
    )
    match action:
        case Action.ACKNOWLEDGE:
            decide()
            return f"{named} {decision.accepted}."
        case Action.SNOOZE:
            until = _start_of(typed.get("until", ""))
            decide(until=until)
            return f"{named} snoozed until {until:%Y-%m-%d}."
        case Action.DISMISS:
            decide(reason=typed.get("reason", ""))
            return f"{named} dismissed."
        case Action.REOPEN:
            decide()
            return f"{named} reopened."
        case Action.ASSIGN:
            assignee = typed.get("assignee", "").strip() or None
            decide(assignee=assignee)
            return f"{named} assigned to {assignee or 'no one'}."
        case Action.COMMENT:
            decide(text=typed.get("comment", ""))
            return f"Comment added to {named}."


def _start_of(day: str) -> datetime:
    """The start of a day, in UTC."""
    if not day:
        raise InvalidInput("no day is given.", field="until", hint="Choose a day in the future.")
    try:
        return datetime.combine(date.fromisoformat(day), time(), UTC)
    except ValueError:
        raise InvalidInput(
            f"{day!r} is not a day.", field="until", hint="Write it as 2026-12-01."
        ) from None


def seen_problems(found: FoundProblems, numbers: Iterable[int]) -> str:
    """Problems as a form names them, with the revisions that its reader sees."""
    return ",".join(f"{number}.{found.revisions.get(number, 0)}" for number in numbers)


def named_problems(texts: Iterable[str]) -> dict[int, int | None]:
    """The problems that a form names, with the revisions that their reader has seen."""
    matches = (_PROBLEM.fullmatch(part) for text in texts for part in text.split(","))
    return {
        int(match[1]): None if match[2] is None else int(match[2])
        for match in matches
        if match is not None
    }


def decide_problems(action: str, some: Mapping[int, int | None], typed: Mapping[str, str]) -> None:
    """Apply a decision about problems, some with the revisions seen, and flash a confirmation.

    Raises `Conflict` for a closed problem and for one that was decided since it was shown,
    `InvalidInput` for invalid values.
    """
    registry, author = current_registry(), require_user_name()
    if action not in ACTIONS:
        raise InvalidInput("no action was chosen.", field="action", hint="Use one of the buttons.")
    if not some:
        raise InvalidInput(
            "no problem is selected.", field="problem", hint="Select at least one problem."
        )
    seen = {number: revision for number, revision in some.items() if revision is not None}
    concerned = flags_concerned(registry.database, list(some), action, seen=seen)
    named = numbers.listed([problem_name(number) for number in some])
    if not concerned:
        flash(f"{named}: nothing to change.")
        return
    done = carry_out(
        registry.database,
        Decision(action, list(concerned), concerned, typed, author, named, "accepted"),
    )
    can_undo = action in ("acknowledge", "snooze", "dismiss")
    flash(done, ",".join(map(str, some)) if can_undo else "message")
    open_problems().forget()
