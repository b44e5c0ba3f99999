"""Flags: listed, read with their history, decided about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from offdiag.errors import InvalidInput
from offdiag.records.flag import (
    Action,
    Decided,
    Decision,
    Decisions,
    FlagPage,
    FlagsOfRun,
    FlagsQuery,
    FlagWithHistory,
    flag_document,
    flag_with_history,
)
from offdiag.services.flags import triage
from offdiag.services.flags.page import browse_flag, browse_flags, flags_of_run
from offdiag.services.flags.rules import RulesInForce, thresholds_in
from offdiag.store.database import Database
from offdiag.store.flag_inbox import FlagPlace
from offdiag.store.flags import FlagFilter
from offdiag_web.api.operations import (
    author,
    operation,
    read_token,
    require_match,
    resource,
    write_token,
)
from offdiag_web.app.context import current_registry

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
            triage.acknowledge_flags(database, ids, author=who, seen=seen)
        case Action.REOPEN:
            triage.reopen_flags(database, ids, author=who, seen=seen)
        case Action.ASSIGN:
            triage.assign_flags(database, ids, assignee=decision.assignee, author=who, seen=seen)
        case Action.SNOOZE if decision.until is not None:
            triage.snooze_flags(database, ids, until=decision.until, author=who, seen=seen)
        case Action.DISMISS:
            triage.dismiss_flags(
                database, ids, reason=decision.reason or "", author=who, seen=seen
            )
        case Action.COMMENT:
            triage.comment_on_flags(database, ids, text=decision.text or "", author=who)


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


blueprint = resource("flags")


@operation(blueprint, "GET", "/flags", answers=FlagPage)
def list_flags(query: FlagsQuery) -> FlagPage:
    """Read flags of all runs, the gravest first."""
    database = current_registry().database
    page = browse_flags(
        database, _filter(query), after=_place(read_token(query.page_token)), limit=query.limit
    )
    after = page.following
    return FlagPage(
        counts={state.value: count for state, count in page.counts.items()},
        flags=[flag_document(entry, database.clock()) for entry in page.entries],
        next_page_token=write_token(None if after is None else [after.rank, after.flag_id]),
    )


@operation(blueprint, "GET", "/runs/<run:run_id>/flags", answers=FlagsOfRun)
def list_flags_of_run(run_id: str) -> FlagsOfRun:
    """Read all flags of a run, closed ones too, the gravest first."""
    database = current_registry().database
    found = flags_of_run(database, run_id)
    return FlagsOfRun(
        run=run_id, flags=[flag_document(entry, database.clock()) for entry in found]
    )


@operation(blueprint, "GET", "/flags/<number:number>", answers=FlagWithHistory)
def get_flag(number: int) -> FlagWithHistory:
    """Read a flag with everything that happened to it."""
    registry = current_registry()
    detail = browse_flag(
        registry.database, number, RulesInForce(thresholds_in(registry.settings.flags))
    )
    return flag_with_history(detail, registry.database.clock())


@operation(
    blueprint,
    "POST",
    "/flags/<number:number>/decisions",
    answers=FlagWithHistory,
    is_guarded=True,
    is_repeatable=True,
)
def decide_flag(number: int, json: Decision) -> FlagWithHistory:
    """Acknowledge, snooze, dismiss, reopen, assign or comment on a flag.

    With `If-Match`, only while it is as its reader saw it.
    """
    seen = get_flag(number)
    is_seen = require_match(seen)
    carry_out(
        current_registry().database,
        json,
        [number],
        seen={number: seen.revision} if is_seen else {},
    )
    return get_flag(number)


@operation(blueprint, "POST", "/flags/decisions", answers=Decided, is_repeatable=True)
def decide_flags(json: Decisions) -> Decided:
    """Decide about several flags at once: about all of them, or about none.

    Where a revision is given, the flag must not have changed since.
    """
    database = current_registry().database
    ids = [flag.id for flag in json.flags]
    seen = {flag.id: flag.revision for flag in json.flags if flag.revision is not None}
    carry_out(database, json, ids, seen=seen)
    return Decided(flags=[get_flag(flag_id) for flag_id in ids])


def _filter(query: FlagsQuery) -> FlagFilter:
    return FlagFilter(
        state=query.state,
        at_least=query.at_least,
        rule=query.rule,
        class_label=query.class_label,
        run_id=query.run,
        dataset=query.dataset,
        model=query.model,
        project=query.project,
        assignee=query.assignee,
        in_badge=query.in_badge,
        may_hide=query.may_hide,
    )


def _place(token: list[Any] | None) -> FlagPlace | None:
    return None if token is None else FlagPlace(*token)
