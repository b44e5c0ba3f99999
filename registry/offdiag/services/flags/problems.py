"""Decisions about problems: each applies to all flags of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from offdiag.errors import Conflict, InvalidInput, NotFound
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.problem_words import problem_name
from offdiag.flags.problems import ProblemState
from offdiag.store.database import Database
from offdiag.store.problems import find_problems

MOST_AT_ONCE = 500
"""Problems that one decision can be about."""

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
"""States of the flags that an action applies to."""


def flags_concerned(database: Database, numbers: Sequence[int], action: str) -> list[int]:
    """Flags that an action on problems applies to; a comment goes to one flag of each problem.

    Raises `NotFound`, `InvalidInput` for none or too many, and `Conflict` for a closed one.
    """
    if not numbers or len(numbers) > MOST_AT_ONCE:
        raise InvalidInput(
            f"{len(numbers)} problems are named.",
            field="problem",
            hint=f"Name at least one and at most {MOST_AT_ONCE}.",
        )
    with database.read() as session:
        known = {p.number: p for p in find_problems(session, now=database.clock()).problems}
    ids: list[int] = []
    for number in dict.fromkeys(numbers):
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
    return ids
