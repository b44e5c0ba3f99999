"""Triage of flags by people: one or many at once, all of them or none.

Each step is written to the history of its flag. A decision about a problem applies to all its
flags for which it makes sense.

A user who decides on a flag may pass the revision of it that was `seen`, by flag. If another user
or an evaluation has changed it since, `Stale` is raised and nothing is done: a decision is about
what its author saw. Without `seen`, the last decision wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType

from offdiag.domain.runs import require_name
from offdiag.domain.texts import require_reason
from offdiag.errors import Conflict, InvalidInput, NotFound, Stale
from offdiag.flags.lifecycle import (
    Action,
    FlagEventKind,
    FlagState,
    FlagStatus,
    Step,
    acknowledged,
    after_snooze,
    dismissed,
    reopened,
    snoozed,
)
from offdiag.flags.problem_words import problem_name
from offdiag.flags.problems import Problem, ProblemState
from offdiag.services.small_groups import suppressed_below
from offdiag.store import flags
from offdiag.store.audit_log import name_projects
from offdiag.store.comments import About, add_comments
from offdiag.store.database import Database, Session
from offdiag.store.flags import FlagEvent, FlagRecord
from offdiag.store.problems import find_problems
from offdiag.store.project_access import projects_of_flags


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A change of a flag: first the unrecorded end of a snooze, then the step itself."""

    flag: FlagRecord
    rest: Step
    step: Step

    @property
    def after(self) -> FlagStatus:
        return self.step.after

    @property
    def is_recorded(self) -> bool:
        """Whether the history has an entry for it."""
        return self.rest.kind is not None or self.step.kind is not None


def take(flag: FlagRecord, step: Callable[[FlagStatus], Step], now: datetime) -> TakenStep:
    """Apply a step to a flag in its current state."""
    rest = after_snooze(flag.status, now)
    return TakenStep(flag, rest, step(rest.after))


def events_of(steps: Iterable[TakenStep], *, author: str | None, now: datetime) -> list[FlagEvent]:
    """The entries for the histories; the end of a snooze has the time at which it ended."""
    events = []
    for taken in steps:
        events += end_of_snooze(taken.flag, now)
        events += events_of_step(taken.flag.id, taken.step, author=author, now=now)
    return events


def events_of_step(
    flag_id: int, step: Step, *, author: str | None, now: datetime
) -> list[FlagEvent]:
    """The history entry for one step, if it needs one."""
    return [] if step.kind is None else [FlagEvent(flag_id, now, author, step.kind, step.text)]


def end_of_snooze(flag: FlagRecord, now: datetime) -> list[FlagEvent]:
    """The entry for a snooze that is over but has not been recorded yet."""
    until = flag.status.snoozed_until
    if until is None:
        return []
    return events_of_step(flag.id, after_snooze(flag.status, now), author=None, now=until)


MOST_AT_ONCE = 20_000
"""All flags of a page full of problems; the databases accept no more in one statement."""

Seen = Mapping[int, int]
"""Revisions of flags or problems by number, as a user saw them."""


_TAKEN: Mapping[Action, str | None] = {
    Action.ACKNOWLEDGE: None,
    Action.SNOOZE: "until",
    Action.DISMISS: "reason",
    Action.REOPEN: None,
    Action.ASSIGN: "assignee",
    Action.COMMENT: "text",
}
"""The argument that each action requires."""


def decide_flags(
    database: Database,
    ids: Sequence[int],
    action: Action,
    *,
    author: str | None,
    seen: Seen | None = None,
    until: datetime | None = None,
    reason: str | None = None,
    assignee: str | None = None,
    text: str | None = None,
) -> list[FlagRecord]:
    """Apply a decision to flags: to all of them, or to none.

    Flags that are snoozed until a moment count as open again from then. A comment is only added to
    the history. Raises `InvalidInput` for an argument that is missing, unusable or belongs to
    another action, `NotFound`, and `Conflict` for a change of the state of closed flags.
    """
    _require_fitting(
        action, {"until": until, "reason": reason, "assignee": assignee, "text": text}
    )
    match action:
        case Action.ASSIGN:
            return _assign(database, ids, assignee, author=author, seen=seen)
        case Action.COMMENT:
            return _comment(database, ids, text, author=author)
        case Action.ACKNOWLEDGE:
            step: Callable[[FlagStatus], Step] = acknowledged
        case Action.REOPEN:
            step = reopened
        case Action.DISMISS:
            step = partial(dismissed, reason=require_reason(reason))
        case Action.SNOOZE:
            step = partial(snoozed, until=_to_come(database, until))
    return _triage(database, ids, step, author=author, seen=seen)


def _require_fitting(action: Action, given: Mapping[str, object]) -> None:
    taken = _TAKEN[action]
    for field, value in given.items():
        if value is not None and field != taken:
            raise InvalidInput(
                f"{field!r} is not used to {action.value}.", field=field, hint="Leave it out."
            )
        if field == taken and value is None and action is not Action.ASSIGN:
            raise InvalidInput(
                f"to {action.value}, {field!r} is needed.",
                field=field,
                hint="Send it with the decision.",
            )


def _to_come(database: Database, until: datetime | None) -> datetime:
    assert until is not None  # noqa: S101  # Checked above.
    if until.utcoffset() is None:
        raise InvalidInput(
            f"{until.isoformat()} has no time zone.",
            field="until",
            hint="Append one, such as +00:00.",
        )
    if until <= database.clock():
        raise InvalidInput(
            f"{until.astimezone(UTC):%Y-%m-%d %H:%M} UTC is over.",
            field="until",
            hint="Name a later time.",
        )
    return until


def _assign(
    database: Database,
    ids: Sequence[int],
    assignee: str | None,
    *,
    author: str | None,
    seen: Seen | None,
) -> list[FlagRecord]:
    if assignee is not None:
        require_name(assignee, "assignee")
    with database.write() as session:
        changed = [flag.id for flag in _found(session, ids) if flag.assignee != assignee]
        if changed:
            _require_unchanged(session, changed, seen)
            flags.assign_flags(session, changed, assignee)
            now, whom = database.clock(), assignee or "nobody"
            flags.insert_events(
                session,
                [FlagEvent(each, now, author, FlagEventKind.ASSIGNED, whom) for each in changed],
            )
        return flags.flags_by_id(session, ids)


def _comment(
    database: Database, ids: Sequence[int], text: str | None, *, author: str | None
) -> list[FlagRecord]:
    remark = require_reason(text, field="comment")
    with database.write() as session:
        found = _found(session, ids)
        about = [flag.id for flag in found]
        add_comments(session, About.FLAG, about, text=remark, author=author, now=database.clock())
        return found


def _triage(
    database: Database,
    ids: Sequence[int],
    step: Callable[[FlagStatus], Step],
    *,
    author: str | None,
    seen: Seen | None,
) -> list[FlagRecord]:
    with database.write() as session:
        found = _found(session, ids)
        closed = next((f for f in found if f.status.state is FlagState.CLOSED), None)
        if closed is not None:
            raise Conflict(
                f"flag {closed.id} is closed: its rule no longer raises it.",
                field="flag",
                hint="It reopens if the rule raises it again. Nothing was changed.",
            )
        now = database.clock()
        steps = [take(flag, step, now) for flag in found]
        # Repeating a decision that was already made contradicts no other decision.
        decided = [taken.flag.id for taken in steps if taken.step.kind is not None]
        _require_unchanged(session, decided, seen)
        changed = [taken for taken in steps if taken.is_recorded]
        flags.update_statuses(session, [(t.flag.id, t.after) for t in changed], now=now)
        flags.insert_events(session, events_of(changed, author=author, now=now))
        return flags.flags_by_id(session, ids)


def _found(session: Session, ids: Sequence[int]) -> list[FlagRecord]:
    if not ids or len(ids) > MOST_AT_ONCE:
        raise InvalidInput(
            f"{len(ids)} flags are named.",
            field="flag",
            hint=f"Name at least one and at most {MOST_AT_ONCE}.",
        )
    found = flags.flags_by_id(session, ids)
    if suppressed_below():  # Flags on slices are shown to no one.
        found = [flag for flag in found if flag.content.slice is None]
    missing = sorted(set(ids) - {flag.id for flag in found})
    if missing:
        raise NotFound(
            f"there is no flag {missing[0]}.",
            field="flag",
            hint="`offdiag flags list` shows the flags. Nothing was changed.",
        )
    name_projects(session, projects_of_flags(session, ids))
    return found


def _require_unchanged(session: Session, ids: Iterable[int], seen: Seen | None) -> None:
    """Compare revisions while the flags are locked, so that nothing changes in between."""
    known = {} if seen is None else {flag_id: seen[flag_id] for flag_id in ids if flag_id in seen}
    changes = flags.changes_since(session, known) if known else []
    _require_none([_told_of(f"flag {each.flag_id}", each, each.kind.value) for each in changes])


def _require_none(changes: Sequence[str]) -> None:
    if changes:
        raise Stale(
            f"{', '.join(changes)} in the meantime.",
            field="flag",
            hint="Look again, then decide. Nothing was changed.",
        )


def _told_of(what: str, change: FlagEvent, done: str) -> str:
    to_whom = f" to {change.text}" if change.kind is FlagEventKind.ASSIGNED else ""
    by_whom = f" by {change.author}" if change.author else ""
    return f"{what} was {done}{to_whom}{by_whom}"


MOST_PROBLEMS = 500
"""Most problems that one decision can be about."""

_UNRESOLVED = (FlagState.OPEN, FlagState.SNOOZED, FlagState.ACKNOWLEDGED)
_CONCERNED = MappingProxyType(
    {
        "acknowledge": (FlagState.OPEN, FlagState.SNOOZED),
        "snooze": _UNRESOLVED,
        "dismiss": _UNRESOLVED,
        "reopen": (FlagState.ACKNOWLEDGED, FlagState.SNOOZED, FlagState.DISMISSED),
        "assign": (*_UNRESOLVED, FlagState.DISMISSED),
        "comment": (*_UNRESOLVED, FlagState.DISMISSED),
    }
)
"""The states of flags to which an action applies."""


def flags_concerned(
    database: Database, numbers: Sequence[int], action: str, *, seen: Seen | None = None
) -> Seen:
    """The flags to which an action on problems applies; for a comment, one of each problem.

    They are returned with their revisions. `seen` are the revisions of the problems when they were
    shown: a later decision about one of them raises `Stale`, except for comments.

    Raises `NotFound`, `InvalidInput` for none or too many, and `Conflict` for a closed problem.
    """
    if not numbers or len(numbers) > MOST_PROBLEMS:
        raise InvalidInput(
            f"{len(numbers)} problems are named.",
            field="problem",
            hint=f"Name at least one and at most {MOST_PROBLEMS}.",
        )
    named = dict.fromkeys(numbers)
    with database.read() as session:
        found = find_problems(session, now=database.clock())
        known = {problem.number: problem for problem in found.problems if problem.number in named}
        changes = [
            _change_of(session, known[number], is_decided=found.revisions[number] > revision)
            for number, revision in (seen or {}).items()
            if number in known and action != "comment" and found.revisions[number] != revision
        ]
        revisions = flags.revisions(
            session, [flag.id for problem in known.values() for flag in problem.flags]
        )
    ids: list[int] = []
    for number in named:
        problem = known.get(number)
        if problem is None:
            raise NotFound(
                f"there is no problem {problem_name(number)}.",
                field="problem",
                hint="`offdiag problems` lists the problems. Nothing was changed.",
            )
        if problem.state is ProblemState.CLOSED:
            raise Conflict(
                f"problem {problem_name(number)} is closed: the newest runs no longer show it.",
                field="problem",
                hint="It is reopened when a run shows it again. Nothing was changed.",
            )
        concerned = [
            flag.id
            for flag in problem.flags
            if flag.status.state_at(problem.now) in _CONCERNED[action]
        ]
        ids += concerned[:1] if action == "comment" else concerned
    _require_none(changes)
    return {flag_id: revisions[flag_id] for flag_id in ids}


def _change_of(session: Session, problem: Problem, *, is_decided: bool) -> str:
    """What changed a problem: the last decision about it, unless its runs have changed."""
    what = f"problem {problem_name(problem.number)}"
    last = flags.last_decision(session, [flag.id for flag in problem.flags])
    if last is None or not is_decided:
        return f"{what} was changed"
    is_accepted = last.kind is FlagEventKind.ACKNOWLEDGED
    done = ProblemState.ACCEPTED.value if is_accepted else last.kind.value
    return f"{_told_of(what, last, done)} at {last.at:%Y-%m-%d %H:%M} UTC"
